"""Trials of `tune`: a program that runs with something changed from outside, how fast its steps were, and its numbers.

A trial is asked for and answered in files, since its process writes no dump.
"""

from typing import ClassVar, Final, Literal

import msgspec

from inspect_compile.facts.base import Fact, Int64

RESULTS: Final = "results.pt"
"""The file of the results that others are compared with."""

COMPILED_CALL: Final = "compiled call"
OPTIMIZER_STEP: Final = "optimizer step"

RETURNED: Final = "result"
"""What the names of results of compiled calls begin with; the others are gradients."""

WARM: Final = 4
"""How many steps after the last compile do not count: CUDA graphs run plainly, are recorded, and run again."""

WANTS_TURN: Final = b"."
IS_TIMED: Final = b"!"
"""What a trial writes to the socket of its turns: it waits for one, or has had them all and waits to be let go."""

KEPT: Final = "kept"
NO_GAIN: Final = "no gain"
NUMBERS: Final = "changes the numbers"
PRECISION: Final = "precision"
"""It helps and computes with another precision: kept only if that is asked for."""
NOT_COMPARED: Final = "not compared"
"""Of a change it helps, of numbers there are none to compare."""
FAILED: Final = "failed"

BEFORE_TORCH: Final = "starting"
IMPORTING: Final = "importing torch"
BEFORE_STEPS: Final = "before steps"
COMPILING: Final = "compiling"
STEPPING: Final = "not timed"
WAITING: Final = "waiting"
TIMED: Final = "timed"
COMPARING: Final = "comparing"
ENDING: Final = "ending"
STAGES: Final = (
    BEFORE_TORCH, IMPORTING, BEFORE_STEPS, COMPILING, STEPPING, WAITING, TIMED, COMPARING, ENDING,
)  # fmt: skip
"""What a trial spends its time on, in about this order: up to the import of torch; that; up to the first step;
compiles; steps before, between and behind those that are timed; waiting for its turn, or for others to have had all of
theirs; its turns; comparing and writing the results; the end of its process.
"""

COMPILE: Final = "torch.compile"
"""What a change of kind `keyword` that is about calls of torch.compile changes; others name a class: an optimizer's, or
`LOADER`.
"""
LOADER: Final = "DataLoader"


class Place(msgspec.Struct, frozen=True, order=True):
    """A line of a file."""

    file: str
    """The file."""
    line: Int64
    """The line in it."""
    column: Int64 = -1
    """Where the call begins in it, in bytes of UTF-8; -1 if that is not known."""

    def covers(self, other: "Place") -> bool:
        """Is it the same place, or the line that the other one is in?"""
        return (self.file, self.line) == (other.file, other.line) and self.column in (-1, other.column)


class Change(msgspec.Struct, frozen=True):
    """One change of a program, made from outside while it runs, or by a line of a patch."""

    kind: Literal["keyword", "call", "setting"]
    """`keyword`: an argument of the calls of `of` at `places`; `call`: `of(value)` once torch is imported; `setting`:
    the attribute `of` of torch's modules is `value`.
    """
    of: str
    """torch.compile, a class of torch.optim, DataLoader, or the dotted name that is called or set."""
    value: bool | int | float | str | None
    """The value."""
    keyword: str = ""
    """Of a `keyword`, the name of the argument."""
    places: tuple[Place, ...] = ()
    """Where the calls are that it is about."""

    @property
    def words(self) -> str:
        """The change as a person would write it."""
        if self.kind == "keyword":
            return f"{self.of}({self.keyword}={self.value!r})"
        return f"{self.of}({self.value!r})" if self.kind == "call" else f"{self.of} = {self.value!r}"


class Repeated(msgspec.Struct, frozen=True):
    """Something that the program does again and again from one line, so that it may bound steps."""

    what: str
    """`compiled call` or `optimizer step`."""
    name: str
    """The function or class."""
    where: Place
    """The line that calls it."""
    count: Int64 = 0
    """How often it was done."""
    covers: float = 0.0
    """Seconds from the first time to the last one."""
    since_compile: Int64 = 0
    """How often it was done after the last compile."""
    seconds: float = 0.0
    """The median time from one to the next one, after the last compile."""


