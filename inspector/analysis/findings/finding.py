"""The record of one finding, and how equal ones become one."""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.rows import grouped
from inspect_compile.analysis.fusion.part import Part
from inspect_compile.facts import Location
from inspect_compile.knowledge.cost.sure import ESTIMATED, MEASURED, NOT_KNOWN
from inspect_compile.knowledge.frontend.own_code import own_first, own_line
from inspect_compile.knowledge.overview.findings import NUMERICS, TYPICAL_BANDWIDTH

EACH_CALL: Final = "each call"
ONCE: Final = "once"


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
    parts: tuple[Part, ...] = ()
    """Where: FX nodes, their operators in the program's words, and their lines, with the calls that led to them."""
    count: int = 1
    """How many times it was found: in so many layers, frames or calls."""
    seconds: float | None = None
    """What it costs, of all together: time on the device for each call, or time of compiling; None if not known."""
    when: str = EACH_CALL
    """each call, or once."""
    sure: str = NOT_KNOWN
    """measured, estimated (the bytes at the device's bandwidth), or not known."""
    bytes: int | None = None
    """Bytes that are moved or held, of all together; None if it is not about bytes."""
    is_bound: bool = False
    """Both are upper bounds."""
    why: str = ""
    to_do: str = ""
    knob: str = ""
    """A setting that may change it; `trial` says whether that was tried."""
    trial: Trial | None = None
    names: tuple[str, ...] = ()
    """torch's names of the first one: two scheduler nodes, a kernel, a node."""
    buffers: tuple[str, ...] = ()


def parts_at(where: Location | None, node: str = "") -> tuple[Part, ...]:
    """The parts of a finding about one line, and the FX node if there is one; empty without a line."""
    return () if where is None else (Part(node, "", where),)


def merged(found: Iterable[Finding]) -> list[Finding]:
    """Equal findings as one with a count, the most expensive first: wrong results, then by what they cost."""
    return sorted((_one(same) for same in grouped(found, _identity).values()), key=_order)


def _identity(found: Finding) -> tuple[object, ...]:
    places = tuple((part.operator, _place(part.where)) for part in found.parts)
    return found.kind, found.what, found.when, places, "" if found.kind == "missed" else found.why, found.knob


def _place(where: Location | None) -> tuple[object, ...]:
    own = None if where is None else own_line(where)
    return () if where is None else (where.file, where.line, *(() if own is None else (own.file, own.line)))


def _one(same: list[Finding]) -> Finding:
    first = same[0]
    if len(same) == 1:
        return first
    seconds = [one.seconds for one in same if one.seconds is not None]
    sizes = [one.bytes for one in same if one.bytes is not None]
    return msgspec.structs.replace(
        first,
        count=sum(one.count for one in same),
        seconds=sum(seconds) if seconds else None,
        bytes=sum(sizes) if sizes else None,
        is_bound=any(one.is_bound for one in same),
        sure=next(one for one in (ESTIMATED, MEASURED, NOT_KNOWN) if one in {row.sure for row in same}),
        trial=next((one.trial for one in same if one.trial is not None), None),
    )


def _order(found: Finding) -> tuple[object, ...]:
    size = found.bytes or 0
    likely = found.seconds if found.seconds is not None else size / TYPICAL_BANDWIDTH
    where = found.parts[0].where if found.parts else None
    return found.kind != NUMERICS, -likely, -size, own_first(where), found.what
