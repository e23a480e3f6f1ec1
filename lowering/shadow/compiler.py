"""In a process of its own: what stands for the GPU, and compiles the graphs that it is sent."""

from collections.abc import Callable

from inspect_compile.facts import Fact, Remark
from inspect_compile.knowledge.targets import TARGETS


def become(name: str, tell: Callable[[Fact], None]) -> Callable[[bytes], None]:
    """Be the target `name` until this process ends.

    What it returns compiles one parcel, and raises what torch raises. `tell` hears where the real device might have
    been given something else, and what Dynamo traced as for it.
    """
    from inspect_compile.lowering.shadow import guise

    target = TARGETS[name]
    guise.put_on(target)
    from inspect_compile.lowering.shadow import attention, by_device, retarget
    from inspect_compile.lowering.shadow.parcel import unpacked
    from inspect_compile.lowering.shadow.unmeasured import Unmeasured

    unmeasured = Unmeasured()
    unmeasured.install()
    retarget.install()
    attention.install(target.capability, target.backend == "hip")
    by_device.install()

    def compiled(data: bytes) -> None:
        parcel, mode = unpacked(data)
        for node in parcel.traced_again:
            tell(node)
        if parcel.traced_again or parcel.is_of_cpu:
            tell(_of_optimizer(parcel.compile_id, target.gpu, could_be=not parcel.is_of_cpu))
        for what in by_device.remaining(parcel.module):
            message = f"of {parcel.compile_id}, {what}: it was taken apart as for the CPU"
            tell(Remark(kind="analysis", code="target-by-device", message=message))
        try:
            retarget.compile_parcel(parcel, mode)
        finally:
            for decision in attention.taken():
                guess = "" if decision.certain else " (a guess)"
                message = (
                    f"{decision.op} is traced as {target.gpu} would run it: {decision.kernel}{guess}; {decision.reason}"
                )
                tell(Remark(kind="analysis", code="target-attention", message=message))
            for what in unmeasured.taken():
                message = f"of {parcel.compile_id}, {what}: Inductor times them on the device; here the first was taken"
                tell(Remark(kind="analysis", code="target-not-measured", message=message))

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
