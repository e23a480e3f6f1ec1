"""Watches CUDA graphs while the program runs: which graph's function is warmed up, recorded, replayed or recorded
again.

A replay only increments a counter. Rows are written at every other event, when the number of a recording's replays has
doubled, and at the end.
"""

import re
import sys
import types
import weakref
from typing import Any, cast

import msgspec

from inspect_compile.at_start import AtStart
from inspect_compile.facts import CudaGraph, Recording, Remark
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.compile_names import NAMES
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.lowering.runtime.cudagraph_account import RUNS, Function, Recorded
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import call_path as call_names
from inspect_compile.torch_compat import frames
from inspect_compile.torch_compat import inductor as inductor_names
from inspect_compile.torch_compat import runtime as names

PROBE = "lowering.cudagraph_runs"

_KNOB = "torch._inductor.config.triton.cudagraph_dynamic_shape_warn_limit"
_CHANGED = re.compile(
    r"input name: (\S+?)\. (?:(?!input name: ).)*?input stack trace: (.*?)(?=\ninput name: |\Z)", re.DOTALL
)
"""A line in torch's explanation of what had changed; the addresses in it differ between runs."""


def install_owners(probes: Probes) -> None:
    """Hook the object that wraps a graph's code, and what puts it into CUDA graphs."""
    probes.accounts.append(RUNS)

    def compiled(state: Any, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scope = SCOPES.of(argument(args, kwargs, 1, "graph"))
        if scope is not None:
            RUNS.owners[made] = scope.graph

    def wrapping(made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        RUNS.thread.graph = RUNS.owners.get(made)
        RUNS.thread.partitions = 0

    def wrapped(state: Any, made: Any, args: Any, kwargs: Any, result: Any) -> None:
        RUNS.thread.graph = None

    probes.wrap(PROBE, inductor_names.COMPILED_GRAPH, after=compiled)
    probes.wrap(PROBE, call_names.POST_COMPILE, before=wrapping, after=wrapped, failed=wrapped)


def install_handed_over(probes: Probes) -> None:
    """Hook the handing over of a callable: the list of stack traces passed with it is found again in the trees."""

    def handed(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        traces = kwargs.get("stack_traces")
        if RUNS.thread.graph is None or traces is None:
            return
        RUNS.handed[id(traces)] = traces, RUNS.thread.graph, RUNS.thread.partitions
        model = argument(args, kwargs, 0, "model")
        RUNS.models[id(model)] = weakref.ref(model), RUNS.thread.graph, RUNS.thread.partitions
        RUNS.thread.partitions += 1

    probes.wrap(PROBE, call_names.CUDAGRAPHIFY, before=handed)


def install_trees(probes: Probes) -> None:
    """Hook torch's cudagraph trees."""

    def warming_up(manager: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        function = _function(manager, argument(args, kwargs, 1, "function_id"), argument(args, kwargs, 0, "new_inputs"))
        function.warmups += 1
        probes.sink.add(function.fact())

    def recording(manager: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Function, Recording, float]:
        identity = argument(args, kwargs, 1, "function_id")
        function = _function(manager, identity, argument(args, kwargs, 0, "new_inputs"))
        parent = manager._current_node
        after = None if parent is None else int(parent.id.id)
        why, inputs, where = "first", cast(tuple[str, ...], ()), None
        unfit = _unfit()
        if unfit is not None:
            why, inputs, where = _words(*unfit)
        elif function.recordings:
            why = "another path"
        row = Recording(node=-1, after=after, why=why, inputs=inputs, where=where)
        return function, row, AtStart.perf_counter()

    def recorded(
        state: tuple[Function, Recording, float],
        manager: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
    ) -> None:
        function, row, began = state
        node = manager._current_node
        row = msgspec.structs.replace(row, node=int(node.id.id), seconds=round(AtStart.perf_counter() - began, 6))
        if len(function.recordings).bit_count() < 2:
            size = _pool_bytes(manager.cuda_graphs_thread_pool)
            function.row = msgspec.structs.replace(function.row, pool_bytes=size)
        _add(function, row, node.graph)
        probes.sink.add(function.fact())
        if row.why not in ("first", "another path"):
            _remark_again(probes, function, row)

    def sized(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], warned: Any) -> None:
        if warned:
            number = len(argument(args, kwargs, 0, "fn_cache")) + 1
            message = f"CUDA graphs are recorded for each set of sizes, and there are {number} of them"
            probes.sink.add(Remark(kind="missed", code="cudagraph-sizes", message=message, knob=_KNOB))

    def replaying(graph: Any) -> None:
        found = RUNS.recorded.get(id(graph))
        if found is not None:
            found.replays += 1
            if found.replays >= found.write_at:
                found.write_at = 2 * found.replays
                probes.sink.add(found.owner.fact())

    probes.wrap(PROBE, names.WARM_UP, before=warming_up)
    probes.wrap(PROBE, names.RECORD, before=recording, after=recorded)
    probes.wrap(PROBE, names.SIZES, after=sized)
    probes.count(PROBE, names.REPLAY, replaying)


def _unfit() -> tuple[Any, Any] | None:
    """torch's status of the last recording that did not fit this call, and the function that explains it; None if there
    is none.

    They are locals of the frame that decided to record again; reading them there costs replays nothing.
    """
    found = next(values.frames_of(frames.DECIDES), {})
    status, words = (found.get(name) for name in frames.DECIDES.variables)
    return None if status is None or words is None else (status, words)


def _words(status: Any, words: Any) -> tuple[str, tuple[str, ...], str | None]:
    """torch's reason, the inputs that it names, and the source line of the first input that has one."""
    found = _CHANGED.findall(str(words()))
    lines = [where for _, stack in found if (where := CALL_SITES.traced_line(stack)) is not None]
    return str(status), tuple(name for name, _ in found), values.line_text(lines[0]) if lines else None


def _function(manager: Any, identity: Any, inputs: Any) -> Function:
    """The function with that id in the trees; `inputs` are those of a call."""
    known = RUNS.managed.setdefault(manager, {})
    function = known.get(identity.id)
    if function is None:
        traces = manager.ids_to_stack_traces.get(identity)
        handed = RUNS.handed.get(id(traces))
        graph, partition = (handed[1], handed[2]) if handed is not None and handed[0] is traces else ("", None)
        compile_id = manager.id_to_compile_id.get(identity)
        is_backend = not graph and compile_id is None and names.BACKEND in sys.modules
        function = known[identity.id] = _made(
            CudaGraph(
                graph=graph,
                number=len(RUNS.functions),
                driver="cudagraphs backend" if is_backend else "cudagraph trees",
                device=int(manager.device_index),
                function=int(identity.id),
                compile_id=None if compile_id is None else NAMES.name(compile_id),
                mode=manager.id_to_mode[identity].name.lower(),
                partition=partition,
                sizes=tuple(int(size) for size in inputs if type(size) is int),
            )
        )
    return function


def skipped_in(reason: str, where: str | None) -> str:
    """The graph of the function that the trees run on this thread, and that runs without CUDA graphs from now on.

    The trees are found on the stack, because torch reports only the reason, and only once.
    """
    for found in values.frames_of(frames.CHANGES_INPUTS, frames.GIVES_UP):
        function = _function(*found.values())
        function.row = msgspec.structs.replace(function.row, skipped=skip_words(reason), where=where)
        return function.row.graph
    return ""


def skip_words(reason: str) -> str:
    """torch's reason against CUDA graphs without what it says around it, and without the user's stack."""
    return reason.partition("Found from")[0].strip().removeprefix("skipping cudagraphs due to ").rstrip(" .:")


def _made(row: CudaGraph) -> Function:
    RUNS.functions.append(Function(row))
    return RUNS.functions[-1]


def _add(function: Function, row: Recording, graph: Any) -> None:
    """Add a CUDA graph, whose replays count from now on. A graph without kernels has no replays."""
    recorded = Recorded(function, row)
    function.recordings.append(recorded)
    if graph is not None:
        key = id(graph)
        RUNS.recorded[key] = recorded
        weakref.finalize(graph, RUNS.recorded.pop, key, None).atexit = False


def _pool_bytes(pool: Any) -> int | None:
    """Bytes that the memory pool holds."""
    memory = sys.modules.get("torch.cuda.memory")
    if memory is None:
        return None
    segments = memory.memory_snapshot(mempool_id=pool, include_traces=False)
    return sum(int(part["total_size"]) for part in segments)


def _remark_again(probes: Probes, function: Function, row: Recording) -> None:
    """Write a remark once for each reason; the table has the counts."""
    if sum(one.row.why == row.why for one in function.recordings) > 1:
        return
    inputs = f" ({', '.join(row.inputs[:3])})" if row.inputs else ""
    message = f"the CUDA graph was recorded again: {row.why}{inputs}"
    graph, code = function.row.graph, "cudagraph-again"
    probes.sink.add(Remark(graph=graph, kind="missed", code=code, message=message, where=row.where, ids=row.inputs))


def install_captures(probes: Probes) -> None:
    """Hook captures outside of the trees: by Inductor without trees, and by the program."""

    def capturing(graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[CudaGraph, float] | None:
        frame: types.FrameType | None = sys._getframe(1)
        row = CudaGraph(driver="program", where=values.line_text(CALL_SITES.caller()))
        while frame is not None:
            if frame.f_code.co_filename.endswith(frames.DECIDES.file):
                return None
            if values.is_frame(frame, frames.CUDAGRAPHIFY):
                model = frame.f_locals.get(*frames.CUDAGRAPHIFY.variables)
                known = RUNS.models.get(id(model))
                of, partition = (known[1], known[2]) if known is not None and known[0]() is model else ("", None)
                row = CudaGraph(driver="inductor", graph=of, partition=partition)
            frame = frame.f_back
        return row, AtStart.perf_counter()

    pending: weakref.WeakKeyDictionary[Any, tuple[CudaGraph, float]] = weakref.WeakKeyDictionary()

    def begun(state: Any, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        if state is not None:
            pending[graph] = state

    def captured(state: Any, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        known = pending.pop(graph, None)
        if known is None:
            return
        row_of, began = known
        again = RUNS.recorded.get(id(graph))
        row_of = msgspec.structs.replace(row_of, number=len(RUNS.functions))
        function = again.owner if again is not None else _made(row_of)
        seconds = round(AtStart.perf_counter() - began, 6)
        why = "first" if again is None else "captured again"
        row = Recording(node=len(function.recordings), why=why, where=row_of.where, seconds=seconds)
        _add(function, row, graph)
        probes.sink.add(function.fact())

    probes.wrap(PROBE, names.CAPTURE_BEGIN, before=capturing, after=begun)
    probes.wrap(PROBE, names.CAPTURE_END, after=captured)