class Constructed(msgspec.Struct, frozen=True):
    """A call that a change of kind `keyword` could be about."""

    of: str
    """torch.compile, a class of torch.optim, or DataLoader."""
    where: Place
    given: dict[str, str]
    """The keyword arguments that it was called with, as texts."""
    device: str = ""
    """Of an optimizer: the type of the device of all its parameters; empty if there are several."""
    is_floating: bool = True
    """Of an optimizer: whether all parameters are floating-point."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial is to do."""

    answer: str
    """The file that `Answer` is written to."""
    asked: float = 0.0
    """When it was asked for, by `time.monotonic`."""
    results: str
    """The folder of the results that others are compared with."""
    is_reference: bool = False
    """Write the results there, in the place of comparing them."""
    changes: tuple[Change, ...] = ()
    step: Repeated | None = None
    """What bounds a step; None to find what repeats."""
    windows: Int64 = 7
    """How many spans of `steps` steps are timed, each as a whole."""
    steps: Int64 = 1
    settle: Int64 = 1
    """How many steps before each of them do not count: another trial was running until then."""
    turns: Int64 = -1
    """A socket's file descriptor: a byte is written to it where a span could begin, and one is read before it does; so
    trials take turns. The same at the end of the last one. -1: nobody is waited for.
    """
    is_nudged: bool = False
    """Move each parameter by one rounding before the first optimizer steps: how far does that move the results?"""
    seconds: float = 10.0
    """How long to look for what repeats, after the last compile; a third of it if something does so very often."""


class Distance(msgspec.Struct, frozen=True):
    """How far one result is from that of the reference."""

    name: str
    dtype: str
    error: float
    """The largest difference of two elements, as a part of the reference's root mean square; infinite where sizes,
    dtypes or places of NaN and Inf differ; 0 where the bits are equal.
    """


class Window(msgspec.Struct, frozen=True):
    """A span of steps that was timed."""

    turn: Int64
    """Which one it was of this trial; trials that take turns do so in the same order."""
    seconds: float
    """Of a step, the mean."""


class Spent(msgspec.Struct, frozen=True):
    """Time of a trial."""

    on: str
    """`starting` (what the program does before it imports torch), `importing torch`, `before steps`, `compiling`, `not
    timed` (steps before, between and behind the timed ones), `waiting` (for its turn, and until others have had
    theirs), `timed`, `comparing` (results) or `ending`.
    """
    seconds: float
    """How long, in seconds."""


class Loaded(msgspec.Struct, frozen=True):
    """What torch's compiler has loaded and found out in a process behind the import of torch."""

    modules: tuple[str, ...]
    """Of torch and of what its compiler is made of."""
    has_cuda: bool
    """What `torch.cuda.is_available` says."""
    knows_isa: bool
    """Which vector instructions C++ kernels can use: it compiles and runs programs to find that out."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial saw."""

    main: str = ""
    """The file that is run."""
    repeated: tuple[Repeated, ...] = ()
    windows: tuple[Window, ...] = ()
    constructed: tuple[Constructed, ...] = ()
    distances: tuple[Distance, ...] = ()
    results: Int64 = 0
    """How many results were kept or compared."""
    device: str = ""
    """The GPU's name, or `cpu`."""
    threads: Int64 = 0
    peak_bytes: Int64 = 0
    """Of the device's allocator; on a CPU of the process."""
    memory_bytes: Int64 = 0
    """What the device has; on a CPU the machine."""
    compiles: Int64 = 0
    compile_seconds: float = 0.0
    stages: tuple[Spent, ...] = ()
    """Where its time went until this was written."""
    answered: float = 0.0
    """When that was, by `time.monotonic`, which all processes of a machine share."""
    cpu_seconds: float = 0.0
    """Of its process and of those that it has waited for, until then."""
    loaded: Loaded | None = None
    """Of the reference; None if the program has changed its environment since the import of torch, which some of
    torch's modules read when they are loaded.
    """
    is_stopped: bool = False
    """Ended by the trial, once it had seen enough."""
    trouble: str = ""
    """What of the request could not be done."""


