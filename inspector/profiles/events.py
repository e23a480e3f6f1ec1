"""What a profile holds, whichever tool wrote it. Times are microseconds of the profile's own clock."""

import msgspec


class GpuRun(msgspec.Struct, frozen=True, gc=False):
    """One kernel, copy or fill that ran on a GPU; of a profile without any, one operator or kernel on the CPU."""

    index: int
    """Its place among the events of the file."""
    kind: str
    """kernel, memcpy or memset; cpu."""
    name: str
    start: float
    duration: float
    device: int = 0
    stream: int = 0
    correlation: int | None = None
    """The call that started it; all kernels of a CUDA graph share the one that replayed it."""
    external: int | None = None
    """torch's number of the operator that was running on the CPU."""
    in_graph: bool = False
    """The profiler says that a CUDA graph ran it."""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    count: int = 1
    """More for a sum, where the file tells no single runs; `duration` is of all of them."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """A range on the CPU: an operator, a region that a program or torch marked."""

    name: str
    start: float
    end: float
    thread: int
    external: int | None = None
    sequence: int | None = None
    """Autograd's number: a backward has that of its forward."""
    index: int = -1
    """Its place among the events of the file."""
    forward_thread: int | None = None
    """Of a backward: autograd's number of the thread that its forward ran on, which is not `thread`."""


class HostCall(msgspec.Struct, frozen=True, gc=False):
    """A call of the CUDA or HIP runtime or driver that starts something on the GPU."""

    name: str
    start: float
    thread: int
    correlation: int


class Profile(msgspec.Struct):
    """The events of one file that matter for telling what ran where."""

    tool: str
    """torch.profiler, Nsight Systems, Nsight Compute."""
    runs: list[GpuRun]
    spans: list[Span]
    calls: list[HostCall]
    is_ordered: bool = True
    """False where the file has one sum for all runs of a name, and no order."""
    device: str = ""
    """Name of the first GPU, `NVIDIA H200`."""
    events: int = 0
    """How many the file has."""
    damaged: int = 0
    """Of these could not be read."""
    whole_graphs: int = 0
    """Replays of CUDA graphs that were recorded as one event each, without their kernels."""
