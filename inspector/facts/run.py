"""The run as a whole, and the state of inspect-compile's own hooks."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location
from inspect_compile.facts.numerics import Asked

SCHEMA_VERSION = 1


class Omission(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a process compiled and that its dump does not contain, because of a limit or an option."""

    what: str
    """graphs (after the first ones), compiles (of one frame over and over; with `--keep` the earlier ones), frames
    (first compiles that had to go), later (after the size limit) or texts.
    """
    limit: str
    """`--graphs 5`, `--keep 20`, `--max-dump 2 GB`, `8 compiles of a frame`, `--level facts`."""
    count: int | None = None
    """How many; None if not counted."""
    graph: str = ""
    """For compiles: the number of the frame, which is the part of its compile ids before the slash."""
    message: str = ""
    """The same as a sentence."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of run.json, written when a process is first watched and again when it ends."""

    schema: Int64 = SCHEMA_VERSION
    status: str = "running"
    """running, finished, raised or killed; replaced: the process became another program (exec), which has a separate
    part; ranks: a dump of several ranks, each with its own status.

    A dump still says running if its program runs, or was killed before it could write.
    """
    argv: tuple[str, ...] = ()
    cwd: str = ""
    pid: Int64 = 0
    parent_pid: Int64 = 0
    rank: Int64 | None = None
    started: str = ""
    """Local time with UTC offset, ISO 8601."""
    seconds: float | None = None
    exit_code: Int64 | None = None
    """None if not known: a program that replaced itself returns its status to its own parent."""
    exception: str | None = None
    """Last line of the traceback that ended the program."""
    versions: dict[str, str] = {}
    device: str = "cpu"
    host: str = ""
    """What the generated C++ code depends on: `x86_64, AVX2, 2 threads`. Empty if torch was not loaded at the end."""
    target: str = ""
    """For a part that was compiled for a GPU that was not present, its architecture: `sm_90`."""
    targets: tuple[str, ...] = ()
    """The GPUs that graphs were compiled for, each with a part of its own."""
    replay_of: str = ""
    """For a replay, the name of the recorded graph."""
    config: dict[str, str] = {}
    """Settings of a replay: name in torch._inductor.config → value as a Python literal."""
    denied: tuple[tuple[str, str], ...] = ()
    """Pairs of operations, or of groups, that fusion had to keep apart."""
    fusions: Int64 | None = None
    """Number of fusions that were allowed; None for no limit."""
    numerics: Asked | None = None
    """Which calls were checked (`inspect-compile numerics`); None for none."""
    cache: str = "bypass"
    """bypass: torch's FX-graph and AOTAutograd caches miss while recording; keep: they work as in a plain run; auto:
    they serve what is kept of earlier recordings.
    """
    environment: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    omitted: tuple[Omission, ...] = ()
    tables: dict[str, Int64] | None = None
    """Bytes of each table when the process ended, those of all graphs together as `torchinductor/`; None if the process
    could not write that, and in dumps of earlier versions.
    """


class Removed(msgspec.Struct, frozen=True):
    """Something that was removed from a dump before it was shared."""

    what: str
    count: int
    stands_as: str = ""
    """An example of what is in its place."""


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of shared.json in a dump that came from `share`."""

    redacted: bool = False
    source: bool = True
    """Whether it contains the program's source lines."""
    removed: tuple[Removed, ...] = ()
    left_out: tuple[Removed, ...] = ()
    """Files and lines that were left out."""
    remains: tuple[str, ...] = ()
    """What only the person who shares can remove, in sentences."""


class Hook(Fact, frozen=True, kw_only=True, tag="hook"):
    """One hook of a probe: where it is, its state and its cost."""

    table: ClassVar[str] = "probes"
    per_graph: ClassVar[bool] = False

    probe: str
    target: str
    """Dotted name of the torch function that it watches."""
    state: str
    """installed, closed (at the end), missing (this torch has no such function) or failed (turned off)."""
    reason: str = ""
    since: str = ""
    """Of one that is missing: the first version of torch in which that function was seen."""
    calls: Int64 = 0
    seconds: float = 0.0


class Timed(Fact, frozen=True, kw_only=True, tag="timed"):
    """One run of a timer of torch's (`dynamo_timed`) during a compile, by torch's clock.

    `graph` holds the compile id; empty if torch worked for no particular compile.
    """

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    name: str
    """torch's name: `entire_frame_compile`, `GraphLowering.run`, `pass.post_grad.group_batch_fusion`."""
    start: float
    """Seconds since the epoch."""
    seconds: float
    probes: float = 0.0
    """Time that probes took within it; calls that are not timed individually are attributed in batches."""
    thread: Int64 = 0
    """Number of the thread, in the order in which threads first ended a timer."""


class TimerBegan(Fact, frozen=True, kw_only=True, tag="timer_began"):
    """A timer of a whole stage began: tells, while a program compiles, what it is at. `graph` as of `Timed`."""

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    name: str
    start: float
    """Seconds since the epoch."""


class FirstCall(Fact, frozen=True, kw_only=True, tag="first_call"):
    """The first call of a compiled graph, in which kernels are loaded, libraries set up, and some kernels tuned. On a
    GPU it ends when all launches are queued. `graph` holds the compile id.
    """

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    part: str
    """`forward` (or inference), or `backward`."""
    start: float
    """Seconds since the epoch."""
    seconds: float
    thread: Int64 = 0
    """As of `Timed`."""


class Imported(Fact, frozen=True, kw_only=True, tag="imported"):
    """An import that took long, with all that it imports in turn: of torch, of the program's packages, or of parts of
    torch that are loaded by the first compile.
    """

    table: ClassVar[str] = "imports"
    per_graph: ClassVar[bool] = False

    module: str
    start: float
    """Seconds since the epoch."""
    seconds: float


class Remark(Fact, frozen=True, kw_only=True, tag="remark"):
    """Something that the compiler did, missed or decided, for the user. Modelled on LLVM's optimization remarks."""

    table: ClassVar[str] = "remarks"
    per_graph: ClassVar[bool] = False

    kind: str
    """passed, missed or analysis."""
    code: str
    message: str
    numbers: dict[str, float | Int64 | str] = {}
    knob: str | None = None
    where: str | None = None
    """Source line, `file.py:12`."""
    place: Location | None = None
    """The same with what is written there, and the calls that led to it."""
    ids: tuple[str, ...] = ()
    """FX nodes, buffers, operations or kernels that it is about."""
