"""The record of one finding, and how equal ones become one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeVar

import msgspec

from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.facts import Location
from inspect_compile.graph import grouped
from inspect_compile.knowledge.cost.sure import ESTIMATED, MEASURED, NOT_KNOWN, TIMED
from inspect_compile.knowledge.frontend.own_code import own_first, own_line
from inspect_compile.knowledge.overview.finding_kinds import TYPICAL_BANDWIDTH
from inspect_compile.knowledge.overview.findings import (
    BREAK,
    DOUBLE_PRECISION,
    FAILED,
    HALF_PRECISION,
    MEMORY,
    NUMERICS,
    SLOW_PROBES,
    UNROLLED,
)

N = TypeVar("N", int, float)
EACH_CALL: Final = "each call"
EACH_STEP: Final = "each step"
ONCE: Final = "once"
LEAST_BYTES: Final = 1024
"""What moves fewer bytes in a call is not listed."""
_LAST: Final = (UNROLLED, SLOW_PROBES, HALF_PRECISION, DOUBLE_PRECISION)
"""No step of the program is faster for it, or only with other numbers."""
NOTICEABLE: Final = 0.02
"""Share of a step from which a cost stands before graph breaks, of which no time is known."""


class Trial(msgspec.Struct, frozen=True):
    """What a compile with another value of the setting, which the dump has, showed."""

    value: str
    replay: int
    is_changed: bool
    """Whether the generated code differs."""
    kernels: tuple[int, int]
    """Before and after."""
    moved: tuple[int, int]
    """Bytes before and after."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="finding"):
    """Something that was missed, lost or odd, and that someone can act on. `show findings --json` prints these."""

    kind: str
    """The kind, as in `knowledge.overview.findings`."""
    graph: str
    """The first graph, or compile id, that it is about; empty for the run."""
    what: str
    parts: tuple[FindingSite, ...] = ()
    """Where: FX nodes, their operators in the program's words, and their lines, with the calls that led to them."""
    count: int = 1
    """How many times it was found: in so many layers, frames or calls."""
    seconds: float | None = None
    """What it costs, of all together: time on the device for each call, time of each step of the program, or time of
    compiling; None if not known.
    """
    when: str = EACH_CALL
    """each call, each step, or once."""
    share: float | None = None
    """Share of the step, between 0 and 1; None if it is not a part of a step that was profiled or tried."""
    sure: str = NOT_KNOWN
    """measured, timed a few times, estimated (the bytes at the device's bandwidth), or not known."""
    calls: int | None = None
    """Of how many calls a time on the device is the median, the fewest where there are several; of a step, of how many
    steps the mean, or how many runs with a change that was tried; None if not timed.
    """
    bytes: int | None = None
    """Bytes that are moved, of all together, or by which the peak is higher; None if it is not about bytes."""
    is_bound: bool = False
    """Both are upper bounds."""
    each_call: str = ""
    """What each call loses, in words, where it is not known in seconds or bytes."""
    why: str = ""
    to_do: str = ""
    is_torchs: bool = False
    """What to do is what torch says, which nobody tried."""
    instead: str = ""
    """What is better where it can be done: of what torch says, as programs show."""
    knob: str = ""
    """A setting that may change it; `trial` says whether that was tried."""
    trial: Trial | None = None
    names: tuple[str, ...] = ()
    """torch's names of the first one: two scheduler nodes, a kernel, a node."""
    buffers: tuple[str, ...] = ()


def parts_at(where: Location | None, node: str = "") -> tuple[FindingSite, ...]:
    """The parts of a finding about one line, and the FX node if there is one; empty without a line."""
    return () if where is None else (FindingSite(node, "", where),)


class Called(NamedTuple):
    """How a compile came to run."""

    frame: str
    """The frame that was compiled, maybe several times: a call runs one of its compiles."""
    compile_id: str
    where: Location | None
    """The user's own line that called it; None for the rest of a function, which no call begins."""


