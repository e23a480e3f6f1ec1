"""Remarks about graphs that should have run as CUDA graphs and do not."""

from typing import Any

from inspect_compile.facts import CudaGraph, Remark
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.lowering.runtime.cudagraph_runs import skip_words, skipped_in
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import inductor as names
from inspect_compile.torch_compat import runtime as runtime_names

PROBE = "lowering.cudagraphs"
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
        if not reason and not _Process.runs:
            reason = _at_run_time(made, argument(args, kwargs, 9, "static_input_idxs"))
        if reason and scope is not None:
            remark = _remark(scope.graph, str(reason))
            probes.sink.add(remark)
            probes.sink.add(
                CudaGraph(
                    graph=scope.graph,
                    compile_id=scope.compile_id,
                    mode=scope.kind,
                    skipped=skip_words(str(reason)),
                    where=remark.where,
                )
            )

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
    mutated = [index for index in sorted(made.mutated_input_idxs) if index not in set(static or ())]
    explain = torch_object(runtime_names.MUTATED_INPUTS)
    if not mutated or explain is None:
        return ""
    words, found, stack = str(explain(info.placeholders, mutated)).partition(". Found from")
    return f"{words}, {_UNLESS}{found}{stack}"


def install_runs(probes: Probes) -> None:
    """Hook the skips that torch decides on at run time."""

    def skipped(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        reason = str(argument(args, kwargs, 0, "msg"))
        probes.sink.add(_remark(skipped_in(reason, _remark("", reason).where), reason))

    probes.wrap(PROBE, names.CUDAGRAPH_SKIPPED, before=skipped)


def _remark(graph: str, reason: str) -> Remark:
    """The remark for torch's reason, which ends with the user's stack if torch knows it."""
    _, _, stack = reason.partition("Found from")
    where = CALL_SITES.traced_line(stack) if stack else None
    return Remark(
        graph=graph,
        kind="missed",
        code="no-cudagraphs",
        message=f"it does not run as a CUDA graph: {skip_words(reason)}",
        knob=_KNOB,
        where=values.line_text(where),
        place=where,
    )
