"""The picture of one FX graph: a box for each node, or folded by what repeats and by nn.Module."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from inspect_compile.diagrams.fx.values import HEAVY, Value, key_of, values
from inspect_compile.diagrams.picture import Arrow, Box, BoxKind, Frame, Picture, Section, boxes_in
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.boxes import Ids
from inspect_compile.diagrams.schedule.folding import Fold, Folded, fold, without_arrow
from inspect_compile.diagrams.schedule.inputs import Input, Role, inputs, is_state, readable
from inspect_compile.diagrams.schedule.schedule import CURVES_UP_TO, title
from inspect_compile.diagrams.schedule.sections import cuts
from inspect_compile.facts import Node, Tensor
from inspect_compile.graph import CompiledGraph, Id, gathered, matched_inputs, own_name
from inspect_compile.tables.text import number_of, one_line

FOLDED_FROM: Final = 60
"""Number of boxes from which on a graph is folded by itself."""
_INPUTS_BESIDE: Final = 5
"""Inputs of one node that are placed side by side."""
_OPERATORS: Final = 5
"""Operators that a folded box names."""

WORDS: Final = {
    "dynamo": "FX graph of Dynamo",
    "joint": "joint graph of AOTAutograd",
    "aot": "FX graph that AOTAutograd made",
    "post_grad": "FX graph that is lowered",
}


def fx_picture(
    graph: "CompiledGraph", stage: str, *, unfold: bool | None = None, everything: bool = False
) -> Picture | None:
    """The nodes of `graph` at `stage`; None if none were recorded. `unfold`: None unfolds a small one."""
    nodes = graph.stage(stage)
    if not nodes:
        return None
    known = _arguments(graph, stage, nodes)
    arguments = None if known is None else {key for key, one in known.items() if one.role in ("input", "gradient")}
    found = values(nodes, arguments, everything=everything)
    drawn = _Drawn(found, known or {})
    is_folded = len(found) >= FOLDED_FROM if unfold is None else not unfold
    hidden = len(nodes) - len(found)
    subtitles = [
        graph.name,
        f"{number_of(len(nodes), 'node')}{f', {hidden:,} of them views, constants and parameters' * bool(hidden)}",
    ]
    if hidden and not everything:
        subtitles[-1] += " (--all draws them)"
    if is_folded:
        whole = folded_values(found)
        sections: tuple[Section, ...] = (drawn.folded(whole),)
        subtitles += [
            f"folded: {number_of(len(whole.folds), 'box', 'boxes')} for {len(found):,}",
            "--unfold draws each node",
        ]
    else:
        sections = drawn.unfolded()
    return Picture(
        title(graph, WORDS[stage]),
        (*subtitles, *words.file_subtitle(drawn.file)),
        sections,
        outputs="returned",
        has_curves=len(found) <= CURVES_UP_TO,
    )


def folded_values(found: Sequence[Value]) -> Folded:
    """What repeats once, and neighbours of one nn.Module in one box, if there are too many."""
    shapes = [
        (
            value.node.graph,
            value.node.op,
            value.operator,
            tuple((one.dtype, one.size) for one in value.node.values),
            len(value.reads),
        )
        for value in found
    ]
    return fold(shapes, [value.reads for value in found], [value.node.module for value in found])


def _arguments(graph: "CompiledGraph", stage: str, nodes: Sequence[Node]) -> dict[Id, Input] | None:
    """The inputs by what they are; None if that is not known."""
    given = [node for node in nodes if node.op == "placeholder"]
    if stage == "dynamo":
        return {key_of(node): _input(node, node.target) for node in given}
    if stage == "joint":
        theirs = [node for node in graph.stage("dynamo") if node.op == "placeholder"]
        forward = [node for node in given if not _is_gradient(node)]
        matched = matched_inputs(forward, theirs)
        found = {key_of(node): _input(node, matched[node.name].target) for node in forward if matched}
        return found | {key_of(node): _input(node, "") for node in given if _is_gradient(node)} if matched else None
    known = inputs(graph)
    if any(one.role != "unknown" for one in known.values()):
        own = {key_of(node): known[node.name] for node in given if node.graph == graph.name and node.name in known}
        # Those of a nested graph are what its caller gives it, and have names of their own that are equal to others'.
        inner = {
            key_of(node): Input(node.name, node.name, "input", _tensor(node))
            for node in given
            if node.graph != graph.name
        }
        return own | inner
    return None


def _is_gradient(node: Node) -> bool:
    return node.name.startswith("tangents_")


def _input(node: Node, target: str) -> Input:
    """An input by Dynamo's name of it, a gradient without one."""
    role: Role = "gradient" if not target else "parameter" if is_state(target) else "input"
    return Input(node.name, readable(target) if target else node.name, role, _tensor(node))


