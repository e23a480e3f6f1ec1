"""The processes of a run, those that compile nothing too: when each began and ended, and what it did meanwhile."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Stretch(Fact, frozen=True, kw_only=True, tag="stretch"):
    """A time of 0.1 s or more in which nothing that is watched began or ended in a process, and what its main thread
    used of the processors meanwhile: one that waits uses nothing. Seconds.

    `graph` is empty.
    """

    table: ClassVar[str] = "stretches"
    per_graph: ClassVar[bool] = False

    start: float
    """When it began, in seconds since the epoch."""
    seconds: float
    """How long it was."""
    before: float
    """Processor time of the main thread until it began."""
    main: float
    """Processor time of the main thread in it."""
    children: float = 0.0
    """Processor time of the processes that it started and that ended meanwhile, and of theirs, to 0.01 s: of their
    whole lives.
    """
    queued: float | None = None
    """Seconds in which the main thread was ready to run, and had no processor: others had them. None where Linux does
    not say, and before torch's compiler was loaded.
    """


class ImportSpan(msgspec.Struct, frozen=True):
    """An import that took 10 ms or more."""

    module: str
    """`torch`, `transformers`."""
    start: float
    """When it began, in seconds since the epoch."""
    seconds: float
    """What it took, with all that it imports in turn."""


class StretchSpan(msgspec.Struct, frozen=True):
    """As a `stretch`, of a process without a part of its own."""

    start: float
    """When it began, in seconds since the epoch."""
    seconds: float
    """How long it was."""
    before: float
    """Processor time of the main thread until it began, in seconds."""
    main: float
    """Processor time of the main thread in it, in seconds."""
    children: float
    """Processor time of the processes that it started and that ended meanwhile, in seconds."""
    queued: float | None = None
    """Seconds in which its main thread had no processor though it was ready to run; None if that is not known."""


class ParentSeen(msgspec.Struct, frozen=True):
    """What a process saw of the one that started it."""

    at: float
    """When, in seconds since the epoch."""
    main: float
    """Processor time of the parent's main thread so far, to 0.01 s."""
    waits_in: str = ""
    """The function of Linux's kernel that its main thread waited in, as `do_wait`; empty where it was at work, or the
    system does not say.
    """


class ProcessLife(Fact, frozen=True, kw_only=True, tag="process_life"):
    """What a Python process of a run did so far. Written when it has imported torch, when it starts another process
    (once a second at most), and at its end: the rows of one process add up. One that is killed leaves what it had.

    `graph` is empty.
    """

    table: ClassVar[str] = "processes"
    per_graph: ClassVar[bool] = False

    pid: Int64
    """Its process id."""
    parent_pid: Int64 = 0
    """The process that started it."""
    name: str = ""
    """Its script or module: `serve.py`, `-m vllm.entrypoints.cli`, `-c`; not its arguments. Of a process of
    multiprocessing the name that it was given: `EngineCore`.
    """
    born: float | None = None
    """When the system started it, in seconds since the epoch, to 0.01 s; None if that is not known."""
    started: float = 0.0
    """The first moment of ours in it: the interpreter has begun."""
    last: float = 0.0
    """When this was written."""
    is_last: bool = False
    """Whether that was at its end: the last that it does is to take itself down, after all exit handlers."""
    used: float = 0.0
    """Processor time of the process so far, and of the processes that it waited for, to 0.01 s."""
    imports: tuple[ImportSpan, ...] = ()
    """Since the row before; none where the process has a part of its own, which has them."""
    stretches: tuple[StretchSpan, ...] = ()
    """Since the row before, without those that are in a part of its own."""
    parent: tuple[ParentSeen, ...] = ()
    """At its beginning and at its end."""


class ProcessEnd(Fact, frozen=True, kw_only=True, tag="process_end"):
    """The end of a process, as seen by the one that it left behind to make the derived files. `graph` is empty."""

    table: ClassVar[str] = "processes"
    per_graph: ClassVar[bool] = False

    pid: Int64
    """Its process id."""
    at: float
    """When it was gone, in seconds since the epoch."""


class Ready(Fact, frozen=True, kw_only=True, tag="ready"):
    """What the run was asked to see as the end of its start (`run --ready`), and once more when it was seen. `graph` is
    empty.
    """

    table: ClassVar[str] = "processes"
    per_graph: ClassVar[bool] = False

    text: str
    """What a line had to have; `:8000` for a port that is listened on."""
    at: float | None = None
    """When it was seen first, in seconds since the epoch; None where it was asked for."""
    where: str = ""
    """`stdout`, `stderr`, `stdout, stderr` where both are one file, `terminal`, or `port`."""
