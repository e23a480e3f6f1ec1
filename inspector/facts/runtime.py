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
    """`launch`; where the graph runs on the CPU alone, `call`: all of its generated code, `memory`: the statements that
    allocate or free, `checks`: those that check sizes and strides, and `rest`: what is left of the call, and `before`:
    from the call of the compiled function, or from the end of the graph that ran before on that thread, to the call;
    `replay`: a CUDA graph as a whole.
    """
    kernel: str = ""
    """The kernel, as in `kernels`."""
    line: Int64 | None = None
    """Line of the output code that launches it; None for a replay."""
    device: str = ""
    """Where it was timed."""
    number: Int64 = 0
    """Of a replay: which one of the graph's CUDA graphs, from 0."""
    calls: Int64 = 0
    """How often it ran."""
    timed: Int64 = 0
    """Number of calls that were timed, without the first."""
    replayed: Int64 = 0
    """How many of the timed ones stood in a replay of a CUDA graph."""
    first: float | None = None
    """The first call alone: kernels are loaded and tuned in it."""
    least: float | None = None
    """The least of the timed calls."""
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
    """The overhead of measuring on one device. The last row of a device counts.

    `graph` is empty.
    """

    table: ClassVar[str] = "measured"
    per_graph: ClassVar[bool] = False

    device: str
    """The device."""
    how: str
    """`clock` (of the host, before and after the launch) or `CUDA events` (one before and one behind)."""
    overhead: float
    """What measuring adds to each time of this device: it is still in the rows, and taken off in what is derived from
    them. Of CUDA events, what they measure around one kernel that does nothing less what one more of these takes.
    """
    timed: Int64 = 0
    """How many times were taken."""
    seconds: float = 0.0
    """What it cost the program, including waiting for the device."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One recording of a function as a CUDA graph."""

    node: Int64
    """torch's number of the CUDA graph."""
    after: Int64 | None = None
    """The CUDA graph before it in the tree; None for a root."""
    why: str = "first"
    """`first`; `another path`: after other CUDA graphs than before; `captured again`, of a program's own; else torch's
    words for what had changed.
    """
    inputs: tuple[str, ...] = ()
    """Inputs whose memory had changed."""
    where: str | None = None
    """Source line of the first of them."""
    seconds: float = 0.0
    """Seconds that it took."""
    replayed: Int64 = 0
    """How often it was replayed."""


class CudaGraph(Fact, frozen=True, kw_only=True, tag="cuda_graph"):
    """What became of one function that may run as a CUDA graph, so far. The last row of a number counts.

    A function is a compiled graph, or a partition of one, at one set of sizes. `graph` is the compiled graph, where it
    is one.
    """

    table: ClassVar[str] = "cudagraphs"
    per_graph: ClassVar[bool] = False

    number: Int64 = -1
    """In the order in which they were first run; -1 of a graph that was compiled and never handed over."""
    driver: str = ""
    """`cudagraph trees`, `cudagraphs backend`, `inductor` (with the trees switched off), `program`
    (`torch.cuda.graph`); empty where there is none.
    """
    device: Int64 | None = None
    """Index of the device."""
    function: Int64 | None = None
    """torch's number in the trees of its device."""
    compile_id: str | None = None
    """Dynamo's compile id."""
    mode: str = ""
    """`forward`, `backward` or `inference`."""
    partition: Int64 | None = None
    """Which part of the graph, from 0, where it was cut; None where it is no compiled graph."""
    sizes: tuple[Int64, ...] = ()
    """The integers among the inputs: each set of them is a function of its own."""
    warmups: Int64 = 0
    """Number of runs of the plain code in the CUDA graphs' memory pool, before a recording."""
    recorded: Int64 = 0
    """How often it was recorded."""
    replayed: Int64 = 0
    """How often it was replayed; the run that belongs to a recording is no replay."""
    recordings: tuple[Recording, ...] = ()
    """The first 32 of them."""
    skipped: str = ""
    """Why it does not run as a CUDA graph."""
    is_on_cpu: bool = False
    """It runs on a CPU alone, which has no CUDA graphs."""
    where: str | None = None
    """The user's line of that; of the program's own capture the line that captures."""
    pool_bytes: Int64 | None = None
    """Bytes that the memory pool of the device's CUDA graphs held after the last recording (looked at after the first,
    second, fourth, … of a function).
    """


