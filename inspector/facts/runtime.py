"""What happened when the generated code ran: times of launches, CUDA graphs, communication between ranks."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Launched(Fact, frozen=True, kw_only=True, tag="launched"):
    """Time of one launch in the generated code, over all calls so far. The last row of a launch counts.

    Milliseconds. The first call is separate: kernels are compiled and tuned in it.
    """

    table: ClassVar[str] = "measured"
    per_graph: ClassVar[bool] = False

    what: str = "launch"
    """launch, call (the whole generated code of the graph), memory (its statements that allocate or free), checks (of
    sizes and strides), rest (what is left of the call), before (from the call of the compiled function, or from the
    end of the graph before on that thread, to the call) or replay (of a whole CUDA graph).
    """
    kernel: str = ""
    line: Int64 | None = None
    """Line number in output_code.py; None for a replay."""
    device: str = ""
    number: Int64 = 0
    """For a replay: which of the graph's CUDA graphs."""
    calls: Int64 = 0
    timed: Int64 = 0
    """Number of calls that were timed, without the first."""
    replayed: Int64 = 0
    """Number of timed calls that were in the replay of a CUDA graph."""
    first: float | None = None
    least: float | None = None
    milliseconds: float | None = None
    """The median of the timed calls; None if there are none."""
    total: float = 0.0
    """The sum of the timed calls."""
    least_in_call: float | None = None
    """The least that it took in one call of its graph, all its times in that call together; the first call does not
    count. None where calls are not timed as a whole.
    """
    times_in_call: Int64 = 0
    """How often it was timed in that call."""


class Measuring(Fact, frozen=True, kw_only=True, tag="measuring"):
    """The overhead of measuring on one device. The last row of a device counts."""

    table: ClassVar[str] = "measured"
    per_graph: ClassVar[bool] = False

    device: str
    how: str
    """`clock` (on the host, before and after the call) or `CUDA events`."""
    overhead: float
    """Milliseconds that measuring adds to each time on this device."""
    timed: Int64 = 0
    seconds: float = 0.0
    """What it cost the program, including waiting for the device."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One recording of a function as a CUDA graph."""

    node: Int64
    """torch's number of the CUDA graph."""
    after: Int64 | None = None
    """The CUDA graph before it in the tree; None for a root."""
    why: str = "first"
    """`first`, `another path` (after other CUDA graphs than before), or torch's words for what had changed."""
    inputs: tuple[str, ...] = ()
    """Inputs whose memory had changed."""
    where: str | None = None
    """Source line of the first of them."""
    seconds: float = 0.0
    replayed: Int64 = 0


class CudaGraph(Fact, frozen=True, kw_only=True, tag="cuda_graph"):
    """What became of one function that may run as a CUDA graph, so far. The last row of a number counts.

    A function is a compiled graph, or a partition of one, at one set of sizes.
    """

    table: ClassVar[str] = "cudagraphs"
    per_graph: ClassVar[bool] = False

    number: Int64 = -1
    """In the order of their first run in this process; -1 for a graph that never reached CUDA graphs."""
    driver: str = ""
    """What drives it: `cudagraph trees`, `cudagraphs backend`, `inductor` (cudagraph trees turned off) or `program`
    (torch.cuda.graph); empty for a graph that never reached CUDA graphs.
    """
    device: Int64 | None = None
    function: Int64 | None = None
    """torch's number in the trees of its device."""
    compile_id: str | None = None
    mode: str = ""
    """forward, backward or inference."""
    partition: Int64 | None = None
    """Number of the partition, if the graph was partitioned."""
    sizes: tuple[Int64, ...] = ()
    """The integers among the inputs: each set of them is recorded separately."""
    warmups: Int64 = 0
    """Number of runs of the plain code in the CUDA graphs' memory pool, before a recording."""
    recorded: Int64 = 0
    replayed: Int64 = 0
    recordings: tuple[Recording, ...] = ()
    """The first recordings."""
    skipped: str = ""
    """Why it does not run as a CUDA graph."""
    is_on_cpu: bool = False
    """It runs on a CPU alone, which has no CUDA graphs."""
    where: str | None = None
    """Source line of the cause."""
    pool_bytes: Int64 | None = None
    """Bytes of the device's CUDA graph pool after the last recording."""


