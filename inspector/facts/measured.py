"""What the program did with the generated code when it ran: how long its launches took, what CUDA graphs did."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Launched(Fact, frozen=True, kw_only=True, tag="launched"):
    """How long one launch of the generated code took, over all calls so far. The last row of a launch counts.

    Milliseconds. The first time is apart: kernels are compiled and tuned in it.
    """

    table: ClassVar[str] = "measured"
    per_graph: ClassVar[bool] = False

    what: str = "launch"
    """launch, call (all of the graph's generated code), replay (of a CUDA graph as a whole)."""
    kernel: str = ""
    line: Int64 | None = None
    """In output_code.py; of a replay None."""
    device: str = ""
    number: Int64 = 0
    """Of a replay: which one of the graph's CUDA graphs."""
    calls: Int64 = 0
    timed: Int64 = 0
    """How many of them were timed, the first one left out."""
    replayed: Int64 = 0
    """How many of the timed ones stood in the replay of a CUDA graph."""
    first: float | None = None
    least: float | None = None
    milliseconds: float | None = None
    """The median of those that were timed; None where none was."""
    total: float = 0.0
    """Sum of those that were timed."""


class Measuring(Fact, frozen=True, kw_only=True, tag="measuring"):
    """What measuring itself did on one device. The last row of a device counts."""

    table: ClassVar[str] = "measured"
    per_graph: ClassVar[bool] = False

    device: str
    how: str
    """`clock` (the host's, before and after the call), `CUDA events`."""
    overhead: float
    """Milliseconds that measuring adds to each time of this device."""
    timed: Int64 = 0
    seconds: float = 0.0
    """What it cost the program, waiting for the device included."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One time that a function was recorded as a CUDA graph."""

    node: Int64
    """torch's number of the CUDA graph."""
    after: Int64 | None = None
    """The CUDA graph that it follows in the tree; None for a root."""
    why: str = "first"
    """`first`, `another path` (after other CUDA graphs than before), or torch's words for what had changed."""
    inputs: tuple[str, ...] = ()
    """Those whose memory had changed."""
    where: str | None = None
    """The user's line of the first of them."""
    seconds: float = 0.0
    replayed: Int64 = 0


class CudaGraph(Fact, frozen=True, kw_only=True, tag="cuda_graph"):
    """What became of one function that may run as a CUDA graph, so far. The last row of a number counts.

    A function is a compiled graph, or a partition of one, at one set of sizes.
    """

    table: ClassVar[str] = "cudagraphs"
    per_graph: ClassVar[bool] = False

    number: Int64 = -1
    """In the order in which they were first run, in this process; -1 for a graph that was never handed over."""
    driver: str = ""
    """Who drives it: `cudagraph trees`, `cudagraphs backend`, `inductor` (cudagraph trees switched off), `program`
    (torch.cuda.graph); empty for a graph that was never handed over."""
    device: Int64 | None = None
    function: Int64 | None = None
    """torch's number, in the trees of its device."""
    compile_id: str | None = None
    mode: str = ""
    """forward, backward, inference."""
    partition: Int64 | None = None
    """Which partition of the graph, where it was cut into several."""
    sizes: tuple[Int64, ...] = ()
    """The integers among the inputs: each set of them is recorded for itself."""
    warmups: Int64 = 0
    """Runs of the plain code in the CUDA graphs' memory pool, before a recording."""
    recorded: Int64 = 0
    replayed: Int64 = 0
    recordings: tuple[Recording, ...] = ()
    """The first ones of them."""
    skipped: str = ""
    """Why it does not run as a CUDA graph."""
    where: str | None = None
    """The user's line that this is of."""
    pool_bytes: Int64 | None = None
    """Memory that the pool of the device's CUDA graphs held after the last recording."""
