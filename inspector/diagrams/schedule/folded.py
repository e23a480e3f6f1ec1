"""The picture of a folded schedule: one box for each kernel, for each module, or for the same kernel of each layer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from inspect_compile.diagrams.picture import Arrow, ArrowKind, Box, BoxKind, Frame, Section, Shade
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.arrows import most
from inspect_compile.diagrams.schedule.boxes import Boxes, kind_of
from inspect_compile.diagrams.schedule.folding import Copies, Fold, Folded, folded, without_arrow
from inspect_compile.diagrams.schedule.heat import Heat, Heated
from inspect_compile.diagrams.schedule.units import OUTPUT, Phase, Schedule, Unit
from inspect_compile.facts import Location, Operation
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.tables.text import number_of, one_line

_INPUTS: int = 12
"""Maximum number of inputs with a box; others are counted in the boxes that read them."""


@dataclass
class _Edge:
    """What goes from one box to another."""

    sizes: dict[str, int | None] = field(default_factory=dict)
    """Buffer → bytes, of the first pair of units that it was seen between."""
    pairs: int = 0
    is_order: bool = True
    first: tuple[int, int] = (-1, -1)


def folded_section(
    graph: "CompiledGraph", phase: Phase, schedule: Schedule, heat: Heat | None
) -> tuple[Section, Folded]:
    """The whole schedule as one section."""
    boxes = Boxes.of(graph, phase, schedule, heat)
    found = folded(schedule, boxes.modules)
    return section_of(boxes, schedule, found), found


def section_of(boxes: Boxes, schedule: Schedule, found: Folded) -> Section:
    """A schedule with the boxes of `found`."""
    return _Drawn(boxes, schedule, found).section()


def subtitles(schedule: Schedule, found: Folded) -> tuple[str, ...]:
    """What was folded, in a line."""
    launches = number_of(len(schedule.units), "launch", "launches")
    summary = f"folded: {number_of(len(found.folds), 'box', 'boxes')} for {launches}"
    if found.repeats:
        again = sum(len(copy) for copies in found.repeats for copy in copies[1:])
        summary += f", {again:,} repeat others"
    return (summary, "--unfold draws each operation")


class _Drawn:
    def __init__(self, boxes: Boxes, schedule: Schedule, found: Folded) -> None:
        self._boxes, self._schedule, self._found = boxes, schedule, found
        self._unit_of: dict[Id, int] = {
            Id.of(one): place for place, unit in enumerate(schedule.units) for one in unit.operations()
        }
        self._results = self._of_graph()
        self._told = without_arrow(self._results)

    def section(self) -> Section:
        """Boxes, those of a repeated part in a frame, and the arrows between them."""
        inner: list[Frame | Box] = []
        inputs, arrows = self._inputs()
        inner += inputs
        for repeat, folds in groupby(enumerate(self._found.folds), key=lambda one: one[1].repeat):
            boxes = tuple(self._box(place, fold) for place, fold in folds)
            if repeat is None:
                inner += boxes
                continue
            copies = self._found.repeats[repeat]
            text = f"{len(copies)} × the same: {self._named(copies)}"
            inner.append(Frame(f"repeat_{repeat}", "repeat", text, boxes, words.tooltip([text])))
            arrows += self._again(repeat, boxes)
        arrows += list(self._arrows())
        outputs, given = self._outputs()
        return Section((*inner, *outputs), (*arrows, *given))

    def _again(self, repeat: int, boxes: tuple[Box, ...]) -> list[Arrow]:
        """One arrow for all that goes from a copy to later ones."""
        buffers: dict[str, None] = {}
        for link in self._schedule.links:
            tail, head = self._unit_of[link.tail], self._unit_of[link.head]
            is_own = self._found.folds[self._found.fold_of[tail]].repeat == repeat
            if is_own and self._found.is_inside(tail, head) and self._found.copy_of[tail] != self._found.copy_of[head]:
                buffers.update(dict.fromkeys(link.reads))
        if not buffers or len(boxes) < 2:
            return []
        tooltip = [f"{number_of(len(buffers), 'buffer')} from one copy to later ones", ", ".join(buffers)]
        return [Arrow(boxes[-1].id, boxes[0].id, "again", tooltip=words.tooltip(tooltip))]

    def _named(self, copies: Copies) -> str:
        """Where a repeated part begins and ends in the model: `h.0 … h.11`."""
        units = [self._schedule.units[place] for copy in copies for place in copy]
        paths = [path for unit in units for path in self._modules(unit)]
        if not paths:
            return number_of(len(units), "launch", "launches")
        return words.path_range(paths[0], paths[-1])

    def _modules(self, unit: Unit) -> Iterator[str]:
        for operation in unit.operations():
            for node in operation.nodes:
                if path := self._boxes.modules.get(Id(operation.graph, node)):
                    yield one_line(path)

    @staticmethod
    def _id(place: int) -> str:
        return f"fold_{place}"

    def _box(self, place: int, fold: Fold) -> Box:
        copies = self._copies(fold)
        own = [self._schedule.units[unit] for unit in fold.units[: len(fold.units) // copies]]
        if fold.module is None:
            launches = (self._schedule.units[unit].launch for unit in fold.units)
            names = {launch.kernel.name for launch in launches if launch is not None}
            return self._unit(place, own[0], copies, len(names))
        operations = [one for unit in own for one in unit.operations()]
        kernels = sum(unit.is_kernel for unit in own)
        calls = sum(unit.launch is not None and not unit.is_kernel for unit in own)
        counts = [number_of(kernels, "kernel")] * bool(kernels) + [number_of(calls, "call")] * bool(calls)
        counts += [number_of(len(operations), "operation")]
        tooltip = [f"{unit.launch.kernel.name if unit.launch else unit.groups[0].key[1]}" for unit in own]
        title = words.name_shortened(fold.module) if fold.module else number_of(len(own), "launch", "launches")
        heat = self._hottest(own)
        return Box(
            self._id(place),
            "module",
            title,
            lines=(", ".join(counts), *self._line(operations), *self._result_line(place)),
            tooltip=words.tooltip(tooltip),
            shade=heat[0],
            mark=heat[1],
        )

    def _copies(self, fold: Fold) -> int:
        return len(self._found.repeats[fold.repeat]) if fold.repeat is not None else 1

    def _unit(self, place: int, unit: Unit, copies: int, names: int) -> Box:
        operations = list(unit.operations())
        launch = unit.launch
        name = launch.kernel.name if launch is not None else operations[0].extern_kernel or operations[0].name
        kind: BoxKind = kind_of(operations[0]) if len(operations) == 1 else "fused"
        parts = [operations[0].name if len(operations) == 1 else f"{number_of(len(operations), 'operation')}"]
        if copies > 1:
            parts.append(f"× {copies}{f' as {names} kernels' if names > 1 else ''}")
        heat = self._hottest([unit])
        tooltip = (
            words.kernel_tooltip(launch)
            if launch is not None and unit.is_kernel
            else words.operation_tooltip(operations[0], self._places(operations), launch)
        )
        lines = (", ".join(parts), *self._line(operations), *self._result_line(place))
        return Box(
            self._id(place), kind, words.name_shortened(name, words.WIDTH + 8), "", lines, tooltip, heat[0], heat[1]
        )

    def _places(self, operations: Iterable[Operation]) -> list[Location]:
        return [
            where
            for one in operations
            for node in reversed(one.nodes)
            if (where := self._boxes.where.get(Id(one.graph, node))) is not None
        ]

    def _line(self, operations: list[Operation]) -> tuple[str, ...]:
        """The user's line of the last operation that has one."""
        found = self._places(reversed(operations))
        return (words.shortened(words.code_at(found[0], self._boxes.file), words.LINE_WIDTH),) if found else ()

    def _hottest(self, units: list[Unit]) -> tuple[Shade | None, str]:
        heat = self._boxes.heat
        if heat is None:
            return None, ""
        found: list[Heated] = []
        for unit in units:
            of = heat.launch(unit.launch) if unit.launch is not None else None
            found += [one for one in (of, *map(heat.operation, unit.operations())) if one is not None]
        return max(found, key=lambda one: one.degree)[:2] if found else (heat.unknown, "")

    def _arrows(self) -> Iterator[Arrow]:
        edges: dict[tuple[int, int], _Edge] = {}
        for link in self._schedule.links:
            units = self._unit_of[link.tail], self._unit_of[link.head]
            if self._found.is_inside(*units):
                continue
            ends = self._found.fold_of[units[0]], self._found.fold_of[units[1]]
            edge = edges.setdefault(ends, _Edge())
            if not link.is_order:
                edge.is_order = False
                if edge.first in ((-1, -1), units):
                    edge.first = units
                    edge.sizes.update({buffer: most(reads) for buffer, reads in link.reads.items()})
            edge.pairs += 1
        for (tail, head), edge in edges.items():
            size = sum(size or 0 for size in edge.sizes.values())
            tooltip = [f"{number_of(edge.pairs, 'dependency', 'dependencies')} between the launches of these boxes"]
            tooltip += [f"{name}{words.size_text(bytes_)}" for name, bytes_ in edge.sizes.items()]
            lines = () if edge.is_order else words.buffer_lines(edge.sizes)
            kind: ArrowKind = "order" if edge.is_order else "stored"
            yield Arrow(self._id(tail), self._id(head), kind, lines, words.tooltip(tooltip), size)

    def _inputs(self) -> tuple[list[Box], list[Arrow]]:
        """The arguments of the call that are read, but for parameters, with an arrow to the first that reads each."""
        boxes: list[Box] = []
        arrows: list[Arrow] = []
        for key, reads in self._schedule.reads.items():
            known = self._boxes.inputs.get(key[0], {}).get(key[1])
            if known is None or known.role not in ("input", "gradient") or len(boxes) >= _INPUTS:
                continue
            box = self._boxes.input(key, 0, reads)
            boxes.append(box)
            folds = dict.fromkeys(self._found.fold_of[self._unit_of[Id.of(one)]] for one, _ in reads)
            lines = words.buffer_lines({key[1]: most(reads)})
            size = most(reads) or 0
            arrows += [
                Arrow(box.id, self._id(fold), "stored", lines, words.tooltip(words.reads(reads)), size)
                for fold in list(folds)[:4]
            ]
        return boxes, arrows

    def _of_graph(self) -> dict[int, list[Operation]]:
        """Box → operations in it whose results the graph returns."""
        found: dict[int, list[Operation]] = {}
        for place, unit in enumerate(self._schedule.units):
            for one in unit.operations():
                if OUTPUT in one.users:
                    found.setdefault(self._found.fold_of[place], []).append(one)
        return found

    def _outputs(self) -> tuple[list[Box], list[Arrow]]:
        """What is returned, as one box."""
        if not self._results:
            return [], []
        arrows = []
        for fold in self._results:
            if fold in self._told:
                continue
            sizes = self._written(fold)
            size = sum(size or 0 for size in sizes.values())
            arrows.append(Arrow(self._id(fold), "output", "stored", words.buffer_lines(sizes), (), size))
        count = sum(len(operations) for operations in self._results.values())
        shade = None if self._boxes.heat is None else self._boxes.heat.unknown
        return [Box("output", "output", "OUTPUT", lines=(number_of(count, "result"),), shade=shade)], arrows

    def _written(self, fold: int) -> dict[str, int | None]:
        """The buffers that a box writes for the graph's results, with their bytes."""
        return {access.buffer: access.bytes for one in self._results[fold] for access in one.writes}

    def _result_line(self, fold: int) -> tuple[str, ...]:
        """What a box writes for the graph's results, if no arrow says it."""
        if fold not in self._told:
            return ()
        sizes = self._written(fold)
        return (words.results_line(number_of(len(sizes), "buffer"), sum(size or 0 for size in sizes.values())),)
