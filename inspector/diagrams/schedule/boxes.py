"""Turns facts into boxes and frames, with their texts and ids."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from inspect_compile.diagrams.picture import Box, BoxKind, Frame, Shade
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.heat import Heat
from inspect_compile.diagrams.schedule.inputs import Input, inputs
from inspect_compile.diagrams.schedule.units import MULTI_OUTPUT, OUTPUT, Group, Phase, Read, Schedule, Unit
from inspect_compile.facts import Access, Location, Operation
from inspect_compile.graph import CompiledGraph, Id, own_name

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_KINDS = frozenset(get_args(BoxKind))


class Ids:
    """A unique id for each key, similar to its name, from letters, digits and underscores."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, ...], str] = {}
        self._taken: set[str] = set()

    def __call__(self, *key: str) -> str:
        if key not in self._of:
            wanted = found = _UNSAFE.sub("_", "_".join(part for part in key if part)).strip("_")[:80] or "_"
            number = 2
            while found in self._taken:
                found = f"{wanted}__{number}"
                number += 1
            self._taken.add(found)
            self._of[key] = found
        return self._of[key]


def module_paths(graph: "CompiledGraph") -> dict[Id, str]:
    """FX node → path of its nn.Module."""
    return {Id.of(node): node.module for node in graph.nodes if node.module}


def one_file(graph: "CompiledGraph", operations: Iterable[Operation]) -> str:
    """The file that all source lines of these operations are of; empty if there are several, or none."""
    return words.one_file(graph.line_of.get(Id(row.graph, node)) for row in operations for node in row.nodes)