def _tensor(node: Node) -> Tensor | None:
    return next(iter(node.values), None)


@dataclass
class _Edge:
    pairs: int = 0
    bytes: int = 0
    names: list[str] = field(default_factory=list)


class _Drawn:
    """The boxes and arrows of the values."""

    def __init__(self, found: Sequence[Value], known: dict[Id, Input]) -> None:
        self._found, self._known = found, known
        self._ids = Ids()
        self.file = words.one_file(value.node.where for value in found)

    def _place(self, node: Node | None) -> list[str]:
        where = None if node is None else node.where
        return [] if where is None else [words.shortened(words.code_at(where, self.file), words.LINE_WIDTH)]

    def unfolded(self) -> tuple[Section, ...]:
        """A box for each value, in sections if there are many."""
        spans = [(place, at) for at, value in enumerate(self._found) for place in value.reads]
        ranges = cuts([1] * len(self._found), spans)
        section_of = {place: number for number, span in enumerate(ranges) for place in span}
        return tuple(self._section(number, span, section_of) for number, span in enumerate(ranges))

    def _section(self, number: int, span: range, section_of: dict[int, int]) -> Section:
        inner: list[Frame | Box] = []
        arrows: list[Arrow] = []
        references: dict[int, Box] = {}
        nested: dict[str, tuple[str, list[str]]] = {}
        for graph, places in groupby(span, key=lambda place: self._found[place].node.graph):
            boxes: list[Frame | Box] = []
            for at in places:
                for place in self._found[at].reads:
                    if section_of[place] != number and place not in references:
                        references[place] = self._elsewhere(place, number, section_of[place])
                        boxes.append(references[place])
                    tail = references[place].id if place in references else self._id(place)
                    arrows.append(self._arrow(tail, self._id(at), place, at))
                boxes.append(self._box(at))
            is_own = graph == self._found[0].node.graph
            name = own_name(graph)
            frame_id = self._ids("graph", graph, f"section_{number}")
            if is_own:
                inner += boxes
                continue
            inner.append(Frame(frame_id, "graph", f"graph {words.shortened(name)}", tuple(boxes)))
            nested.setdefault(graph, (frame_id, [box.id for box in boxes_in(boxes)]))
        called, below = self._calls(span, nested, {arrow.head for arrow in arrows})
        return Section(tuple(inner), (*arrows, *called), (*self._input_rows(span), *below))

    def _calls(
        self, span: range, nested: dict[str, tuple[str, list[str]]], reading: Collection[str]
    ) -> tuple[list[Arrow], list[tuple[str, str]]]:
        """Arrows from nodes to the graphs that they run: graph → its frame, and the boxes in it; and what of these
        graphs begins below the nodes, with a pair for each.
        """
        arrows: list[Arrow] = []
        below: list[tuple[str, str]] = []
        for at in span:
            node = self._found[at].node
            for name in dict.fromkeys(node.inputs):
                frame, boxes = nested.get(f"{node.graph}/{name}", ("", []))
                if boxes:
                    tooltip = words.tooltip([f"{node.name} runs {name}"])
                    arrows.append(Arrow(self._id(at), boxes[0], "call", (), tooltip, into=frame))
                    below += [(self._id(at), box) for box in boxes if box not in reading]
        return arrows, below

    def _input_rows(self, span: range) -> tuple[tuple[str, str], ...]:
        """Inputs that one node alone reads, as attention its blocks, in rows of limited length: pairs of boxes, the
        second below the first.
        """
        readers: dict[int, set[int]] = {}
        for at in span:
            for place in self._found[at].reads:
                readers.setdefault(place, set()).add(at)
        rows: dict[int, list[int]] = {}
        for place, found in readers.items():
            if len(found) == 1 and place in span and self._found[place].node.op == "placeholder":
                rows.setdefault(min(found), []).append(place)
        return tuple(
            (self._id(above), self._id(under))
            for places in map(sorted, rows.values())
            for above, under in zip(places, places[_INPUTS_BESIDE:], strict=False)
        )

    def _elsewhere(self, place: int, at: int, section: int) -> Box:
        name = self._found[place].node.name
        return Box(
            self._ids("from", str(place), f"section_{at}"),
            "elsewhere",
            f"from {words.shortened(name, 26)}",
            lines=(f"section {section + 1}",),
        )

    def _arrow(self, tail: str, head: str, place: int, at: int) -> Arrow:
        one, other = self._found[place].node, self._found[at].node
        return Arrow(
            tail, head, "value", tooltip=words.tooltip([f"{other.name} reads {one.name}", *_tensors(one)]),
            bytes=_bytes(one),
        )  # fmt: skip

    def folded(self, whole: Folded) -> Section:
        """A box for each fold; those of a repeated part in a frame."""
        inner: list[Frame | Box] = []
        arrows: list[Arrow] = []
        edges = self._edges(whole)
        in_boxes = self._outputs_in_boxes(edges, whole)
        for repeat, folds in groupby(enumerate(whole.folds), key=lambda one: one[1].repeat):
            boxes = tuple(
                self._fold(place, one, whole, [edges[place, head] for head in in_boxes.get(place, ())])
                for place, one in folds
            )
            if repeat is None:
                inner += boxes
                continue
            copies = whole.repeats[repeat]
            text = f"{len(copies)} × the same{self._paths(copies)}"
            inner.append(Frame(f"repeat_{repeat}", "repeat", text, boxes, words.tooltip([text])))
            if len(boxes) > 1 and any(self._is_again(whole, at, repeat) for copy in copies[1:] for at in copy):
                tooltip = words.tooltip(["values of one copy that later ones read"])
                arrows.append(Arrow(boxes[-1].id, boxes[0].id, "again", tooltip=tooltip))
        arrows += [_arrow(*ends, edge) for ends, edge in edges.items() if ends[1] not in in_boxes.get(ends[0], ())]
        return Section(tuple(inner), tuple(arrows))

    def _is_again(self, whole: Folded, at: int, repeat: int) -> bool:
        return any(
            whole.copy_of[place] != whole.copy_of[at] and whole.folds[whole.fold_of[place]].repeat == repeat
            for place in self._found[at].reads
        )

    def _edges(self, whole: Folded) -> dict[tuple[int, int], _Edge]:
        """(box, box that reads from it) → what it reads."""
        edges: dict[tuple[int, int], _Edge] = {}
        for at, value in enumerate(self._found):
            for place in value.reads:
                if not whole.is_inside(place, at):
                    edge = edges.setdefault((whole.fold_of[place], whole.fold_of[at]), _Edge())
                    edge.pairs += 1
                    edge.bytes = max(edge.bytes, _bytes(self._found[place].node))
                    edge.names.append(f"{value.node.name} reads {self._found[place].node.name}")
        return edges

    def _outputs_in_boxes(self, edges: Iterable[tuple[int, int]], whole: Folded) -> dict[int, list[int]]:
        """Box → outputs to which it has no arrow, since too many have one: its lines say what it gives them."""
        outputs = {whole.fold_of[at] for at, value in enumerate(self._found) if value.node.op == "output"}
        given = gathered((head, tail) for tail, head in edges if head in outputs)
        return gathered((tail, head) for head, tails in given.items() for tail in without_arrow(tails))

    def _paths(self, copies: Sequence[Sequence[int]]) -> str:
        """Where a repeated part begins and ends in the model."""
        found = [path for copy in (copies[0], copies[-1]) for at in copy if (path := self._found[at].node.module)]
        return f": {words.path_range(found[0], found[-1])}" if found else ""

    def _fold(self, place: int, one: Fold, whole: Folded, results: Sequence[_Edge]) -> Box:
        """`results`: what it gives an output, where no arrow says it."""
        box = self._folded_box(place, one, whole)
        count = number_of(sum(edge.pairs for edge in results), "value")
        return replace(box, lines=(*box.lines, words.results_line(count, None))) if results else box

    def _folded_box(self, place: int, one: Fold, whole: Folded) -> Box:
        copies = len(whole.repeats[one.repeat]) if one.repeat is not None else 1
        own = one.units[: len(one.units) // copies]
        if len(own) == 1:
            return self._box(own[0], f"fold_{place}", copies)
        rows = [self._found[at] for at in own]
        operators = list(dict.fromkeys(words.shortened(row.operator, 30) for row in rows))
        more = len(operators) - _OPERATORS
        listed = ", ".join(operators[:_OPERATORS]) + (f", +{more}" if more > 0 else "")
        lines = [
            f"{number_of(len(rows), 'node')}{f', × {copies}' * (copies > 1)}",
            words.shortened(listed, words.LINE_WIDTH),
        ]
        lines += self._place(next((row.node for row in reversed(rows) if row.node.where is not None), None))
        name = words.name_shortened(one.module) if one.module else number_of(len(rows), "node")
        return Box(
            f"fold_{place}",
            "module",
            name,
            lines=tuple(lines if one.module else lines[1:]),
            tooltip=words.tooltip([", ".join(row.node.name for row in rows)]),
        )

    def _id(self, at: int) -> str:
        return self._ids(*key_of(self._found[at].node))

    def _box(self, at: int, name: str = "", copies: int = 1) -> Box:
        value = self._found[at]
        node = value.node
        known = self._known.get(key_of(node))
        lines = [*_tensors(node)[:1]]
        if node.op == "placeholder":
            text = known.text if known is not None else node.name
            lines = [f"{node.name}  {line}" if text != node.name else line for line in lines]
            return Box(name or self._id(at), "input", words.name_shortened(text), "", tuple(lines), _tooltip(value))
        if node.op == "output":
            count = number_of(len(node.inputs), "result")
            return Box(name or self._id(at), "output", "OUTPUT", lines=(count,), tooltip=_tooltip(value))
        if copies > 1:
            lines.insert(0, f"× {copies}")
        lines += self._place(node)
        if value.hidden:
            named = [self._name(node, one) for one in value.hidden]
            lines.append(words.shortened(f"reads {words.listed(named, words.LINE_WIDTH - 8)}", words.LINE_WIDTH))
        head = words.shortened(node.name)
        is_told = node.name.startswith(value.operator)  # as in add_1
        beside = "" if is_told else words.shortened(value.operator, max(8, words.WIDTH - len(head)))
        return Box(name or self._id(at), _kind(value), head, beside, tuple(lines), _tooltip(value))

    def _name(self, reader: Node, name: str) -> str:
        known = self._known.get(Id(key_of(reader).graph, name))
        return known.text if known is not None else name


def _arrow(tail: int, head: int, edge: _Edge) -> Arrow:
    lines = [number_of(edge.pairs, "value"), *edge.names[: words.MOST_TOOLTIP_LINES]]
    return Arrow(f"fold_{tail}", f"fold_{head}", "value", (), words.tooltip(lines), edge.bytes)


def _kind(value: Value) -> BoxKind:
    return "heavy" if value.operator in HEAVY else "operator"


def _bytes(node: Node) -> int:
    return sum(one.bytes or 0 for one in node.values)


def _tensors(node: Node) -> list[str]:
    return [f"{one.dtype} [{', '.join(map(str, one.size))}]" for one in node.values]


def _tooltip(value: Value) -> tuple[str, ...]:
    node = value.node
    lines = [node.name, f"{node.op} {node.target}", *_tensors(node), f"module {node.module}" if node.module else ""]
    lines += [words.place_and_code(node.where), f"reads {', '.join(node.inputs)}" if node.inputs else ""]
    return words.tooltip(map(one_line, lines))
