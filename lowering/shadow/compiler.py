"""In a process of its own: what stands for the GPU, and compiles the graphs that it is sent."""

from collections.abc import Callable

from inspect_compile.facts import Remark
from inspect_compile.knowledge.targets import TARGETS


def become(name: str, tell: Callable[[Remark], None]) -> Callable[[bytes], None]:
    """Be the target `name` until this process ends.

    What it returns compiles one parcel, and raises what torch raises. `tell` hears where the real device might have
    been given something else.
    """
    from inspect_compile.lowering.shadow import guise

    target = TARGETS[name]
    guise.put_on(target)
    from inspect_compile.lowering.shadow import attention, autocast, by_device, retarget
    from inspect_compile.lowering.shadow.parcel import unpacked
    from inspect_compile.lowering.shadow.unmeasured import Unmeasured

    unmeasured = Unmeasured()
    unmeasured.install()
    retarget.install()
    attention.install(target.capability, target.backend == "hip")
    by_device.install()
    autocast.install()

    def compiled(data: bytes) -> None:
        parcel, mode = unpacked(data)
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
