"""The run as a whole, and the state of our own probes."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64

SCHEMA_VERSION = 1


class Omission(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a process compiled and that its dump does not hold: a limit was reached, or it was not wanted."""

    what: str
    """graphs (those after the first ones), compiles (of a frame that is compiled over and over), later (all that came
    after the dump had its size), texts."""
    limit: str
    """`--graphs 5`, `--max-dump 2 GB`, `8 compiles of a frame`, `--no-texts`."""
    count: int | None = None
    """How many; None where nobody counted."""
    graph: str = ""
    """Of compiles: the number of the frame, the part of its compile ids before the stroke."""
    message: str = ""
    """The same in a sentence."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of run.json: written when a process is first watched, and once more when it ends."""

    schema: Int64 = SCHEMA_VERSION
    status: str = "running"
    """running, finished, raised, killed; replaced: the process became another program (exec), which has its own part;
    ranks: a dump of several ranks, each of which tells its own.

    A dump that still says running is of a program that runs, or that was killed before it could tell.
    """
    argv: tuple[str, ...] = ()
    cwd: str = ""
    pid: Int64 = 0
    parent_pid: Int64 = 0
    rank: Int64 | None = None
    started: str = ""
    """Local time with offset, ISO 8601."""
    seconds: float | None = None
    exit_code: Int64 | None = None
    """None where it could not be seen: a program that replaced itself keeps its status to its own parent."""
    exception: str | None = None
    """The last line of the traceback that ended the program."""
    versions: dict[str, str] = {}
    device: str = "cpu"
    target: str = ""
    """Of a part that was compiled for a GPU that was not there: its architecture, `sm_90`."""
    targets: tuple[str, ...] = ()
    """The GPUs that graphs were compiled for, each of which has a part."""
    replay_of: str = ""
    """Of a part in which a recorded graph was compiled again: its name."""
    config: dict[str, str] = {}
    """What was set for that: setting of torch._inductor.config → value, as Python writes it."""
    denied: tuple[tuple[str, str], ...] = ()
    """Pairs of operations, or of groups of them, that fusion had to keep apart."""
    fusions: Int64 | None = None
    """How many fusions were allowed; None for all that the scheduler wants."""
    cache: str = "bypass"
    """bypass: torch's FX-graph and AOTAutograd caches miss while we watch; keep: they work as they would alone."""
    environment: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    omitted: tuple[Omission, ...] = ()


class Removed(msgspec.Struct, frozen=True):
    """Something that was taken out of a dump before it was shared."""

    what: str
    count: int
    stands_as: str = ""
    """What stands in its place, of one of them."""


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of shared.json, which stands in a dump that came out of `share`."""

    redacted: bool = False
    source: bool = True
    """Are the program's source lines in it?"""
    removed: tuple[Removed, ...] = ()
    left_out: tuple[Removed, ...] = ()
    """Files and lines that were not taken along."""
    remains: tuple[str, ...] = ()
    """What nobody can take out but the person who shares, in sentences."""


class Hook(Fact, frozen=True, kw_only=True, tag="hook"):
    """One hook of one probe: where it stands, how it fared, what it cost."""

    table: ClassVar[str] = "probes"
    per_graph: ClassVar[bool] = False

    probe: str
    target: str
    """The dotted torch name that it watches."""
    state: str
    """installed, closed (at the end), missing (this torch has no such name) or failed (it raised or took too long, and
    stood aside)."""
    reason: str = ""
    calls: Int64 = 0
    seconds: float = 0.0


class Timed(Fact, frozen=True, kw_only=True, tag="timed"):
    """One thing that took torch's time while it compiled, as its own clock has it (`dynamo_timed`).

    `graph` holds the compile id; empty where torch worked for no compile in particular.
    """

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    name: str
    """torch's: `entire_frame_compile`, `GraphLowering.run`, `pass.post_grad.group_batch_fusion`."""
    start: float
    """Seconds since the epoch."""
    seconds: float
    probes: float = 0.0
    """Those of them that our own probes took, as they counted it: calls that are not each timed come in lumps."""
    thread: Int64 = 0
    """Threads in the order in which they first ended something."""


class Remark(Fact, frozen=True, kw_only=True, tag="remark"):
    """What the compiler did, missed or noticed, told to a person. Model: LLVM's optimization remarks."""

    table: ClassVar[str] = "remarks"
    per_graph: ClassVar[bool] = False

    kind: str
    """passed, missed or analysis."""
    code: str
    message: str
    numbers: dict[str, float | Int64 | str] = {}
    knob: str | None = None
    where: str | None = None
    """The user's line, `file.py:12`."""
    ids: tuple[str, ...] = ()
    """FX nodes, buffers, operations or kernels concerned."""
