"""A schedule reduced to what the findings are about: two launches that were not fused, a copy, a kernel that spills;
and to the other pairs that fusion left apart although they share bytes.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import left_apart
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.diagrams.picture import Arrow, ArrowKind, Box, Picture, Section
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.boxes import Boxes
from inspect_compile.diagrams.schedule.folded import section_of
from inspect_compile.diagrams.schedule.folding import each_unit
from inspect_compile.diagrams.schedule.part import restricted
from inspect_compile.diagrams.schedule.schedule import outputs_text, title
from inspect_compile.diagrams.schedule.units import Schedule, schedule
from inspect_compile.graph import CompiledGraph, Id, grouped
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.knowledge.overview.findings import MISSED_FUSION
from inspect_compile.tables.text import byte_text, number_of, one_line, place_text

MOST: Final = 20
"""Findings that are drawn, the most expensive first."""
MOST_OTHERS: Final = 6
"""Pairs that are drawn of those that nobody can join."""
_WIDTH: Final = 40
_LINES: Final = 4
"""Maximum length and number of the lines of a reason; the tooltip has all of it."""


class _Told(NamedTuple):
    """A finding, or a pair that stayed apart, in the words of the picture."""

    units: tuple[int, ...]
    kind: ArrowKind | None
    """Of the line between two launches; None for what is about one."""
    head: str
    """`not fused: 65.5 kB, × 12`."""
    why: str
    makers: tuple[int, ...]
    """The units that write what it is about."""
    tooltip: tuple[str, ...]


def findings_picture(graph: "CompiledGraph") -> Picture | None:
    """The launches that findings are about, those that stayed apart, and what goes between them; None if there are
    none.

    Equal findings are one with a count, of which the first is drawn.
    """
    whole = schedule(graph, "post_fusion")
    places = _Places(whole)
    every = findings(graph)
    about = [finding for row in every if (finding := _of_finding(row, places)) is not None]
    known = {frozenset(finding.units) for finding in about}
    others = [finding for finding in _apart(graph, places) if frozenset(finding.units) not in known]
    shown = [*about[:MOST], *others[:MOST_OTHERS]]
    if not shown:
        return None
    needed = sorted({unit for finding in shown for unit in (*finding.units, *finding.makers)})
    part = restricted(whole, (whole.units[place] for place in needed))
    boxes = Boxes.of(graph, "post_fusion", part, None)
    drawn = section_of(boxes, part, each_unit(part))
    box_of = {place: f"fold_{number}" for number, place in enumerate(needed)}
    lines: dict[str, list[str]] = defaultdict(list)
    pairs = []
    for finding in shown:
        if finding.kind is not None:
            pairs.append(_pair(finding, box_of))
        else:
            for unit in finding.units:
                lines[box_of[unit]].append(finding.head)
    inner = tuple(_with(one, lines.get(one.id, ())) if isinstance(one, Box) else one for one in drawn.inner)
    found = number_of(len(about), "finding") if about else "no finding"
    apart = f", and {number_of(len(others), 'other pair')} left apart" if others else ""
    launches = number_of(len(whole.units), "launch", "launches")
    subtitles = [graph.name, f"{launches}: {found}{apart}; {len(part.units):,} launches drawn"]
    if len(shown) < len(about) + len(others):
        subtitles.append(f"the {len(shown)} most expensive of them")
    if len(every) > len(about):
        subtitles.append(f"{number_of(len(every) - len(about), 'finding')} about other things: show findings")
    return Picture(
        title(graph, "findings"),
        (*subtitles, *words.file_subtitle(boxes.file)),
        (Section(inner, (*drawn.arrows, *pairs)),),
        outputs=outputs_text(graph),
    )


class _Places:
    """The units that names are of."""

    def __init__(self, whole: Schedule) -> None:
        self._of_group: dict[Id, int] = {}
        self._of_kernel: dict[Id, list[int]] = defaultdict(list)
        self._makers: dict[Id, int] = {}
        for place, unit in enumerate(whole.units):
            for group in unit.groups:
                self._of_group[group.key] = place
            for one in unit.operations():
                self._of_group.setdefault(Id.of(one), place)
                self._makers.update(dict.fromkeys((Id(one.graph, buffer) for buffer in one.buffers), place))
            if unit.launch is not None:
                self._of_kernel[Id(unit.graph, unit.launch.kernel.name)].append(place)

    def of(self, graph: str, names: Sequence[str], buffers: Sequence[str]) -> tuple[int, ...]:
        """In the order of the names; of a kernel that is launched several times, the launch that writes the buffers."""
        found: dict[int, None] = {}
        for name in names:
            if (place := self._of_group.get(Id(graph, name))) is not None:
                found[place] = None
                continue
            launches = self._of_kernel.get(Id(graph, name), [])
            own = self.makers(graph, buffers)
            found.update(dict.fromkeys([place for place in launches if place in own] or launches[:1]))
        return tuple(found)

    def makers(self, graph: str, buffers: Sequence[str]) -> tuple[int, ...]:
        """The units that write the buffers."""
        return tuple(self._makers[key] for buffer in buffers if (key := Id(graph, buffer)) in self._makers)


def _of_finding(row: Finding, places: _Places) -> _Told | None:
    """None for what is about no launch."""
    units = places.of(row.graph, row.names, row.buffers)
    if not units:
        return None
    is_pair = row.kind == MISSED_FUSION and len(units) == 2
    what = "not fused:" if row.kind == MISSED_FUSION else f"{words.shortened(row.what, _WIDTH)},"
    size = f" {'at most ' * row.is_bound}{byte_text(row.bytes)}" if row.bytes is not None else ""
    head = f"{what}{size}".rstrip(",:") + (f", × {row.count}" if row.count > 1 else "")
    tooltip = (head, row.why, *_parts(row.parts), row.to_do)
    return _Told(units, "missed" if is_pair else None, head, row.why, places.makers(row.graph, row.buffers), tooltip)


def _apart(graph: "CompiledGraph", places: _Places) -> Iterator[_Told]:
    """The pairs that fusion left apart, equal ones as one, the most expensive first."""
    for same in grouped(left_apart(graph), _identity).values():
        row = same[0]
        units = places.of(row.graph, (row.a, row.b), row.buffers)
        if len(units) == 2:
            reason = by_code(row.code)
            why = reason.meaning if reason is not None else row.reason
            if row.between:
                why = f"{row.between[0].operator or row.between[0].name} must run between the two"
            size = sum(one.saved_bytes for one in same)
            bound = "at most " * any(one.is_unsure for one in same)
            head = f"not fused: {bound}{byte_text(size)}" + (f", × {len(same)}" if len(same) > 1 else "")
            tooltip = (head, why, row.reason, *_parts(row.parts))
            yield _Told(units, "apart", head, why, places.makers(row.graph, row.buffers), tooltip)


def _identity(row: Miss) -> tuple[object, ...]:
    return row.code, tuple((part.operator, place_text(part.where)) for part in row.parts)


def _parts(parts: Sequence[FindingSite]) -> list[str]:
    return [f"{part.operator or part.node}  {words.place_and_code(part.where)}" for part in parts]


def _pair(finding: _Told, box_of: dict[int, str]) -> Arrow:
    why = wrap(one_line(finding.why)[:400] or "no reason was recorded", _WIDTH)
    if len(why) > _LINES:
        why = [*why[: _LINES - 1], words.shortened(" ".join(why[_LINES - 1 :]), _WIDTH)]
    one, other = (box_of[unit] for unit in finding.units)
    return Arrow(one, other, finding.kind or "missed", (finding.head, *why), words.tooltip(finding.tooltip))


def _with(box: Box, lines: Sequence[str]) -> Box:
    return replace(box, lines=(*box.lines, *lines)) if lines else box
