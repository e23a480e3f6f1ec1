"""The scheduler's graph of one compiled graph, before and after fusion."""

from typing import TYPE_CHECKING, Final, get_args

from inspect_compile.diagrams.dot import dot_text
from inspect_compile.diagrams.picture import Box, Frame, Picture, Section
from inspect_compile.diagrams.schedule.arrows import Arrows
from inspect_compile.diagrams.schedule.boxes import Boxes
from inspect_compile.diagrams.schedule.folded import folded_section
from inspect_compile.diagrams.schedule.folded import subtitles as fold_subtitles
from inspect_compile.diagrams.schedule.heat import Heat
from inspect_compile.diagrams.schedule.sections import cuts
from inspect_compile.diagrams.schedule.units import Key, Phase, Schedule, Unit, schedule
from inspect_compile.tables.text import file_name, number_of

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.pair_story import ResolvedOperations
    from inspect_compile.dump import Dump

CURVES_UP_TO: Final = 700
"""Number of operations; in larger pictures arrows are straight, and tooltips tell only what nothing else does."""

LABELS_UP_TO: Final = 8000
"""Number of operations; in larger pictures arrows have no labels, and the legend says so."""

FOLDED_FROM: Final = 300
"""Number of scheduler nodes from which on a schedule is folded by itself."""

PHASES: Final[dict[Phase, str]] = {"pre_fusion": "before fusion", "post_fusion": "after fusion"}


def schedule_dot(
    dump: "Dump",
    graph: str,
    phase: Phase,
    *,
    around: "ResolvedOperations | None" = None,
    depth: int = 2,
    refused: bool = False,
    heat: Heat | None = None,
    fold: bool | None = None,
) -> str:
    """The schedule of `graph`, nested graphs included, as DOT; the same facts give the same text.

    `fold` draws each kernel as one box, and what repeats once; None: if there are many, and nothing else was asked for.
    `around` keeps only what is at most `depth` arrows from one of those operations. `refused` adds the pairs that were
    not fused, before fusion. `heat` colours by what was measured, in place of the kinds of operations.
    """
    return dot_text(
        schedule_picture(dump, graph, phase, around=around, depth=depth, refused=refused, heat=heat, fold=fold)
    )


def schedule_picture(
    dump: "Dump",
    graph: str,
    phase: Phase,
    *,
    around: "ResolvedOperations | None" = None,
    depth: int = 2,
    refused: bool = False,
    heat: Heat | None = None,
    fold: bool | None = None,
) -> Picture:
    """The picture that `schedule_dot` writes."""
    if phase not in get_args(Phase):
        raise ValueError(f"{phase}: a phase is one of {', '.join(get_args(Phase))}")
    whole = schedule(dump, graph, phase)
    if fold or (fold is None and around is None and not refused and is_folded(whole)):
        return _folded(dump, graph, phase, whole, heat)
    units = list(whole.units)
    if around is not None:
        units = _around(whole, frozenset((around.graph, name) for name in around.operations), depth)
    position = {
        (operation.graph, operation.name): index for index, unit in enumerate(units) for operation in unit.operations()
    }
    spans = [
        (position[link.tail], position[link.head])
        for link in whole.links
        if not link.is_order and link.tail in position and link.head in position
    ]
    ranges = cuts([sum(1 for _ in unit.operations()) for unit in units], spans)
    section_of_unit = {index: section for section, span in enumerate(ranges) for index in span}
    section_of = {key: section_of_unit[index] for key, index in position.items()}
    size = sum(1 for unit in units for _ in unit.operations())
    boxes = Boxes.of(dump, graph, phase, whole, heat, is_brief=size > CURVES_UP_TO)
    arrows = Arrows(whole, boxes, section_of)
    sections = tuple(
        _section(number, [units[index] for index in span], boxes, arrows, dump if refused else None)
        for number, span in enumerate(ranges)
    )
    return Picture(
        _title(dump, graph, phase),
        (
            *_subtitles(whole, graph, size, around.asked if around is not None else None, depth),
            *(heat.subtitles if heat is not None else ()),
        ),
        sections,
        outputs="returned, or saved for backward" if _kind(dump, graph) == "forward" else "returned",
        has_curves=size <= CURVES_UP_TO,
        has_labels=size <= LABELS_UP_TO,
    )


