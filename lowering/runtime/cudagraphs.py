"""Remarks about graphs that should have run as CUDA graphs and do not."""

from typing import Any

import msgspec

from inspect_compile.facts import CudaGraph, Location, Remark
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.fx_nodes import user_line
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.lowering.runtime.cudagraph_runs import skip_words, skipped_in
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import inductor as names
from inspect_compile.torch_compat import runtime as runtime_names

PROBE = "lowering.cudagraphs"
_ON_CPU = 'a CPU has none, so mode="reduce-overhead" and other requests for them have no effect'
_WITHOUT_ANY = {"cpu", "meta"}
"""Types of devices that have no CUDA graphs."""
_UNLESS = "unless each is the result of another CUDA graph"
_KNOB = "torch._inductor.config.triton.cudagraphs"


class _Process:
    """Whether what this process compiles runs in it: else torch never gets to the reasons that it has at run time."""

    runs = True


def nothing_runs() -> None:
    """This process only compiles, for a GPU that is not present."""
    _Process.runs = False


def install_compiled(probes: Probes) -> None:
    """Hook the end of a graph's compile, where torch has all its reasons against CUDA graphs."""

    def compiled(state: Any, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        reason = getattr(made, "disabled_cudagraphs_reason", None)
        lowered = argument(args, kwargs, 1, "graph")
        scope = SCOPES.of(lowered)
        where = None
        if not reason and not _Process.runs:
            static = argument(args, kwargs, 9, "static_input_idxs")
            reason, where = _at_run_time(made, static), _written_at(lowered, _mutated(made, static))
        if scope is None:
            return
        row = CudaGraph(graph=scope.graph, compile_id=scope.compile_id, mode=scope.kind)
        if reason and lowered.device_types <= _WITHOUT_ANY:
            probes.sink.add(msgspec.structs.replace(row, skipped=_ON_CPU, is_on_cpu=True))
        elif reason:
            remark = _remark(scope.graph, str(reason), where)
            probes.sink.add(remark)
            probes.sink.add(msgspec.structs.replace(row, skipped=skip_words(str(reason)), where=remark.where))
        elif not _Process.runs and getattr(made, "cudagraph_info", None) is not None:
            probes.sink.add(row)

    probes.wrap(PROBE, names.COMPILED_GRAPH, after=compiled)


def _at_run_time(made: Any, static: Any) -> str:
    """Why torch will not capture this graph, as it finds out when the graph is called; empty if it will, or was not
    asked to.
    """
    info = getattr(made, "cudagraph_info", None)
    if info is None:
        return ""
    if info.cudagraph_fail_reasons:
        return ", ".join(map(str, info.cudagraph_fail_reasons))
    mutated = _mutated(made, static)
    explain = torch_object(runtime_names.MUTATED_INPUTS)
    if not mutated or explain is None:
        return ""
    words, found, stack = str(explain(info.placeholders, mutated)).partition(". Found from")
    return f"{words}, {_UNLESS}{found}{stack}"


def _mutated(made: Any, static: Any) -> list[int]:
    """The inputs that the graph writes to, but for those whose memory stays the same."""
    return [index for index in sorted(made.mutated_input_idxs) if index not in set(static or ())]


def _written_at(lowered: Any, inputs: list[int]) -> Location | None:
    """The first line that writes to one of these inputs, or to a view of it. torch looks at the input alone."""
    nodes = list(lowered.module.graph.nodes)
    every = [node for node in nodes if node.op == "placeholder"]
    reached = {every[index] for index in inputs if index < len(every)}
    for node in nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None or not node.args or node.args[0] not in reached:
            continue
        if schema.is_mutable:
            lines = map(user_line, (node, *reversed(node.all_input_nodes)))
            return next((where for where in lines if where is not None), None)
        if node.target.is_view:
            reached.add(node)
    return None


def install_runs(probes: Probes) -> None:
    """Hook the skips that torch decides on at run time."""

    def skipped(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        reason = str(argument(args, kwargs, 0, "msg"))
        probes.sink.add(_remark(skipped_in(reason, _remark("", reason).where), reason))

    probes.wrap(PROBE, names.CUDAGRAPH_SKIPPED, before=skipped)


def _remark(graph: str, reason: str, known: Location | None = None) -> Remark:
    """The remark for torch's reason, which ends with the user's stack if torch knows it; else the line is `known`."""
    _, _, stack = reason.partition("Found from")
    where = CALL_SITES.traced_line(stack) if stack else known
    return Remark(
        graph=graph,
        kind="missed",
        code="no-cudagraphs",
        message=f"it does not run as a CUDA graph: {skip_words(reason)}",
        knob=_KNOB,
        where=values.line_text(where),
        place=where,
    )
