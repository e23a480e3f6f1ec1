"""In a process of its own: what stands for the GPU, and compiles the graphs that it is sent."""

import re
from collections.abc import Callable
from typing import Final

from inspect_compile.facts import Fact, Remark
from inspect_compile.knowledge.targets.targets import TARGETS

_MISSING: Final = re.compile(r"'_OpNamespace' '(\w+)' object has no attribute '(\w+)'")
"""What torch says of an operator that is not there in this process."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.lowering.intervention.cross_compile.unmeasured import Asked


def become(name: str, tell: Callable[[Fact], None]) -> Callable[[bytes], None]:
    """Be the target `name` until this process ends.

    What it returns compiles one parcel, and raises what torch raises. `tell` hears where the real device might have
    been given something else, and what Dynamo traced as for it.
    """
    from inspect_compile.lowering.intervention.cross_compile import fake_cuda

    target = TARGETS[name]
    fake_cuda.install(target)
    from inspect_compile.lowering.intervention.cross_compile import autocast, by_device, convolutions, retarget
    from inspect_compile.lowering.intervention.cross_compile.attention import attention
    from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import unpacked
    from inspect_compile.lowering.intervention.cross_compile.unmeasured import Unmeasured

    unmeasured = Unmeasured(name)
    unmeasured.install()
    retarget.install()
    attention.install(target.capability, target.backend == "hip")
    by_device.install()
    autocast.install()
    if target.backend == "cuda":
        convolutions.install()

    def compiled(data: bytes) -> None:
        parcel, mode = unpacked(data)
        products = [name for name in by_device.called(parcel.module) if name.lstrip("_").startswith("scaled_mm")]
        if "float8" not in target.peak and products:
            message = (
                f"of {parcel.compile_id}, {products[0]}: {target.gpu} multiplies no float8, and the call fails there"
            )
            tell(Remark(graph=parcel.compile_id, kind="missed", code="target-lacks", message=message))
        for node in parcel.traced_again:
            tell(node)
        if parcel.traced_again or parcel.is_of_cpu:
            tell(_of_optimizer(parcel.compile_id, target.gpu, could_be=not parcel.is_of_cpu))
        for what in by_device.remaining(parcel.module):
            message = f"of {parcel.compile_id}, {what}: it was taken apart as for the CPU"
            tell(Remark(kind="analysis", code="target-by-device", message=message))
        try:
            if retarget.compile_parcel(parcel, mode):
                message = (
                    f"of {parcel.compile_id}, the backward graph was compiled with the forward one: "
                    "torch does that when the program first calls it, or never"
                )
                tell(Remark(graph=parcel.compile_id, kind="analysis", code="target-backward", message=message))
        finally:
            for decision in attention.taken():
                guess = "" if decision.certain else " (a guess)"
                message = (
                    f"{decision.op} is traced as {target.gpu} would run it: {decision.kernel}{guess}; {decision.reason}"
                )
                tell(Remark(kind="analysis", code="target-attention", message=message))
            for asked in unmeasured.taken():
                tell(_not_measured(parcel.compile_id, asked))

    return compiled


def _of_optimizer(compile_id: str, gpu: str, *, could_be: bool) -> Remark:
    """An optimizer was traced a second time, or should have been."""
    ways = f"an optimizer updates all parameters at once on {gpu}, and one by one on the CPU"
    told = "it was traced as for both" if could_be else "it could be traced as for the CPU alone"
    return Remark(
        graph=compile_id,
        kind="analysis" if could_be else "missed",
        code="target-traced-again" if could_be else "target-traced-once",
        message=f"of {compile_id}, {ways}: {told}",
    )


def _not_measured(compile_id: str, asked: "Asked") -> Remark:
    return Remark(
        graph=compile_id,
        kind="analysis",
        code="target-not-measured",
        message=f"of {compile_id}, {asked.what}, which Inductor times on the device: nothing was timed, {asked.done}",
        numbers=dict(asked.candidates),
        ids=tuple(name for name, _ in asked.candidates),
    )


def failed(target: str, data: bytes, error: Exception) -> Remark:
    """Why a parcel was not compiled."""
    from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import compile_id_of

    compile_id = compile_id_of(data)
    message = f"graph {compile_id}" if compile_id else "a graph"
    return Remark(graph=compile_id, kind="missed", code="target-failed", message=message + _reason(target, error))


def _reason(target: str, error: Exception) -> str:
    if missing := _MISSING.search(str(error)):
        what = f"{missing[1]}::{missing[2]}, an operator that the program's script makes for itself"
        return f" can't be compiled for {target}, because of {what}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    what = next((line for line in lines if line.startswith("target: ")), "").removeprefix("target: ")
    if "SkipFrame" in (type(error).__name__, type(getattr(error, "inner_exception", None)).__name__):
        return f" has no kernels for {target}: torch refuses it there ({lines[0]})"
    return f" can't be compiled for {target}{f', because of {what}' if what else ''}: {lines[0]}"
