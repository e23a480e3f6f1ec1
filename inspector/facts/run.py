"""The run as a whole, and the state of inspect-compile's own hooks."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location
from inspect_compile.facts.numerics import NumericsRequest

SCHEMA_VERSION = 1


class Omission(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a process compiled and that its dump does not contain, because of a limit or an option."""

    what: str
    """`graphs`: those after the first ones; `compiles`: later ones of a frame that is compiled over and over, or with
    `--keep` earlier ones; `frames`: first compiles that had to go for the size; `later`: all that came after the dump
    had its size; `texts`: those of FX graphs and IR.
    """
    limit: str
    """`--graphs 5`, `--max-dump 2GB`, `--keep 20`, `8 compiles of a frame`, `--level facts`."""
    count: int | None = None
    """How many; None where nobody counted."""
    graph: str = ""
    """For compiles: the number of the frame, which is the part of its compile ids before the slash."""
    message: str = ""
    """The same in a sentence."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of run.json, written when a process is first watched and again when it ends."""

    schema: Int64 = SCHEMA_VERSION
    """Version of all that docs/dump.md describes; a reader refuses a newer one."""
    status: str = "running"
    """`running`, `finished`, `raised`, `killed`, `replaced` (the process became another program, exec, which has a part
    of its own); a dump that says `running` is of a program that runs, or that was killed before it could tell. `ranks`:
    ranks that were started one by one, each of which tells its own.
    """
    argv: tuple[str, ...] = ()
    """The program's arguments, its own name first; in a part for a target or a replay, of a command of more than 1,000
    characters the first words, then `…`.
    """
    cwd: str = ""
    """Where it ran."""
    pid: Int64 = 0
    """Its process."""
    parent_pid: Int64 = 0
    """The process that started it."""
    rank: Int64 | None = None
    """Of a distributed run, else None."""
    started: str = ""
    """Local time with UTC offset, ISO 8601."""
    born: float | None = None
    """When the system started the process, in seconds since the epoch, to 0.01 s; for a process that was something else
    before (exec), as one of `inspect-compile run` was, when that began. None if it is not known.
    """
    seconds: float | None = None
    """From start to end."""
    exit_code: Int64 | None = None
    """None if not known: a program that replaced itself returns its status to its own parent."""
    exception: str | None = None
    """The last line of the traceback that ended the program."""
    versions: dict[str, str] = {}
    """Package → version; `absent` where it is not installed."""
    device: str = "cpu"
    """What the program compiled for."""
    host: str = ""
    """What generated C++ code depends on: architecture, vectors and threads, `x86_64, AVX2, 2 threads`; empty where
    torch was not loaded at the end.
    """
    target: str = ""
    """Of a part that was compiled for a GPU that was not there: its architecture; else empty."""
    targets: tuple[str, ...] = ()
    """The GPUs that graphs were compiled for, each of which has a part."""
    origin: str = ""
    """Of a dump that was made of what others recorded, what that is: `TORCH_TRACE log`; else empty."""
    replay_of: str = ""
    """Of a part in which a recorded graph was compiled again: its name; else empty."""
    config: dict[str, str] = {}
    """What was set for that: setting of `torch._inductor.config` → value, as Python writes it."""
    denied: tuple[tuple[str, str], ...] = ()
    """Pairs of operations, or of groups of them, that fusion had to keep apart (`replay --deny`)."""
    fusions: Int64 | None = None
    """How many fusions were allowed (`bisect-fusions`); None: all that the scheduler wants."""
    numerics: NumericsRequest | None = None
    """Which calls were checked by `inspect-compile numerics`; None for none."""
    cache: str = "bypass"
    """`bypass`: torch's FX-graph and AOTAutograd caches missed while we watched; `keep`: they worked as always; `auto`:
    they served the compiles whose facts were kept from an earlier recording.
    """
    environment: dict[str, str] = {}
    """Of the environment only what changes a compile: the variables that begin with `TORCH`, `PYTORCH` or `TRITON`, and
    a fixed list of others. A value is kept if torch, Triton or CUDA is known to have that setting and it is of numbers
    and words (or a path, where the setting is one); else `…` stands for it.
    """
    notes: tuple[str, ...] = ()
    """What a reader should know, in sentences."""
    omitted: tuple[Omission, ...] = ()
    """One for each limit that kept something out of the dump."""
    tables: dict[str, Int64] | None = None
    """Bytes of each table when the process ended, those of all graphs together as `torchinductor/`: a dump with less is
    not complete, as a copy that broke off. None if the process could not write that (it was killed), and in dumps of
    earlier versions: of those nobody knows whether a graph was compiled that is not there.
    """


