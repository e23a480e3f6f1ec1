"""Which template or library function torch chose for a matmul, a convolution and so on, and from which.

With `max_autotune` it benchmarks them during lowering, or, for those that can be fused with their neighbours, when the
scheduler has decided about that. Its choice is recognised by what it then uses.
"""

import math
import threading
import weakref
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.codegen.autotuning.choices import Option, buffer_of, said
from inspect_compile.codegen.autotuning.questions import (
    OPTIONS,
    Question,
    failed_with,
    is_real,
    question_of,
    tell,
    timed,
)
from inspect_compile.facts import Choice, Chosen
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import autotuning as names
from inspect_compile.torch_compat import inductor as inductor_names

PROBE = "codegen.templates"
PIPELINED = "codegen.pipelined"


class _Open(threading.local):
    """State of this thread."""

    error = ""
    """The last error from a worker process."""
    extern: tuple[int, Question, Option] | None = None
    """The node (by identity) that a library function created last."""
    swapped: tuple[weakref.ref[Any], weakref.ref[Any]] | None = None
    """A buffer with several choices, and the one that it currently stands for."""
    late = 0
    """Positive when the scheduler has done all fusions."""


_OPEN = _Open()


def install(probes: Probes) -> None:
    """Hook the selection among templates."""

    def asked(cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Question | None:
        name, choices, inputs = (
            args[place] if len(args) > place else kwargs[word]
            for place, word in enumerate(("name", "choices", "input_nodes"))
        )
        scope = SCOPES.here()
        return Question(scope, str(name), choices, inputs) if scope is not None and len(choices) > 1 else None

    def answered(question: Question | None, cache: Any, args: Any, kwargs: Any, result: Any) -> None:
        if question is None:
            return
        node, choice = result if isinstance(result, tuple) else (result, None)
        made = buffer_of(node)
        question.operation = str(getattr(made, "operation_name", None) or "")
        if type(made).__name__ == inductor_names.MULTI_TEMPLATE:
            return  # the scheduler decides, and asks for the times
        option = (
            OPTIONS[choice][1] if choice in OPTIONS else _fastest(question) if choice is None and is_real() else None
        )
        tell(probes, question)
        if option is not None:
            by = "rule" if option.milliseconds is None else "time"
            probes.sink.add(Chosen(graph=question.scope.graph, tuning=question.number, label=option.label, by=by))

    def not_answered(question: Question | None, cache: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        if question is not None and not question.is_told:
            tell(probes, question)

    def tuned(cache: Any, args: Any, kwargs: Any) -> float:
        return AtStart.perf_counter()

    def finished(start: float, cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        question = question_of(argument(args, kwargs, 5, "choices"))
        if question is None:
            return
        if question.seconds is None:
            question.seconds = round(AtStart.perf_counter() - start, 6)
        timed(result or {}, is_measured=False)
        if question.operation and result and not question.is_told:
            tell(probes, question)

    def not_finished(start: float, cache: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        finished(start, cache, args, kwargs, {})

    def measured(state: Any, cache: Any, args: Any, kwargs: Any, result: Any) -> None:
        timed(result, is_measured=True)

    def failed(state: Any, cache: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException) -> None:
        failed_with(argument(args, kwargs, 0, "choice"), error)

    def not_compiled(module: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        for choice, error in args[0]:
            failed_with(choice, error)

    def made(state: Any, choice: Any, args: Any, kwargs: Any, result: Any) -> None:
        if choice in OPTIONS:
            _OPEN.extern = (id(buffer_of(result)), *OPTIONS[choice])

    probes.wrap(PROBE, names.SELECT, before=asked, after=answered, failed=not_answered)
    probes.wrap(PROBE, names.TUNE, before=tuned, after=finished, failed=not_finished)
    probes.wrap(PROBE, names.MEASURE, after=measured)
    probes.wrap(PROBE, names.MEASURE_ONE, failed=failed)
    probes.wrap(PROBE, names.NOT_COMPILED, before=not_compiled)
    probes.wrap(PROBE, names.EXTERN_NODE, after=made)


def install_workers(probes: Probes) -> None:
    """Hook the processes in which torch benchmarks."""

    def failed(state: Any, worker: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        _OPEN.error = said(error)

    def asked(pool: Any, args: Any, kwargs: Any) -> None:
        _OPEN.error = ""

    def answered(state: Any, pool: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        why, _OPEN.error = _OPEN.error, ""
        choice = argument(args, kwargs, 0, "choice")
        if choice in OPTIONS:
            OPTIONS[choice][0].in_worker = True
        if why:
            failed_with(choice, why)

    probes.wrap(PROBE, names.WORKER_ANSWER, failed=failed)
    probes.wrap(PROBE, names.WORKER_MEASURE, before=asked, after=answered)


def install_pipelined(probes: Probes) -> None:
    """Hook what torch benchmarks while the compile continues (`pipeline_max_autotune_gemm`)."""

    def started(autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        choices, inputs = arguments(args, kwargs)
        for choice in choices:
            if choice in OPTIONS and autotuner.get_choice_hash(choice, inputs) not in autotuner.choice_hash_to_future:
                OPTIONS[choice][1].is_measured = True  # others were timed for an earlier graph

    def waiting(autotuner: Any, args: Any, kwargs: Any) -> float:
        return AtStart.perf_counter()

    def answered(start: float, autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        question = question_of(arguments(args, kwargs)[0])
        if question is None or question.is_told:
            return
        question.in_worker = True
        question.seconds = round(AtStart.perf_counter() - start, 6)
        timed(result, is_measured=False)
        tell(probes, question)

    def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        return argument(args, kwargs, 0, "choices"), argument(args, kwargs, 1, "inputs_key")

    probes.wrap(PIPELINED, names.PIPELINE_START, before=started)
    probes.wrap(PIPELINED, names.PIPELINE_RESULTS, before=waiting, after=answered)


def install_buffers(probes: Probes) -> None:
    """Hook the buffers that have several choices while the scheduler runs."""

    def swapped(buffer: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        _OPEN.swapped = (weakref.ref(buffer), weakref.ref(argument(args, kwargs, 0, "caller")))

    def finished(buffer: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        _chosen(probes, argument(args, kwargs, 0, "caller"))

    def finished_all(buffer: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        _chosen(probes, argument(args, kwargs, 0, "callers")[None])

    probes.wrap(PROBE, names.SWAP, before=swapped)
    probes.wrap(PROBE, names.FINISH, before=finished)
    probes.wrap(PROBE, names.FINISH_ALL, before=finished_all)


def install_scheduler(probes: Probes) -> None:
    """Hook the scheduler, which fuses what is faster fused, and takes the fastest choice otherwise."""

    def begun(scheduler: Any, args: Any, kwargs: Any) -> None:
        _OPEN.late += 1

    def ended(state: Any, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        _OPEN.late -= 1

    def measured(state: Any, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        buffer, choice = (reference() for reference in _OPEN.swapped or (lambda: None, lambda: None))
        if buffer is None or choice is None or choice not in OPTIONS:
            return
        if buffer.make_kernel_render is not choice.make_kernel_render or not is_real():
            return  # it no longer stands for that choice
        question, option = OPTIONS[choice]
        milliseconds = float(result[0])
        probes.sink.add(
            Choice(
                graph=question.scope.graph,
                tuning=question.number,
                label=option.label,
                kind=option.kind,
                step="fused",
                config=option.config,
                milliseconds=milliseconds if math.isfinite(milliseconds) else None,
                why="" if math.isfinite(milliseconds) else "torch gives no reason",
            )
        )

    def replaced(module: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        made, found = argument(args, kwargs, 1, "new_node"), _OPEN.extern
        if found is not None and found[0] == id(made):
            _emit(probes, found[1], found[2])

    probes.wrap(PROBE, names.FINISH_REST, before=begun, after=ended, failed=ended)
    probes.wrap(PROBE, inductor_names.BENCHMARK, after=measured)
    probes.wrap(PROBE, names.REPLACE, before=replaced)


def _fastest(question: Question) -> Option | None:
    """What torch 2.11, which does not say, takes: the first of the fastest; if none has a time, the first library
    function.
    """
    timed = [option for option in question.options if option.milliseconds is not None]
    if timed:
        return min(timed, key=lambda option: option.milliseconds or 0.0)
    return next((option for option in question.options if option.kind == "extern"), question.options[0])


def _chosen(probes: Probes, choice: Any) -> None:
    if choice in OPTIONS:
        _emit(probes, *OPTIONS[choice])


def _emit(probes: Probes, question: Question, option: Option) -> None:
    by = "rule" if not is_real() else "scheduler" if _OPEN.late else "fusion"
    probes.sink.add(Chosen(graph=question.scope.graph, tuning=question.number, label=option.label, by=by))
