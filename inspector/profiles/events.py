"""The contents of a profile, whichever tool wrote it. Times are microseconds on the profile's clock."""

import msgspec


class GpuRun(msgspec.Struct, frozen=True, gc=False):
    """One kernel, copy or memset on a GPU; in a profile without any, one operator or kernel on the CPU."""

    index: int
    """Index of the event in the file."""
    kind: str
    """kernel, memcpy, memset or cpu."""
    name: str
    start: float
    duration: float
    device: int = 0
    stream: int = 0
    correlation: int | None = None
    """Correlation id of the call that started it; all kernels of a CUDA graph share that of its replay."""
    external: int | None = None
    """External id: torch's number of the operator that was running on the CPU."""
    in_graph: bool = False
    """True if the profiler says that a CUDA graph ran it."""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    count: int = 1
    """More than 1 if the file has only sums; `duration` is then for all runs."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """A range on the CPU: an operator, a region that a program or torch marked."""

    name: str
    start: float
    end: float
    thread: int
    external: int | None = None
    sequence: int | None = None
    """Autograd's sequence number: a backward has that of its forward."""
    index: int = -1
    """Index of the event in the file."""
    forward_thread: int | None = None
    """For a backward: autograd's number of its forward's thread, which is not the same number as `thread`."""


class HostCall(msgspec.Struct, frozen=True, gc=False):
    """A call of the CUDA or HIP runtime or driver that starts something on the GPU."""

    name: str
    start: float
    thread: int
    correlation: int
    duration: float = 0.0


class Profile(msgspec.Struct):
    """The events of one file that matter for attribution."""

    tool: str
    """torch.profiler, Nsight Systems, Nsight Compute."""
    runs: list[GpuRun]
    spans: list[Span]
    calls: list[HostCall]
    waits: list[Span] = []
    """Calls of the runtime in which the CPU waits for the GPU, `cudaStreamSynchronize`."""
    functions: list[Span] = []
    """Python functions of the program's own that ran, `train.py(41): step`, where stacks were recorded: those of
    installed libraries and of torch are not kept. The line is the first of the function.
    """
    is_ordered: bool = True
    """False if the file has one sum for all runs of a name, and no order."""
    device: str = ""
    """Name of the first GPU, `NVIDIA H200`."""
    events: int = 0
    """Number of events in the file."""
    damaged: int = 0
    """Number of events that could not be read."""
    is_cut_off: bool = False
    """True if the file ends in the middle: later events are missing."""
    whole_graphs: int = 0
    """Number of CUDA graph replays recorded as one event, without their kernels."""