class Removed(msgspec.Struct, frozen=True):
    """One kind of thing that was taken out of a dump before it was shared."""

    what: str
    """The kind of thing."""
    count: int
    """How often."""
    stands_as: str = ""
    """What stands in the place of one of them."""


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of shared.json in a dump that came from `share`."""

    redacted: bool = False
    """Whether it was redacted."""
    source: bool = True
    """Whether it contains the program's source lines."""
    removed: tuple[Removed, ...] = ()
    """One for each kind of thing that was taken out."""
    left_out: tuple[Removed, ...] = ()
    """Files and lines that were left out."""
    remains: tuple[str, ...] = ()
    """What only the person who shares can remove, in sentences."""


class Hook(Fact, frozen=True, kw_only=True, tag="hook"):
    """One hook of a probe: where it is, its state and its cost.

    `graph` is empty.
    """

    table: ClassVar[str] = "probes"
    per_graph: ClassVar[bool] = False

    probe: str
    """The probe that it belongs to."""
    target: str
    """Dotted name of the torch function that it watches."""
    state: str
    """`installed`, `missing` (this torch has no such name), `failed` (it raised or took too long, and was turned off;
    said at once and at the end), `closed` (at the end).
    """
    reason: str = ""
    """Of a state that needs one."""
    since: str = ""
    """Of one that is `missing`, the first version of torch that was seen to have that name; where the run's torch is
    older, the hook is not listed as missing.
    """
    calls: Int64 = 0
    """How often it was called."""
    seconds: float = 0.0
    """What the calls took, in seconds. A full garbage collection that falls into a call is not counted, but for the
    first one: the program has as many without us.
    """


class Timed(Fact, frozen=True, kw_only=True, tag="timed"):
    """One run of a timer of torch's (`dynamo_timed`) during a compile, by torch's clock; or one call of what exports,
    compiles ahead of time, saves or loads.

    `graph` holds the compile id; empty if torch worked for no particular compile.
    """

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    name: str
    """torch's: `entire_frame_compile`, `GraphLowering.run`, `pass.post_grad_passes.remove_noop_ops`; of a call what
    torch's documentation names it: `torch.export.export`, `aoti_load_package`.
    """
    start: float
    """When it began, in seconds since the epoch."""
    seconds: float
    """What it took, all that ran inside of it included."""
    probes: float = 0.0
    """Of that our own probes; of hooks that are called all the time some calls are timed and count for the others, so
    that this comes in lumps.
    """
    thread: Int64 = 0
    """Number of the thread, in the order in which threads first ended a timer."""
    where: Location | None = None
    """Of a call the program's line; else `null`."""


class TimerBegan(Fact, frozen=True, kw_only=True, tag="timer_began"):
    """A timer of a whole stage began: tells, while a program compiles, what it is at. `graph` as of `Timed`."""

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    name: str
    """As in `timed`."""
    start: float
    """When it began, in seconds since the epoch."""


class FirstCall(Fact, frozen=True, kw_only=True, tag="first_call"):
    """The first call of a compiled graph, in which kernels are loaded, libraries set up, and some kernels tuned. On a
    GPU it ends when all launches are queued. `graph` holds the compile id.
    """

    table: ClassVar[str] = "times"
    per_graph: ClassVar[bool] = False

    part: str
    """`forward` (or inference), or `backward`."""
    start: float
    """When it began, in seconds since the epoch."""
    seconds: float
    """What it took; on a GPU until all launches were queued."""
    thread: Int64 = 0
    """As in `timed`."""


class Imported(Fact, frozen=True, kw_only=True, tag="imported"):
    """An import that took long, with all that it imports in turn: of torch, of the program's packages, or of parts of
    torch that are loaded by the first compile.

    `graph` is empty.
    """

    table: ClassVar[str] = "imports"
    per_graph: ClassVar[bool] = False

    module: str
    """`torch`, `torch._dynamo`, `transformers`."""
    start: float
    """When it began, in seconds since the epoch."""
    seconds: float
    """What it took, with all that it imports in turn."""


class Remark(Fact, frozen=True, kw_only=True, tag="remark"):
    """Something that the compiler did, missed or decided, for the user. Modelled on LLVM's optimization remarks."""

    table: ClassVar[str] = "remarks"
    per_graph: ClassVar[bool] = False

    kind: str
    """`passed`, `missed`, `analysis`."""
    code: str
    """A short name of what it is about."""
    message: str
    """What is to be said of it, in a sentence."""
    numbers: dict[str, float | Int64 | str] = {}
    """The numbers in that sentence, and others behind it."""
    knob: str | None = None
    """The setting that would change it."""
    where: str | None = None
    """Source line, `file.py:12`."""
    place: Location | None = None
    """The same with what is written there, and the calls that led to it."""
    ids: tuple[str, ...] = ()
    """FX nodes, buffers, operations or kernels that it is about."""
