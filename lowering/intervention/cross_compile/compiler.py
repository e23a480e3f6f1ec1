"""Compiles the graphs of a program for a GPU that is not present, in a process that does nothing else."""

import re
from collections.abc import Callable
from typing import Final

from inspect_compile.facts import Fact, Remark
from inspect_compile.knowledge.targets.targets import TARGETS

_MISSING: Final = re.compile(r"'_OpNamespace' '(\w+)' object has no attribute '(\w+)'")
"""torch's message about an operator that this process does not have."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.lowering.intervention.cross_compile.unmeasured import SkippedTiming, Unmeasured


def stand_in(name: str) -> "Unmeasured":
    """Make this process compile for the target `name`, as if its GPU were present, until the process ends.

    To be called before torch's compiler is loaded. Returns what keeps the timings that Inductor would have measured.
    """
    from inspect_compile.lowering.intervention.cross_compile import fake_cuda

    target = TARGETS[name]
    fake_cuda.install(target)
    from inspect_compile.lowering.intervention.cross_compile import by_device, retarget
    from inspect_compile.lowering.intervention.cross_compile.attention import attention
    from inspect_compile.lowering.intervention.cross_compile.unmeasured import Unmeasured

    unmeasured = Unmeasured(name)
    unmeasured.install()
    retarget.install()
    attention.install(target.capability, target.backend == "hip")
    by_device.install()
    return unmeasured


def compiler_for(name: str, tell: Callable[[Fact], None]) -> Callable[[bytes], None]:
    """Make this process compile for the target `name`, and return the function that compiles one pickled graph.

    That function raises what torch raises. `tell` receives remarks about everything in which a compile on the real
    device might differ, and the nodes that Dynamo traced as for the device.
    """
    target = TARGETS[name]
    unmeasured = stand_in(name)
    from inspect_compile.lowering.intervention.cross_compile import autocast, by_device, convolutions, retarget
    from inspect_compile.lowering.intervention.cross_compile.attention import attention
    from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import unpacked
    from inspect_compile.lowering.runtime import cudagraphs

    autocast.install()
    cudagraphs.nothing_runs()
    if target.backend == "cuda":
        convolutions.install()

    def compiled(data: bytes) -> None:
        request, mode = unpacked(data)
        products = [name for name in by_device.called(request.module) if name.lstrip("_").startswith("scaled_mm")]
        if "float8" not in target.peak and products:
            message = (
                f"of {request.compile_id}, {products[0]}: {target.gpu} multiplies no float8, and the call fails there"
            )
            tell(Remark(graph=request.compile_id, kind="missed", code="target-lacks", message=message))
        for node in request.traced_again:
            tell(node)
        if request.traced_again or request.is_of_cpu:
            tell(_of_optimizer(request.compile_id, target.gpu, could_be=not request.is_of_cpu))
        for what in by_device.remaining(request.module):
            message = f"of {request.compile_id}, {what}: it was decomposed as for the CPU"
            tell(Remark(kind="analysis", code="target-by-device", message=message))
        try:
            if retarget.compile_graph(request, mode):
                message = (
                    f"of {request.compile_id}, the backward graph was compiled with the forward one: "
                    "torch does that when the program first calls it, or never"
                )
                tell(Remark(graph=request.compile_id, kind="analysis", code="target-backward", message=message))
        finally:
            for decision in attention.taken():
                guess = "" if decision.certain else " (a guess)"
                message = (
                    f"{decision.op} is traced as {target.gpu} would run it: {decision.kernel}{guess}; {decision.reason}"
                )
                tell(Remark(kind="analysis", code="target-attention", message=message))
            for skipped in unmeasured.taken():
                tell(_not_measured(request.compile_id, skipped))

    return compiled


def _of_optimizer(compile_id: str, gpu: str, *, could_be: bool) -> Remark:
    """The remark that an optimizer was traced a second time, or should have been."""
    ways = f"an optimizer updates all parameters at once on {gpu}, and one by one on the CPU"
    outcome = "it was traced as for both" if could_be else "it could only be traced as for the CPU"
    return Remark(
        graph=compile_id,
        kind="analysis" if could_be else "missed",
        code="target-traced-again" if could_be else "target-traced-once",
        message=f"of {compile_id}, {ways}: {outcome}",
    )


def _not_measured(compile_id: str, skipped: "SkippedTiming") -> Remark:
    """The remark about something that Inductor would have timed on the device."""
    return Remark(
        graph=compile_id,
        kind="analysis",
        code="target-not-measured",
        message=f"of {compile_id}, {skipped.what}, which Inductor times on the device: nothing was timed, "
        f"{skipped.done}",
        numbers=dict(skipped.candidates),
        ids=tuple(name for name, _ in skipped.candidates),
    )


def failed(target: str, data: bytes, error: Exception) -> Remark:
    """The remark why the pickled graph `data` was not compiled for `target`: because of `error`."""
    from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import compile_id_of

    compile_id = compile_id_of(data)
    message = f"graph {compile_id}" if compile_id else "a graph"
    return Remark(graph=compile_id, kind="missed", code="target-failed", message=message + _reason(target, error))


def _reason(target: str, error: Exception) -> str:
    """The rest of the sentence that begins with the graph."""
    if missing := _MISSING.search(str(error)):
        what = f"{missing[1]}::{missing[2]}, an operator that the program's script makes for itself"
        return f" can't be compiled for {target}, because of {what}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    what = next((line for line in lines if line.startswith("target: ")), "").removeprefix("target: ")
    if "SkipFrame" in (type(error).__name__, type(getattr(error, "inner_exception", None)).__name__):
        return f" has no kernels for {target}: torch refuses it there ({lines[0]})"
    return f" can't be compiled for {target}{f', because of {what}' if what else ''}: {lines[0]}"
