"""Which function calls which between Dynamo and the code that runs: the graph that went in, and the callable that came
out.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.facts import Call
from inspect_compile.lowering.core.callables import callable_text, graph_text, named, number_of, options_text
from inspect_compile.lowering.core.running_calls import NUMBERS, RUNNING
from inspect_compile.lowering.core.scopes import SCOPES, compile_id, torch_object
from inspect_compile.lowering.core.values import place
from inspect_compile.probe import Probes, argument, plain_of
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import call_path as names
from inspect_compile.torch_compat import dynamo as dynamo_names
from inspect_compile.torch_compat import inductor as inductor_names
from inspect_compile.torch_compat import targets as target_names

PROBE = "lowering.call_path"

_CALLS_INDUCTOR: Final = ("inference", "forward", "backward", "inner")
"""Stages of one of Inductor's graphs, which may not have a name yet."""

_INDUCTOR: Final = "_TorchCompileInductorWrapper"
_REGISTERED: Final = "_TorchCompileWrapper"
"""torch's wrapper classes for a backend: Inductor with options, and any other."""


@dataclass
class _Row:
    """A Call while it is being recorded: plain values."""

    index: int
    parent: int | None
    stage: str
    function: str
    defined: str
    received: str
    began: float
    compile_id: str
    graph: str | None = None
    note: str = ""


Told = Callable[[Any, tuple[Any, ...], dict[str, Any]], str]
"""(instance, args, kwargs) → text for the input."""
Came = Callable[[Any, Any], str]
"""(instance, result) → text for the output."""


@functools.cache
def _defined(name: Name) -> tuple[str, str]:
    function, _, where = place(torch_object(name)).partition(" ")
    return function, where


def _begin(stage: str, function: str, defined: str, received: str) -> _Row:
    rows = RUNNING.rows
    if stage == "backend":
        rows.clear()  # left over from a compile whose end was not seen
    parent = rows[-1].index if rows else None
    row = _Row(
        next(NUMBERS), parent, stage, function, defined, received, AtStart.perf_counter(), compile_id() or "", _graph()
    )
    rows.append(row)
    return row


def _graph() -> str | None:
    """Name of the graph being compiled, if Inductor has named it."""
    virtualized = torch_object(inductor_names.VIRTUALIZED)
    scope = SCOPES.here() or (SCOPES.of_context(virtualized.debug) if virtualized is not None else None)
    return None if scope is None else scope.graph


def _end(probes: Probes, row: _Row, returned: str, error: BaseException | None = None) -> None:
    rows = RUNNING.rows
    if row in rows:
        del rows[rows.index(row) :]
    if row.graph is None:
        row.graph = _graph()
    if rows and rows[-1].graph is None and rows[-1].stage in _CALLS_INDUCTOR:
        rows[-1].graph = row.graph
    same = ("index", "parent", "stage", "function", "defined", "received", "note")
    probes.sink.add(
        Call(
            **{name: getattr(row, name) for name in same},
            graph=row.compile_id,
            returned=returned,
            inductor_graph=row.graph,
            seconds=round(AtStart.perf_counter() - row.began, 6),
            error=None if error is None else f"{type(error).__name__}: {str(error)[:300]}",
        )
    )
    probes.sink.flush()  # a C++ compile may follow, during which nothing else is written


