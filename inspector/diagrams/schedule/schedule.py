"""The scheduler's graph of one compiled graph, before and after fusion."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, get_args

from inspect_compile.diagrams.dot import dot_text
from inspect_compile.diagrams.picture import Arrow, Box, Frame, Picture, Section
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.arrows import Arrows
from inspect_compile.diagrams.schedule.boxes import Boxes, one_file
from inspect_compile.diagrams.schedule.folded import folded_section
from inspect_compile.diagrams.schedule.folded import subtitles as fold_subtitles
from inspect_compile.diagrams.schedule.heat import Heat
from inspect_compile.diagrams.schedule.part import around as near_to
from inspect_compile.diagrams.schedule.part import on_the_way, restricted, units_with
from inspect_compile.diagrams.schedule.sections import LONGEST, cuts
from inspect_compile.diagrams.schedule.units import Phase, Schedule, Unit, schedule
from inspect_compile.graph import Id
from inspect_compile.tables.text import file_name, number_of

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.pair_choice import ResolvedOperations
    from inspect_compile.graph import CompiledGraph

CURVES_UP_TO: Final = 700
"""Number of operations; in larger pictures arrows are straight, and tooltips tell only what nothing else does."""

LABELS_UP_TO: Final = 8000
"""Number of operations; in larger pictures arrows have no labels, and the legend says so."""

PHASES: Final[dict[Phase, str]] = {"pre_fusion": "before fusion", "post_fusion": "after fusion"}


def schedule_dot(
    graph: "CompiledGraph",
    phase: Phase,
    *,
    around: "ResolvedOperations | None" = None,
    depth: int = 2,
    path: "tuple[ResolvedOperations, ResolvedOperations] | None" = None,
    refused: bool = False,
    heat: Heat | None = None,
    fold: bool | None = None,
) -> str:
    """The schedule of `graph`, nested graphs included, as DOT; the same facts give the same text.

    `fold` draws each kernel as one box, and what repeats once; None: if there are many, and nothing else was asked for.
    `around` keeps only what is at most `depth` arrows from one of those operations, `path` what is on the way from one
    to the other, or back. `refused` adds the pairs that were not fused, before fusion. `heat` colours by what was
    measured, in place of the kinds of operations.
    """
    return dot_text(
        schedule_picture(graph, phase, around=around, depth=depth, path=path, refused=refused, heat=heat, fold=fold)
    )


def schedule_picture(
    graph: "CompiledGraph",
    phase: Phase,
    *,
    around: "ResolvedOperations | None" = None,
    depth: int = 2,
    path: "tuple[ResolvedOperations, ResolvedOperations] | None" = None,
    refused: bool = False,
    heat: Heat | None = None,
    fold: bool | None = None,
) -> Picture:
    """The picture that `schedule_dot` writes."""
    if phase not in get_args(Phase):
        raise ValueError(f"{phase}: a phase is one of {', '.join(get_args(Phase))}")
    whole = schedule(graph, phase)
    drawn, units, selection = whole, list(whole.units), ""
    if around is not None:
        units = near_to(whole, _keys(around), depth)
        selection = f"up to {number_of(depth, 'arrow')} from {around.asked}"
    if path is not None:
        there, (first, last) = _path(whole, path)
        drawn = restricted(whole, units_with(whole, there))
        units = list(drawn.units)
        selection = f"the kernels with the {number_of(len(there), 'operation')} on the way from {first} to {last}"
        if not there:
            selection = f"neither of {first} and {last} depends on the other"
    if fold or (fold is None and around is None and path is None and not refused and is_folded(whole)):
        return _folded(graph, phase, whole, heat)
    return unfolded(
        graph,
        phase,
        drawn,
        units,
        heat,
        subtitles=_subtitles(whole, graph.name, selection, sum(1 for unit in units for _ in unit.operations())),
        pairs="refused" if refused else None,
    )


def unfolded(
    graph: "CompiledGraph",
    phase: Phase,
    drawn: Schedule,
    units: list[Unit],
    heat: Heat | None,
    *,
    subtitles: tuple[str, ...],
    what: str = "",
    pairs: Literal["refused", "joined"] | None = None,
    copies: Mapping[Id, int] | None = None,
) -> Picture:
    """A picture of these units of a schedule, a box for each operation, in sections if there are many; with `copies`,
    which say how many kernels each unit stands for, in a section for each unit.

    `pairs`: the pairs of scheduler nodes that are joined by a line: those that fusion refused, or those that it fused.
    """
    position = {Id.of(operation): index for index, unit in enumerate(units) for operation in unit.operations()}
    spans = [
        (position[link.tail], position[link.head])
        for link in drawn.links
        if not link.is_order and link.tail in position and link.head in position
    ]
    sizes = [sum(1 for _ in unit.operations()) for unit in units]
    ranges = [range(place, place + 1) for place in range(len(units))] if copies else cuts(sizes, spans)
    section_of_unit = {index: section for section, span in enumerate(ranges) for index in span}
    section_of = {key: section_of_unit[index] for key, index in position.items()}
    boxes = Boxes.of(graph, phase, drawn, heat, copies=copies, is_brief=len(position) > CURVES_UP_TO)
    arrows = Arrows(drawn, boxes, section_of)
    lines = arrows.pairs(graph.dump, pairs)
    sections = tuple(
        _section(number, [units[index] for index in span], boxes, arrows, lines.get(number, []))
        for number, span in enumerate(ranges)
    )
    return Picture(
        title(graph, what or PHASES[phase]),
        (*subtitles, *words.file_subtitle(boxes.file), *(heat.subtitles if heat is not None else ())),
        sections,
        outputs=outputs_text(graph),
        has_curves=len(position) <= CURVES_UP_TO,
        has_labels=len(position) <= LABELS_UP_TO,
        are_apart=bool(copies),
    )


def on_path(graph: "CompiledGraph", path: "tuple[ResolvedOperations, ResolvedOperations]") -> int:
    """How many operations are on the way from one to the other, or back; 0 if there is no way."""
    return len(_path(schedule(graph, "pre_fusion"), path)[0])


def _path(
    whole: Schedule, path: "tuple[ResolvedOperations, ResolvedOperations]"
) -> tuple[frozenset[Id], tuple[str, str]]:
    one, other = path
    if found := on_the_way(whole, _keys(one), _keys(other)):
        return found, (one.asked, other.asked)
    back = on_the_way(whole, _keys(other), _keys(one))
    return back, ((other.asked, one.asked) if back else (one.asked, other.asked))


def _keys(meant: "ResolvedOperations") -> frozenset[Id]:
    return frozenset(Id(meant.graph, name) for name in meant.operations)


def is_folded(whole: Schedule) -> bool:
    """True for a schedule that is folded unless somebody asks for all of it: it would be cut into sections, which
    nobody reads as one picture.
    """
    return sum(1 for unit in whole.units for _ in unit.operations()) > LONGEST


def _folded(graph: "CompiledGraph", phase: Phase, whole: Schedule, heat: Heat | None) -> Picture:
    section, found = folded_section(graph, phase, whole, heat)
    subtitles = (
        *_subtitles(whole, graph.name),
        *fold_subtitles(whole, found),
        *words.file_subtitle(one_file(graph, (row for unit in whole.units for row in unit.operations()))),
        *(heat.subtitles if heat is not None else ()),
    )
    return Picture(
        title(graph, PHASES[phase]),
        subtitles,
        (section,),
        outputs=outputs_text(graph),
    )


def _section(number: int, units: list[Unit], boxes: Boxes, arrows: Arrows, pairs: list[Arrow]) -> Section:
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
    return Section(tuple(inner), (*found.arrows, *pairs), arrows.below(units))


def outputs_text(graph: "CompiledGraph") -> str:
    """What the outputs of a graph are for."""
    row = graph.dump.graph(graph.name)
    return "returned, or saved for backward" if row is not None and row.kind == "forward" else "returned"


def title(graph: "CompiledGraph", what: str) -> str:
    """`train.py · forward 0/0 · after fusion`."""
    row = graph.dump.graph(graph.name)
    program = file_name(graph.dump.run.argv[0]) if graph.dump.run.argv else ""
    which = f"{row.kind} {row.compile_id or ''}".strip() if row is not None else ""
    return " · ".join(part for part in (program, which, what) if part)


def _subtitles(whole: Schedule, graph: str, part: str = "", size: int = 0) -> tuple[str, ...]:
    """`part`: which part of it is drawn, with `size` operations."""
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
    if part:
        lines.append(f"here {number_of(size, 'operation')}: {part}")
    if size > LABELS_UP_TO:
        lines.append("too many for labels on arrows: point at one for its buffers and bytes")
    return tuple(lines)
