"""One node's way through all levels: from the line of the program to the launches that compute it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.lookup.nodes import ResolvedNode
from inspect_compile.analysis.overview.node_story import NodeStory, node_story
from inspect_compile.diagrams.fx.values import is_view
from inspect_compile.diagrams.picture import Arrow, Box, BoxKind, Picture, Section
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.boxes import Ids
from inspect_compile.diagrams.schedule.schedule import title
from inspect_compile.facts import Location, Node, Operation
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.provenance.lineage import STAGES, Lineage, NodeRef
from inspect_compile.tables.text import byte_text, nested_name, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

MOST: Final = 8
"""Boxes of one level."""
_LEVELS: Final = {
    "line": "program",
    "dynamo": "Dynamo",
    "joint": "joint graph",
    "aot": "AOTAutograd",
    "post_grad": "post-grad",
    "buffer": "buffer",
    "operation": "operation",
    "group": "after fusion",
    "kernel": "kernel",
    "launch": "launch",
}
"""Level → its name in the picture, from the program to the launch."""


class _Thing(NamedTuple):
    """What stands at one level."""

    level: str
    key: tuple[str, ...]


def node_picture(dump: "Dump", found: ResolvedNode, asked: str, *, everything: bool = False) -> Picture:
    """The way of the nodes that a name means in one compile. Views are left out, unless it means one."""
    stories = [node_story(dump, found.lineage, kin, misses=False) for kin in found.kins[:MOST]]
    way = _Way(dump, found.lineage, stories, everything=everything)
    first = stories[0]
    more = f" and {len(found.kins) - MOST} more" if len(found.kins) > MOST else ""
    behind = f", behind {words.shortened(found.behind)}" if found.behind else ""
    subtitle = f"{number_of(len(stories), 'node')}{more} called {words.shortened(asked)}{behind}"
    hidden = [f"{number_of(way.hidden, 'view')} left out (--all draws them)"] if way.hidden else []
    return Picture(
        title(CompiledGraph(dump, first.kin.graph).outermost, f"the path of {words.shortened(asked)}"),
        (one_line(first.kin.graph), subtitle, *hidden, *_notes(stories)),
        (way.section(),),
    )


def _notes(stories: Sequence[NodeStory]) -> Iterator[str]:
    """What the picture cannot show."""
    why = next((story.why_none for story in stories if story.why_none), "")
    if why:
        yield f"before that: {why}"
    if not any(story.ran for story in stories):
        yield "no launch computes it"


class _Way:
    """The things of all levels and what became of what."""

    def __init__(self, dump: "Dump", lineage: Lineage, stories: Sequence[NodeStory], *, everything: bool) -> None:
        self._dump, self._lineage = dump, lineage
        self._own = {story.kin for story in stories}
        self._nodes: dict[NodeRef, Node] = {}
        for story in stories:
            self._nodes.update(story.nodes)
        self._shown = {kin for kin, node in self._nodes.items() if everything or kin in self._own or not is_view(node)}
        self.hidden = len(self._nodes) - len(self._shown)
        self._boxes: dict[str, dict[_Thing, Box]] = {level: {} for level in _LEVELS}
        self._left: dict[str, int] = {}
        self._edges: dict[tuple[_Thing, _Thing], str] = {}
        self._ids = Ids()
        self._nodes_and_lines()
        self._operations(stories)

    def section(self) -> Section:
        """Levels from top to bottom, each in a row after its name."""
        labels = [level for level, boxes in self._boxes.items() if boxes]
        rows: list[tuple[str, ...]] = []
        inner: list[Box] = []
        for level in labels:
            label = Box(f"level_{level}", "elsewhere", _LEVELS[level])
            boxes = list(self._boxes[level].values())
            if self._left.get(level):
                boxes.append(Box(f"more_{level}", "elsewhere", f"… and {self._left[level]:,} more"))
            inner += [label, *boxes]
            rows.append((label.id, *(box.id for box in boxes)))
        placed = {thing: box.id for boxes in self._boxes.values() for thing, box in boxes.items()}
        arrows = tuple(
            Arrow(placed[one], placed[other], "made", (how,) if how else ())
            for (one, other), how in self._edges.items()
            if one in placed and other in placed
        )
        below = tuple((f"level_{one}", f"level_{other}") for one, other in pairwise(labels))
        return Section(tuple(inner), arrows, below, tuple(rows))

    def _add(
        self,
        thing: _Thing,
        kind: BoxKind,
        head: str,
        beside: str = "",
        lines: Sequence[str] = (),
        tooltip: Sequence[str] = (),
    ) -> None:
        boxes = self._boxes[thing.level]
        if thing in boxes:
            return
        if len(boxes) >= MOST:
            self._left[thing.level] = self._left.get(thing.level, 0) + 1
            return
        boxes[thing] = Box(
            self._ids(thing.level, *thing.key),
            kind,
            words.shortened(head),
            words.shortened(beside, 30) if beside else "",
            tuple(words.shortened(line, words.LINE_WIDTH) for line in lines if line),
            words.tooltip(tooltip),
        )

    def _join(self, one: _Thing, other: _Thing, how: str = "") -> None:
        self._edges.setdefault((one, other), how)

    def _nodes_and_lines(self) -> None:
        order = {stage: place for place, stage in enumerate(STAGES)}
        ordered = sorted(self._shown, key=lambda kin: (kin not in self._own, order.get(kin.stage, 0)))
        for kin in ordered:
            node = self._nodes[kin]
            tensors = [f"{one.dtype} [{', '.join(map(str, one.size))}]" for one in node.values[:1]]
            tooltip = [f"{kin.stage} {kin.graph} {kin.name}", f"{node.op} {node.target}", *tensors]
            kind: BoxKind = "asked" if kin in self._own else "node"
            self._add(_of(kin), kind, kin.name, node.target, tensors, [*tooltip, node.module])
        for kin in ordered:
            parents = self._parents(kin)
            for parent, how in parents.items():
                self._join(_of(parent), _of(kin), "" if how == "same name" else how)
            where = self._lineage.line_of(kin)
            if not parents and where is not None:
                self._line(where, _of(kin))

    def _parents(self, kin: NodeRef) -> dict[NodeRef, str]:
        """The nearest shown nodes that it was made from, and how that is known."""
        found: dict[NodeRef, str] = {}
        waiting = list(self._lineage.parents(kin))
        seen = {kin}
        while waiting:
            link = waiting.pop()
            if link.kin in seen:
                continue
            seen.add(link.kin)
            if link.kin in self._shown:
                found.setdefault(link.kin, link.how)
            elif link.kin in self._nodes:
                waiting += self._lineage.parents(link.kin)
        return found

    def _line(self, where: Location, to: _Thing) -> None:
        place = _Thing("line", (where.file, str(where.line)))
        head, _, code = words.place_and_code(where).partition("  ")
        calls = [f"{one.file}:{one.line}  {one.code.strip()}" for one in where.calls()]
        self._add(place, "line", head, "", (code,), calls)
        self._join(place, to)

    def _operations(self, stories: Sequence[NodeStory]) -> None:
        lowered = [one for story in stories for one in story.lowered if one.kin in self._shown]
        made = {
            Id(one.kin.graph, name): one.kin for one in lowered if one.step is not None for name in one.step.row.buffers
        }
        kins = {Id.of(kin): kin for kin in self._shown if kin.stage == "post_grad"}
        operations = {Id.of(row): row for story in stories for row in story.operations}
        for row in operations.values():
            self._operation(row, kins, made)
        for story in stories:
            for ran in story.ran:
                launch = ran.launch
                own = {Id(launch.graph, name) for name in launch.operations}
                kernel = _Thing("kernel", Id(launch.graph, launch.kernel.name))
                for name in launch.groups:
                    self._group(launch.graph, name, kernel, operations)
                if not launch.groups:
                    for key in own & operations.keys():
                        self._join(_Thing("operation", key), kernel)
                self._add(
                    kernel,
                    "kernel",
                    words.name_shortened(launch.kernel.name),
                    "",
                    (f"{launch.kernel.kind}, {number_of(len(launch.operations), 'operation')}",),
                    [launch.kernel.name, launch.kernel.source],
                )
                line = f"output_code.py:{launch.line}" if launch.line is not None else "its call was not recorded"
                at = _Thing("launch", (*kernel.key, str(launch.line)))
                moved = f"moves {byte_text(ran.moved.least)}" if ran.moved.is_known else ""
                self._add(at, "launch", line, "", (moved,))
                self._join(kernel, at)

    def _operation(self, row: Operation, kins: dict[Id, NodeRef], made: dict[Id, NodeRef]) -> None:
        thing = _Thing("operation", Id.of(row))
        for name in row.buffers:
            buffer = _Thing("buffer", Id(row.graph, name))
            size = next((access.bytes for access in row.writes if access.buffer == name), None)
            head = words.shortened(nested_name(row.graph, name))
            self._add(buffer, "buffer", head, "", (byte_text(size),) if size else ())
            for node in row.nodes:
                if (kin := kins.get(Id(row.graph, node))) is not None:
                    self._join(_of(kin), buffer, "" if made.get(Id(row.graph, name)) == kin else "computed in it")
            self._join(buffer, thing)
        reads = number_of(len(row.reads), "read")
        kind = "item" if row.ir_type == "MultiOutput" else row.kind
        self._add(thing, "pointwise" if row.kind != "reduction" else "reduction", row.name, "", (f"{kind}, {reads}",))

    def _group(self, graph: str, name: str, kernel: _Thing, operations: dict[Id, Operation]) -> None:
        after = CompiledGraph(self._dump, graph).group_of.get(Id(graph, name))
        own = [
            key for key in (Id(graph, member) for member in (after.members if after else (name,))) if key in operations
        ]
        if not own:
            return
        group = _Thing("group", Id(graph, name))
        count = len(after.members) if after is not None else 1
        self._add(group, "fused", name, "", (number_of(count, "operation"),), [name])
        for key in own:
            self._join(_Thing("operation", key), group)
        self._join(group, kernel)


def _of(kin: NodeRef) -> _Thing:
    return _Thing(kin.stage, Id.of(kin))