class Collective(Fact, frozen=True, kw_only=True, tag="collective"):
    """Calls of one collective from one place, from torch's flight recorder when the process ends."""

    table: ClassVar[str] = "collectives"
    per_graph: ClassVar[bool] = False

    op: str
    """all_reduce, all_gather, reduce_scatter, broadcast, …: the operation that the backend ran."""
    backend: str
    """nccl or gloo."""
    group: str
    """torch's description of the process group, such as `default_pg`."""
    dtype: str
    by: str
    """Who called it: compiled graph, DistributedDataParallel, FSDP2, FSDP, program (a line of the program), torch
    (other code of torch's), or unknown (there is no Python frame).
    """
    hook: str = ""
    """torch's function that called it, such as `pre_forward`; `reducer` for DistributedDataParallel's C++ code."""
    count: Int64
    bytes: Int64
    """Bytes of all these calls on this rank: for each call the larger of input and output."""
    where: Location | None = None
    """The program's innermost line around it."""
    before: Int64 = 0
    """Collectives of the process that torch no longer had: it keeps only the last ones."""

    @property
    def is_compiled(self) -> bool:
        """True if the code of a compiled graph called it."""
        return self.by == "compiled graph"


class StepAccount(Fact, frozen=True, kw_only=True, tag="step_account"):
    """The steps of a program that a profile shows, and how long one takes."""

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    by: str
    """What a step ends with: an event of the profile that repeats, `Optimizer.step#AdamW.step`; empty where nothing
    repeats, and the whole profile is one step.
    """
    steps: Int64
    seconds: float
    """The step that the rows add up to: the mean of all steps in the profile or, where steps were timed without the
    profiler, which slows the host, and were shorter, such a step.
    """
    least: float
    """Of the steps in the profile."""
    most: float
    profiled_seconds: float | None = None
    """The mean of the steps in the profile, where `seconds` is another; the host's times are scaled down to that."""
    device: str = ""
    """The GPU; empty if nothing ran on one."""
    busy: float = 0.0
    """Seconds of a step in which the GPU ran something."""
    plain_seconds: float | None = None
    """A step without a profiler: the median of steps, on a GPU the mean; None if none was timed."""
    plain_steps: Int64 = 0


class StepTime(Fact, frozen=True, kw_only=True, tag="step_time"):
    """One part of a step. The parts of all rows together are the step."""

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    kind: str
    """compiled kernels, library calls, eager operators, optimizer, collectives, waiting for the host, synchronisation,
    copies, input, compiling, or not known.
    """
    what: str = ""
    """Which: a kernel, an operator, or what the host does."""
    seconds: float
    """Of one step."""
    is_idle: bool = False
    """True if the GPU is idle meanwhile, and the host does it."""
    count: float = 0.0
    """Number of kernels, or calls, in one step."""
    hidden: float = 0.0
    """Seconds of a step in which it runs while a kernel of another kind does, and which are that kernel's."""
    after: float = 0.0
    """Of a synchronisation, the seconds from its end until the GPU is given something to do: parts of other rows, and
    the most that the wait can cost in addition.
    """
    where: str = ""
    """The line or function of the program, where it is known."""
    region: str = ""
    """Compile id of the compiled frame that runs the operator outside of its graph; empty elsewhere."""
    bound: str = ""
    """What bounds the kernel by the roofline: compute, memory or launch; empty if it is not known."""


class StepsProfiled(Fact, frozen=True, kw_only=True, tag="steps_profiled"):
    """Calls of compiled functions that were timed, and then profiled, once nothing was compiled any more."""

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    calls: Int64 = 0
    """Calls that were timed together without a profiler."""
    seconds: float = 0.0
    """What all of them took, with what the program does between them."""
    each: tuple[float, ...] = ()
    """The same of each; on a GPU only the sum waits for it."""
    profiled_calls: Int64 = 0
    profiled_seconds: float = 0.0
    why_not: str = ""
    """Why nothing was profiled; empty if a profile is in the dump."""