def merged(found: Iterable[Finding], called: Mapping[str, Called]) -> list[Finding]:
    """Equal findings as one with a count, the most expensive first, behind failed compiles, wrong results and breaks.

    `called`: graph or compile → how it came to run. That compiles of one frame were called from different lines does
    not make their findings different, nor do different lines of one function of a library.
    """

    def identity(one: Finding) -> tuple[object, ...]:
        by = called.get(one.graph)
        if one.kind == MEMORY:
            return one.kind, one.what, one.knob, one.graph if by is None else by.frame
        places = tuple((part.operator, _place(part.where, by)) for part in one.parts)
        return one.kind, one.what, one.when, places, one.why, one.knob

    return sorted((_one(same, called) for same in grouped(found, identity).values()), key=_order)


def _place(where: Location | None, called: Called | None) -> tuple[object, ...]:
    if where is None:
        return ()
    own = own_line(where)
    line = () if own is None else (own.file, own.line)
    below = () if own is where else (where.file, where.line if own is None else where.function or where.line)
    by = None if called is None else called.where
    is_call = called is not None and by is not None and line == (by.file, by.line)
    return (called.frame, *below) if is_call and called is not None else (*line, *below)


def _one(same: list[Finding], called: Mapping[str, Called]) -> Finding:
    first = same[0]
    if len(same) == 1:
        return first
    timed = list(_best_timed(same, called))
    return msgspec.structs.replace(
        first,
        count=sum(one.count for one in same),
        seconds=_together(timed, called, lambda one: one.seconds),
        bytes=_together(same, called, lambda one: one.bytes),
        is_bound=any(one.is_bound for one in same),
        sure=next(one for one in (ESTIMATED, TIMED, MEASURED, NOT_KNOWN) if one in {row.sure for row in timed}),
        calls=min((one.calls for one in timed if one.calls is not None), default=None),
        trial=next((one.trial for one in same if one.trial is not None), None),
    )


def _best_timed(same: list[Finding], called: Mapping[str, Called]) -> Iterator[Finding]:
    """Those whose seconds count: of the compiles of one frame the measured ones, where others ran a few times only."""
    frames = grouped(same, lambda one: called[one.graph].frame if one.graph in called else one.graph)
    for rows in frames.values():
        measured = any(one.sure == MEASURED for one in rows)
        yield from (one for one in rows if not (measured and one.sure == TIMED))


def _together(same: list[Finding], called: Mapping[str, Called], cost: Callable[[Finding], N | None]) -> N | None:
    """The sum over frames of the most expensive compile of each; compiling itself costs all of them."""
    known = [(one, value) for one in same if (value := cost(one)) is not None]
    if not known:
        return None
    if same[0].when == ONCE:
        return sum(value for _, value in known)
    frames: dict[str, dict[str, N]] = {}
    for one, value in known:
        by = called.get(one.graph, Called(one.graph, one.graph, None))
        compiles = frames.setdefault(by.frame, {})
        compiles[by.compile_id] = compiles[by.compile_id] + value if by.compile_id in compiles else value
    return sum(max(compiles.values()) for compiles in frames.values())


def _order(found: Finding) -> tuple[object, ...]:
    size = found.bytes or 0
    moved = 0 if found.kind == MEMORY else size
    likely = found.seconds if found.seconds is not None else moved / TYPICAL_BANDWIDTH
    where = found.parts[0].where if found.parts else None
    # What a graph break costs is not known, and nothing behind it can make up for it.
    ranks = (FAILED, NUMERICS, "", BREAK)
    first = next((rank for rank, kind in enumerate(ranks) if found.kind == kind), len(ranks))
    if found.share is not None and found.share >= NOTICEABLE:
        first = 2
    if found.kind in _LAST:
        first = len(ranks) + 1
    return first, -likely, -size, own_first(where), found.what
