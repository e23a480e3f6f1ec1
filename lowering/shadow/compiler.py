"""In a process of its own: what stands for the GPU, and compiles the graphs that it is sent."""

from collections.abc import Callable

from inspect_compile.knowledge.targets import TARGETS


def become(name: str) -> Callable[[bytes], None]:
    """Be the target `name` until this process ends.

    What it returns compiles one parcel, and raises what torch raises.
    """
    from inspect_compile.lowering.shadow import guise

    guise.put_on(TARGETS[name])
    from inspect_compile.lowering.shadow import retarget
    from inspect_compile.lowering.shadow.parcel import unpacked

    retarget.install()

    def compiled(data: bytes) -> None:
        retarget.compile_parcel(*unpacked(data))

    return compiled