def is_folded(whole: Schedule) -> bool:
    """True for a schedule that is folded unless somebody asks for all of it."""
    return sum(1 for unit in whole.units for _ in unit.groups) >= FOLDED_FROM


def _folded(dump: "Dump", graph: str, phase: Phase, whole: Schedule, heat: Heat | None) -> Picture:
    section, found = folded_section(dump, graph, phase, whole, heat)
    return Picture(
        _title(dump, graph, phase),
        (
            *_subtitles(whole, graph, 0, None, 0),
            *fold_subtitles(whole, found),
            *(heat.subtitles if heat is not None else ()),
        ),
        (section,),
        outputs="returned, or saved for backward" if _kind(dump, graph) == "forward" else "returned",
    )


def _around(schedule: Schedule, keys: frozenset[Key], depth: int) -> list[Unit]:
    """The units at most `depth` arrows from those that have one of the operations, in schedule order."""
    unit_of: dict[Key, int] = {
        (operation.graph, name): index
        for index, unit in enumerate(schedule.units)
        for operation in unit.operations()
        for name in (operation.name, *operation.members)
    }
    neighbours: dict[int, set[int]] = {}
    for link in schedule.links:
        neighbours.setdefault(unit_of[link.tail], set()).add(unit_of[link.head])
        neighbours.setdefault(unit_of[link.head], set()).add(unit_of[link.tail])
    found = {unit_of[key] for key in keys if key in unit_of}
    edge = found
    for _ in range(depth):
        edge = {near for index in edge for near in neighbours.get(index, ())} - found
        found = found | edge
    return [unit for index, unit in enumerate(schedule.units) if index in found]


def _section(number: int, units: list[Unit], boxes: Boxes, arrows: Arrows, refusals_of: "Dump | None") -> Section:
    """The boxes of a part of the schedule: consecutive units of one nested graph share a frame."""
    inner: list[Frame | Box] = []
    found = arrows.of_section(number, units)
    run: list[Frame | Box] = []
    for index, unit in enumerate(units):
        first = unit.groups[0].key
        run += [*found.before.get(first, []), *boxes.unit(unit, arrows.folded), *found.after.get(first, [])]
        if index + 1 == len(units) or units[index + 1].graph != unit.graph:
            inner += run if unit.graph == boxes.graph else [boxes.nested(unit.graph, number, tuple(run))]
            run = []
    refused = arrows.refused(refusals_of, number) if refusals_of is not None else []
    return Section(tuple(inner), (*found.arrows, *refused), arrows.below(units))


def _kind(dump: "Dump", graph: str) -> str:
    row = dump.graph(graph)
    return row.kind if row is not None else ""


def _title(dump: "Dump", graph: str, phase: Phase) -> str:
    row = dump.graph(graph)
    program = file_name(dump.run.argv[0]) if dump.run.argv else ""
    which = f"{row.kind} {row.compile_id or ''}".strip() if row is not None else ""
    return " · ".join(part for part in (program, which, PHASES[phase]) if part)


def _subtitles(whole: Schedule, graph: str, size: int, around: str | None, depth: int) -> tuple[str, ...]:
    operations = [operation for unit in whole.units for operation in unit.operations()]
    lines = [graph, number_of(len(operations), "operation")]
    generated = sum(unit.is_kernel for unit in whole.units)
    calls = sum(unit.launch is not None and not unit.is_kernel for unit in whole.units)
    if generated:
        lines[-1] += f" in {number_of(generated, 'generated kernel')}"
    if calls:
        lines[-1] += f" {'and' if generated else 'in'} {number_of(calls, 'call')} of existing ones"
    if not operations:
        lines[-1] = "nothing was scheduled"
    if around is not None:
        lines.append(f"here {number_of(size, 'operation')}: up to {number_of(depth, 'arrow')} from {around}")
    if size > LABELS_UP_TO:
        lines.append("too many for labels on arrows: point at one for its buffers and bytes")
    return tuple(lines)