@dataclass(frozen=True)
class Boxes:
    """Makes the boxes of one graph's picture."""

    graph: str
    phase: Phase
    where: dict[Id, Location]
    """FX node → source line."""
    inputs: dict[str, dict[str, Input]]
    """Graph → its inputs by name."""
    heat: Heat | None = None
    """What colours them; None: their kinds."""
    modules: dict[Id, str] = field(default_factory=dict)
    """FX node → path of its nn.Module."""
    is_brief: bool = False
    """Tooltips leave out what other tooltips, boxes and arrows tell."""
    file: str = ""
    """The file of all source lines, if it is one: boxes have only the numbers of the lines."""
    copies: Mapping[Id, int] = field(default_factory=dict)
    """First group of a kernel → how many kernels it stands for. With it the kernels stand alone: what goes from one to
    another is not drawn, and a line in a box says what is returned.
    """
    ids: Ids = field(default_factory=Ids)

    @classmethod
    def of(
        cls,
        graph: "CompiledGraph",
        phase: Phase,
        drawn: Schedule,
        heat: Heat | None,
        *,
        copies: Mapping[Id, int] | None = None,
        is_brief: bool = False,
    ) -> "Boxes":
        """What the boxes need to know of the dump."""
        graphs = dict.fromkeys([graph.name, *(unit.graph for unit in drawn.units)])
        given = {of: inputs(graph.other(of)) for of in graphs}
        return cls(
            graph.name,
            phase,
            graph.line_of,
            given,
            heat,
            module_paths(graph),
            is_brief,
            one_file(graph, (operation for unit in drawn.units for operation in unit.operations())),
            copies or {},
        )

    def id(self, key: Id) -> str:
        """The id of an operation's box."""
        return self.ids(self._nested(*key), key[1])

    def _nested(self, graph: str, name: str = "") -> str:
        """The nested graph's name, unless `name` already begins with it, as torch's names do."""
        nested = graph.removeprefix(self.graph).strip("/")
        return "" if nested and name.startswith(own_name(nested)) else nested

    def operation(self, operation: Operation, unit: Unit, folded: list[Access]) -> Box:
        """The box of an operation, including inputs without a box."""
        nodes = words.computing(operation.nodes)
        line = self._line(operation, nodes)
        title = words.shortened(operation.name)
        beside = words.listed(nodes, words.WIDTH - len(title))
        found = [words.shortened(words.code_at(line, self.file), words.LINE_WIDTH)] if line is not None else []
        kind = kind_of(operation)
        if kind == "extern":
            kernel = unit.launch.kernel.name if unit.launch is not None else operation.extern_kernel or ""
            title = words.name_shortened(kernel or operation.name, words.WIDTH + 14)
            beside = ""
            # torch counts what it reads among its origins: its own node is the last.
            own = words.shortened(", ".join((operation.name, *nodes[-1:])), words.LINE_WIDTH)
            found = [own, *found] if kernel else found
        elif kind == "item":
            beside, found = (
                f"one result of {words.shortened(operation.predecessors[0])}" if operation.predecessors else "",
                [],
            )
        elif len(operation.members) > 1:
            found.insert(0, words.listed(operation.members, words.LINE_WIDTH))
        if folded:
            known = self.inputs.get(operation.graph, {})
            names = [known[access.buffer].text if access.buffer in known else access.buffer for access in folded]
            size = words.size_text(sum(access.bytes or 0 for access in folded))
            found.append(f"reads {words.listed(names, words.LINE_WIDTH - 6 - len(size))} {size}")
        if self.copies and OUTPUT in operation.users:
            found.append(f"→ {', '.join(operation.buffers)}, an output")
        return Box(
            self.id(Id.of(operation)),
            kind,
            title,
            beside,
            tuple(found),
            words.operation_tooltip(
                operation,
                self._lines(operation),
                None if self.is_brief and unit.is_kernel else unit.launch,
                is_brief=self.is_brief,
            ),
            *self._shaded(operation, unit),
        )

    def _shaded(self, operation: Operation, unit: Unit) -> tuple[Shade | None, str]:
        if self.heat is None:
            return None, ""
        if self.heat.is_of_launches:
            found = self.heat.launch(unit.launch) if unit.launch is not None else None
            return (self.heat.unknown, "") if found is None else (found.shade, "" if unit.is_kernel else found.words)
        found = self.heat.operation(operation)
        return (self.heat.unknown, "") if found is None else (found.shade, found.words)

    def _line(self, operation: Operation, nodes: Sequence[str]) -> Location | None:
        """Source line of the last node that computes. Nodes made by a pass have none, and get no other's."""
        last = operation.nodes.index(nodes[-1]) if nodes else 0
        found = (self.where.get(Id(operation.graph, node)) for node in operation.nodes[last:])
        return next((where for where in found if where is not None), None)

    def _lines(self, operation: Operation) -> list[Location]:
        found = (self.where.get(Id(operation.graph, node)) for node in reversed(operation.nodes))
        return [where for where in found if where is not None]

    def input(self, key: Id, section: int, reads: list[Read]) -> Box:
        """The box of a graph's input in one section."""
        graph, name = key
        known = self.inputs.get(graph, {}).get(name)
        if known is None:  # names of a nested graph's buffers are prefixed with it
            known = self.inputs.get(graph, {}).get(name.removeprefix(f"{graph.rpartition('/')[2]}_"))
        readers = ", ".join(dict.fromkeys(operation.name for operation, _ in reads))
        tooltip = [
            f"{name}: {_ROLES[known.role] if known is not None else 'constant'}",
            *words.input_lines(known),
            f"read by {readers}",
        ]
        title = words.name_shortened(known.text if known is not None and known.text != known.name else name)
        return Box(
            self.ids("input", self._nested(graph, name), name, f"section_{section}"),
            "input",
            title,
            lines=words.input_lines(known),
            tooltip=words.tooltip(tooltip),
        )

    def output(self, group: Group, operations: list[Operation]) -> Box:
        """The box for the destination of a group's outputs."""
        buffers = ", ".join(buffer for operation in operations for buffer in operation.buffers)
        return Box(
            self.ids("output", self._nested(*group.key), group.key[1]),
            "output",
            "OUTPUT",
            tooltip=words.tooltip([f"OUTPUT: {buffers}"]),
            shade=None if self.heat is None else self.heat.unknown,
        )

    def elsewhere(
        self, direction: Literal["from", "to"], key: Id, sections: list[int], at: int, ends: list[str]
    ) -> Box:
        """A reference in section `at` to the other end of an arrow of the operation `key` that would leave
        the section.
        """
        numbers = ", ".join(str(section + 1) for section in sections if section >= 0)
        return Box(
            self.ids(direction, self._nested(*key), key[1], f"section_{at}"),
            "elsewhere",
            f"{direction} {words.listed(ends, 26)}",
            lines=(f"section {numbers}" if numbers else "not drawn",),
            tooltip=words.tooltip([f"{direction} {', '.join(ends)}"]),
        )

    def unit(self, unit: Unit, folded: dict[Id, list[Access]]) -> tuple[Frame | Box, ...]:
        """The frame of a kernel with its contents, or the box of a single operation."""
        inner: list[Frame | Box] = []
        for group in unit.groups:
            boxes = tuple(
                self.operation(operation, unit, folded.get(Id.of(operation), [])) for operation in group.operations
            )
            if len(boxes) > 1 and (len(unit.groups) > 1 or not unit.is_kernel):
                text = f"fused: {len(boxes)} operations"
                inner.append(Frame(self.frame_id(group), "group", text, boxes, words.tooltip([group.key[1]])))
            else:
                inner += boxes
        if not unit.is_kernel or unit.launch is None:
            return tuple(inner)
        text = words.name_shortened(unit.launch.kernel.name, 46)
        if (copies := self.copies.get(unit.groups[0].key, 1)) > 1:
            text += f"  ×{copies}"
        found = None if self.heat is None else self.heat.launch(unit.launch)
        shade = None if found is None else found.shade
        text = text if found is None else f"{text}: {found.words}"
        tooltip = words.kernel_tooltip(unit.launch, is_brief=self.is_brief)
        return (Frame(self._kernel_id(unit), "kernel", text, tuple(inner), tooltip, shade),)

    def nested(self, graph: str, section: int, inner: tuple[Frame | Box, ...]) -> Frame:
        """The part of a nested graph that is in one section."""
        name = self._nested(graph)
        return Frame(
            self.nested_id(graph, section), "graph", f"graph {words.shortened(name)}", inner, words.tooltip([graph])
        )

    def nested_id(self, graph: str, section: int) -> str:
        """The id of that part's frame."""
        return self.ids("graph", self._nested(graph), f"section_{section}")

    def into(self, unit: Unit, group: Group, *, is_inside: bool = False) -> str | None:
        """The frame at whose border an arrow to `group` ends, so that it crosses no title; `is_inside`: it comes from
        another group of the same kernel.
        """
        if unit.is_kernel and not is_inside:
            return self._kernel_id(unit)
        is_framed = len(group.operations) > 1 and (len(unit.groups) > 1 or not unit.is_kernel)
        return self.frame_id(group) if is_framed else None

    def frame_id(self, group: Group) -> str:
        """The id of a fused group's own frame."""
        return self.ids("group", self._nested(*group.key), group.key[1])

    def _kernel_id(self, unit: Unit) -> str:
        return self.ids("kernel", self._nested(*unit.groups[0].key), unit.groups[0].key[1])


_ROLES = {
    "parameter": "parameter",
    "input": "input of the call",
    "gradient": "incoming gradient",
    "saved": "saved by the forward graph",
    "unknown": "input",
}


def kind_of(operation: Operation) -> BoxKind:
    """The kind of an operation's box."""
    if operation.ir_type == MULTI_OUTPUT:
        return "item"
    if operation.kind == "grouped":
        return "fused"
    return next((kind for kind in _KINDS if kind == operation.kind), "other")