class Collective(Fact, frozen=True, kw_only=True, tag="collective"):
    """Calls of one collective from one place, from torch's flight recorder when the process ends.

    `graph` is empty.
    """

    table: ClassVar[str] = "collectives"
    per_graph: ClassVar[bool] = False

    op: str
    """As the backend ran it: `all_reduce`, `all_gather`, `reduce_scatter`, `broadcast`, …"""
    backend: str
    """`nccl` or `gloo`."""
    group: str
    """torch's description of the process group, such as `default_pg`."""
    dtype: str
    """torch's name of it, `float`."""
    by: str
    """What called it: `compiled graph`, `DistributedDataParallel`, `FSDP2`, `FSDP`, `program` (the program's line
    itself), `torch` (something else of torch's), `unknown` (no Python frame is known, and no DistributedDataParallel
    was seen).
    """
    hook: str = ""
    """torch's function that called it: `pre_forward`, `post_backward`; `reducer` is DistributedDataParallel's in C++,
    which sums gradients by buckets.
    """
    count: Int64
    """Number of calls."""
    bytes: Int64
    """Bytes of all these calls on this rank: for each call the larger of input and output."""
    where: Location | None = None
    """The program's innermost line around it; None on autograd's own thread, where there is none."""
    before: Int64 = 0
    """Collectives of the process that torch no longer knew of: how many came before the first one here."""

    @property
    def is_compiled(self) -> bool:
        """True if the code of a compiled graph called it."""
        return self.by == "compiled graph"


class StepAccount(Fact, frozen=True, kw_only=True, tag="step_account"):
    """The steps of a program that a profile shows, and how long one takes.

    `graph` is empty.
    """

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    by: str
    """What a step ends with: an event of the profile that repeats, `Optimizer.step#AdamW.step`; empty where nothing
    repeats, and the whole profile is one step.
    """
    steps: Int64
    """How many steps."""
    seconds: float
    """The step that the rows add up to: the mean of all steps in the profile or, where steps were timed without the
    profiler, which slows the host, and were shorter, such a step.
    """
    least: float
    """The shortest step of the profile."""
    most: float
    """The longest one."""
    profiled_seconds: float | None = None
    """The mean of all, if `seconds` is another: the host's times are scaled down to that; else None."""
    device: str = ""
    """The GPU; empty if nothing ran on one."""
    busy: float = 0.0
    """Seconds of a step in which the GPU ran something."""
    plain_seconds: float | None = None
    """A step without a profiler: the median of steps, on a GPU the mean; None if none was timed."""
    plain_steps: Int64 = 0
    """Of how many steps that is."""
    host: float | None = None
    """The shortest time from one step to the next on the host, without a profiler: no step is shorter, however fast
    the kernels are. None if that is not known, as where the host waits for the GPU in a step.
    """


class StepTime(Fact, frozen=True, kw_only=True, tag="step_time"):
    """One part of a step. The parts of all rows together are the step.

    `graph` is empty.
    """

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    kind: str
    """`compiled kernels`, `library calls`, `eager operators`, `optimizer`, `collectives`, `waiting for the host`,
    `synchronisation`, `copies`, `input`, `compiling` or `not known` (docs/steps.md#kinds).
    """
    what: str = ""
    """Which: a kernel, an operator, or what the host does."""
    seconds: float
    """Of one step."""
    is_idle: bool = False
    """True if the GPU is idle meanwhile, and the host does it."""
    count: float = 0.0
    """How many kernels or calls, in one step."""
    hidden: float = 0.0
    """Seconds of a step in which it runs while a kernel of another kind does, and which are that kernel's."""
    after: float = 0.0
    """Of a synchronisation, the seconds from its end until the GPU is given something to do: parts of other rows, and
    the most that the wait can cost in addition.
    """
    waited: float = 0.0
    """Of a synchronisation, the seconds that the host spends in it, whether the GPU is idle meanwhile or not."""
    where: str = ""
    """The line or function of the program, where it is known, or which part of torch's work it is."""
    line: Location | None = None
    """That line, of an operator outside of graphs."""
    region: str = ""
    """Compile id of the compiled frame that runs the operator outside of its graph; empty elsewhere."""
    bound: str = ""
    """What bounds the kernel by the roofline: `compute`, `memory` or `launch`."""


class OperatorLine(Fact, frozen=True, kw_only=True, tag="operator_line"):
    """A line of the program that calls operators outside of compiled graphs, seen in steps after the profiled ones.

    `graph` is empty.
    """

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    after: str
    """Compile id of the compiled region that began last before them, `0/0`; empty before the first."""
    operator: str
    """torch's name, `aten::mul_`."""
    first: Int64
    """Which operator of this name it is since the region began, from 0."""
    last: Int64
    """The last one of those that the line calls one after the other."""
    where: Location
    """The line, of the program or a library of its."""


class StepsProfiled(Fact, frozen=True, kw_only=True, tag="steps_profiled"):
    """Calls of compiled functions that were timed, and then profiled, once nothing was compiled any more.

    `graph` is empty.
    """

    table: ClassVar[str] = "steps"
    per_graph: ClassVar[bool] = False

    calls: Int64 = 0
    """Calls that were timed together without a profiler."""
    seconds: float = 0.0
    """What all of them took, with what the program does between them."""
    each: tuple[float, ...] = ()
    """The same of each; on a GPU only the sum waits for it."""
    profiled_calls: Int64 = 0
    """Calls that were profiled next."""
    profiled_seconds: float = 0.0
    """What these took."""
    why_not: str = ""
    """Why nothing was profiled; empty if `steps.trace.json.gz` has the profile, from which readers make the rows above.
    """