def _watch(
    probes: Probes, name: Name, stage: str, received: Told, returned: Came, *, inside: tuple[str, ...] = ()
) -> None:
    """Hook `name` as a call of `stage`; with `inside`, only if it is called directly by one of these stages."""

    def begun(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Row | None:
        if inside and not (RUNNING.rows and RUNNING.rows[-1].stage in inside):
            return None
        chosen = "inference" if stage == "forward" and kwargs.get("is_inference") is True else stage
        return _begin(chosen, *_defined(name), received(instance, args, kwargs))

    _hook(probes, name, begun, returned)


def _hook(probes: Probes, name: Name, begun: Callable[..., _Row | None], returned: Came) -> None:
    """Hook `name`; `begun(instance, args, kwargs)` makes its row, or returns None to ignore the call."""

    def after(row: _Row | None, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if row is not None:
            _end(probes, row, returned(instance, result))

    def failed(row: _Row | None, instance: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        if row is not None:
            _end(probes, row, "", error)

    probes.wrap(PROBE, name, before=begun, after=after, failed=failed)


def _of_module(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The input of functions whose first arguments are a GraphModule and its example inputs."""
    module, inputs = (*args, *kwargs.values(), None, None)[:2]
    return graph_text(module, inputs)


def _of_result(instance: Any, result: Any) -> str:
    """The callable, or the graph with its callable."""
    inner = _called(result) if type(result).__module__.startswith("torch.") else None
    return callable_text(result) if inner is None else f"{type(result).__qualname__} of {callable_text(inner)}"


def _called(compiled: Any) -> Any:
    """What the calls of a compiled graph run; None for anything else."""
    return plain_of(getattr(compiled, names.CALLED, None))


def install_backend(probes: Probes) -> None:
    """Hook Dynamo's call of the backend, whatever backend that is."""

    def begun(output: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Row:
        name, defined, note = _backend(output.compiler_fn)
        row = _begin("backend", name, defined, _of_module(output, args, kwargs))
        row.note = note
        return row

    _hook(probes, dynamo_names.USER_COMPILER, begun, _of_result)


def _backend(function: Any) -> tuple[str, str, str]:
    """(name, place of definition, options) of the backend given to torch.compile."""
    while "_torchdynamo_orig_backend" in getattr(function, "__dict__", {}):
        function = vars(function)["_torchdynamo_orig_backend"]
    kind = type(function)
    if kind.__module__ == "torch" and kind.__qualname__ == _INDUCTOR:
        return "inductor", named(function)[1], options_text(function.config)
    if kind.__module__ == "torch" and kind.__qualname__ == _REGISTERED:
        name, defined = named(function.compiler_fn)
        registered = defined.startswith("torch/")
        return function.compiler_name if registered else name, defined, options_text(function.kwargs)
    return *named(function), ""


def install_aot(probes: Probes) -> None:
    """Hook AOTAutograd, for every backend that uses it."""

    def begun(backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Row:
        row = _begin("aot_autograd", *_defined(names.AOT_AUTOGRAD), _of_module(backend, args, kwargs))
        row.function = "aot_autograd"
        given = {name: backend.kwargs.get(f"{name}_compiler") for name in ("fw", "bw", "inference")}
        if not any(type(value).__name__ == "SerializableAOTDispatchCompiler" for value in given.values()):
            row.note = ", ".join(f"{name} compiler {callable_text(value)}" for name, value in given.items() if value)
        return row

    _hook(probes, names.AOT_AUTOGRAD, begun, _of_result)


def install_trace(probes: Probes) -> None:
    """Hook AOTAutograd's tracing; patterns are traced with it too, inside other calls."""

    def received(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        state = argument(args, kwargs, 0, "aot_state")
        return "forward and backward as one" if getattr(state, "needs_autograd", False) else "no gradients needed"

    def returned(instance: Any, result: Any) -> str:
        return graph_text(getattr(result, "graph_module", None))

    _watch(probes, names.AOT_TRACE, "joint", received, returned, inside=("aot_autograd", "compile_fx"))


def install_inductor(probes: Probes) -> None:
    """Hook the functions of compile_fx."""

    def cut(instance: Any, result: Any) -> str:
        forward, backward = result
        return f"forward: {graph_text(forward)}; backward: {graph_text(backward)}"

    def callable_in(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        return callable_text(argument(args, kwargs, 0, "model"))

    _watch(probes, target_names.COMPILE_FX, "compile_fx", _of_module, _of_result)
    _watch(probes, names.PARTITION, "partition", _of_module, cut)
    _watch(probes, names.FORWARD, "forward", _of_module, _of_result)
    _watch(probes, names.FREEZING, "inference", _of_module, _of_result)
    _watch(probes, names.BACKWARD, "backward", _of_module, _of_result)
    _watch(probes, names.INNER, "inner", _of_module, _of_result)
    _watch(probes, names.CUDAGRAPHIFY, "cudagraphs", callable_in, _of_result)


def install_graph(probes: Probes) -> None:
    """Hook the stages of a GraphLowering."""

    def module(graph: Any, args: Any, kwargs: Any) -> str:
        return graph_text(graph.module, args)

    def operations(graph: Any, args: Any, kwargs: Any) -> str:
        return f"GraphLowering, {number_of(len(graph.operations), 'operation')}"

    def ir(graph: Any, result: Any) -> str:
        return (
            f"GraphLowering, {number_of(len(graph.operations), 'operation')}, {number_of(len(graph.buffers), 'buffer')}"
        )

    def scheduled(graph: Any, result: Any) -> str:
        return f"Scheduler, {number_of(len(graph.scheduler.nodes), 'node')}"

    def code(graph: Any, result: Any) -> str:
        wrapper = result[0] if type(result) is tuple else result
        text = getattr(wrapper, "value", None)
        return f"{text.count(chr(10)) + 1} lines of code" if type(text) is str else type(wrapper).__qualname__

    def loaded(graph: Any, result: Any) -> str:
        return callable_text(getattr(result, "call", None))

    _watch(probes, inductor_names.GRAPH_RUN, "lowering", module, ir)
    _watch(probes, names.LOAD, "load", operations, loaded)
    _watch(probes, names.CODEGEN, "codegen", operations, code)
    _watch(probes, names.SCHEDULE, "scheduler", operations, scheduled)


def install_wrapper(probes: Probes) -> None:
    """Hook what is wrapped around the generated code."""

    def before(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_Row, bool] | None:
        if RUNNING.is_loading:
            return None
        given = argument(args, kwargs, 2, "graph_kwargs") or {}
        received = callable_text(_called(compiled))
        row = _begin("wrapper", *_defined(names.POST_COMPILE), received)
        return row, bool(given.get("cudagraphs"))

    def after(
        state: tuple[_Row, bool] | None, compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        if state is None:
            return
        row, was_on = state
        given = argument(args, kwargs, 2, "graph_kwargs") or {}
        row.note = _cudagraphs(compiled, was_on, bool(given.get("cudagraphs")))
        _end(probes, row, callable_text(_called(compiled)))

    def failed(state: tuple[_Row, bool] | None, compiled: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        if state is not None:
            _end(probes, state[0], "", error)

    probes.wrap(PROBE, names.POST_COMPILE, before=before, after=after, failed=failed)


def _cudagraphs(compiled: Any, was_on: bool, is_on: bool) -> str:
    """Whether CUDA graphs wrap the code, and why not."""
    if is_on:
        return "cudagraphs on"
    if torch_object(names.CUDAGRAPHS_SETTING) is not True:
        return "cudagraphs off: not requested (torch._inductor.config.triton.cudagraphs is False)"
    information = getattr(compiled, "cudagraph_info", None)
    reasons = [str(reason) for reason in getattr(information, "cudagraph_fail_reasons", None) or ()]
    reason = str(getattr(compiled, "disabled_cudagraphs_reason", None) or "; ".join(reasons))
    reason = reason.removeprefix("skipping cudagraphs due to ").strip().rstrip(":")
    if not reason and not was_on:
        reason = "the forward graph of the same compile turned them off"
    return f"cudagraphs off: {(reason or 'no part of the graph can be captured')[:1000]}"