class TrialRun(Fact, frozen=True, kw_only=True, tag="trial_run"):
    """One run of the program that `tune` made, and where its time went.

    `graph` is empty.
    """

    table: ClassVar[str] = "trials"
    per_graph: ClassVar[bool] = False

    number: Int64
    """The number of the run, with which the names of its files in the folder `trials` begin."""
    beside: Int64
    """The number of the first of the runs that were at the same time."""
    words: str
    """What was changed; empty for the program as it is."""
    began: float
    """Seconds since the first run began."""
    seconds: float
    """How long it took until its process had ended, and that of those beside it which are looked at first."""
    stages: tuple[Spent, ...] = ()
    """What they went to; empty where the run gave no answer."""
    cpu_seconds: float = 0.0
    """Of its process until it answered."""
    why_not_ahead: str = ""
    """Why it began no later than where the import of torch ended, or as a process of its own, and not as a fork of one
    that had loaded torch's compiler, too; empty for these.
    """


class TriedChange(Fact, frozen=True, kw_only=True, tag="tried_change"):
    """One change that `tune` tried on the program of this dump; the last row of the same `words` counts.

    `graph` is empty.
    """

    table: ClassVar[str] = "tried"
    per_graph: ClassVar[bool] = False

    words: str
    """The change as Python writes it: `AdamW(fused=True)`."""
    changes: tuple[Change, ...]
    """What it consists of."""
    outcome: str
    """`kept`, `no gain`, `changes the numbers`, `precision`, `not compared` or `failed`."""
    predicted: float | None = None
    """The most that it could save of a step, as the findings said before it was tried; None where none is about it."""
    promised_by: str = ""
    """The kind of these findings."""
    gain: float | None = None
    """The part of a step's time that it saves; negative where the step became slower."""
    plus_minus: float | None = None
    """Half the width of the interval in which that is, at 95 %."""
    pairs: Int64 = 0
    """How many runs beside a run without it that rests on."""
    numbers: str = ""
    """`equal`, `rounding`, `differ` (with what and how far), or why they were not compared."""
    peak_bytes: Int64 = 0
    """The largest memory of the run with it."""
    compile_seconds: float = 0.0
    """What compiling took in the run with it."""
    why: str = ""
    """How it failed."""

    @property
    def places(self) -> list[Place]:
        """The lines that it is about."""
        return sorted({place for change in self.changes for place in change.places})


class Tuned(Fact, frozen=True, kw_only=True, tag="tuned"):
    """What `tune` measured of the program as it is, and of all changes together that it kept.

    `graph` is empty.
    """

    table: ClassVar[str] = "tried"
    per_graph: ClassVar[bool] = False

    step: Repeated
    """What bounds a step, as often and as fast as it was done in the first run."""
    device: str
    """The GPU's name, or `cpu`."""
    seconds: float
    """The median of a step."""
    noise: float
    """The smallest share of a step that counts as a gain: what runs of the program beside itself differ by."""
    runs: Int64
    """How many runs that rests on."""
    steps: Int64
    """How many steps were timed in these runs."""
    peak_bytes: Int64 = 0
    """Of the device's allocator; on a CPU of the process."""
    eager: float | None = None
    """Seconds of a step without torch.compile; None where that did not run."""
    together: float | None = None
    """The part of a step's time that all kept changes save together, measured once more."""
    plus_minus: float | None = None
    """Half the width of the interval in which that is, at 95 %; None where none was kept."""
    is_confirmed: bool = True
    """Whether that is a gain, too."""
    patch: str = ""
    """The file of the diff."""
    is_interrupted: bool = False
    """Whether Ctrl-C ended the search."""
    is_baseline: bool = False
    """Whether nothing was to be tried: `tune --beside-eager`."""
