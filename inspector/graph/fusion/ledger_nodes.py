"""Scheduler nodes of the fusion: their operations, how a pair would be joined, and their source lines."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inspect_compile.facts import Location, Node, Operation
from inspect_compile.graph.names import operations_in, short
from inspect_compile.knowledge.frontend.operator_names import operator_name

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_MOST = 20_000
"""Maximum number of operations whose ancestors are computed; beyond it only direct dependencies count."""


class Nodes:
    """The scheduler nodes of one graph, of any round, by name."""

    def __init__(self, graph: "CompiledGraph") -> None:
        rows = [row for row in graph.rows(Operation) if row.graph == graph.name]
        self.before = before = [row for row in rows if row.phase == "pre_fusion"]
        self.final = {member: row.name for row in rows if row.phase == "post_fusion" for member in row.members}
        self.members = {row.name: row.members for row in rows if row.members}
        self.node_type: dict[str, str] = {}
        """Fused node → its class, if recorded."""
        self._kinds = {member: row.kind for row in before for member in row.members}
        self._bits, self._above = _ancestors(before)
        self._nodes = {node.name: node for node in graph.nodes if node.graph == graph.name}
        self._rows = {member: row for row in before for member in row.members}
        self._lines = _lines(self._nodes, before)
        self._known: dict[str, tuple[int, int, str]] = {}

    def operations(self, name: str) -> tuple[str, ...]:
        """The operations in a scheduler node."""
        found = self.members.get(name)
        if found is None:
            found = self.members[name] = tuple(operations_in(name)) or (name,)
        return found

    def line(self, name: str) -> str:
        """Source line of the last of the node's operations that has one, `file.py:12`."""
        return next((line for one in reversed(self.operations(name)) if (line := self._lines.get(one))), "")

    def touching(self, name: str, buffer: str) -> tuple[str, ...]:
        """The operations in a scheduler node that write a buffer, else those that read it, else all."""
        every = self.operations(name)
        rows = [self._rows[one] for one in every if one in self._rows]
        writing = tuple(row.name for row in rows if buffer in row.buffers)
        return writing or tuple(row.name for row in rows if any(one.buffer == buffer for one in row.reads)) or every

    def part(self, operations: tuple[str, ...]) -> tuple[str, str, Location | None]:
        """What operations compute: the last FX node of the last that has one, its name in the program's words, and the
        last line of that operation.
        """
        for one in reversed(operations):
            if one in self._rows and (names := self._rows[one].nodes):
                node = self._nodes.get(names[-1])
                rows = (self._nodes[name] for name in reversed(names) if name in self._nodes)
                where = next((row.where for row in rows if row.where is not None), None)
                named = "" if node is None else operator_name(node.original_aten or node.target)
                return names[-1], named, where
        return "", "", None

    def kind_of(self, name: str) -> str:
        """pointwise, reduction, extern and so on; for several operations, fused."""
        operations = self.operations(name)
        return self._kinds.get(operations[0], "") if len(operations) == 1 else "fused"

    def kind(self, a: str, b: str) -> str:
        """How the two would be joined; empty if one of them is not known."""
        own_a, above_a, what_a = self._known.get(a) or self._node(a)
        own_b, above_b, what_b = self._known.get(b) or self._node(b)
        if what_a == what_b == "" and own_a and own_b:
            return "producer-consumer" if above_b & own_a or above_a & own_b else "horizontal"
        for kind in ("foreach", "nested", "mix-order"):
            if kind in (what_a, what_b):
                return kind
        if "template" in (what_a, what_b):
            above = above_b & own_a if what_a == "template" else above_a & own_b
            below = above_a & own_b if what_a == "template" else above_b & own_a
            return "epilogue" if above else "prologue" if below else "horizontal"
        if not (own_a and own_b):
            return ""
        return "producer-consumer" if above_b & own_a or above_a & own_b else "horizontal"

    def joined(self, kind: str, node_type: str) -> str:
        """The kind of a fused pair: the class of the fused node is more specific."""
        if "MixOrder" in node_type:
            return "mix-order"
        return "nested" if "Nested" in node_type else kind

    def _node(self, name: str) -> tuple[int, int, str]:
        own = above = 0
        kinds = set()
        for operation in self.operations(name):
            own |= self._bits.get(operation, 0)
            above |= self._above.get(operation, 0)
            kinds.add(self._kinds.get(operation, ""))
        what = self.joined("", self.node_type.get(name, ""))
        what = what or next((kind for kind in ("foreach", "template") if kind in kinds), "")
        found = self._known[name] = own, above & ~own, what
        return found


def _ancestors(rows: list[Operation]) -> tuple[dict[str, int], dict[str, int]]:
    """Operation → its bit, and the bits of everything that must run before it. Rows are in topological order."""
    bits: dict[str, int] = {}
    for row in rows:
        for member in row.members:
            bits.setdefault(member, 1 << min(len(bits), _MOST))
    above: dict[str, int] = {}
    for row in rows:
        found = 0
        for name in sorted(set(row.predecessors), key=lambda name: -bits.get(name, 0)):
            bit = bits.get(name, 0)
            if bit and not found & bit:  # its ancestors are included already
                found |= bit | (above.get(name, 0) if len(bits) <= _MOST else 0)
        for member in row.members:
            above[member] = found
    return bits, above


def _lines(nodes: Mapping[str, Node], rows: list[Operation]) -> dict[str, str]:
    """Operation → source line of the last of its nodes that has one."""
    where = {name: short(node.where) for name, node in nodes.items() if node.where is not None}
    lines: dict[str, str] = {}
    for row in rows:
        line = next((where[name] for name in reversed(row.nodes) if name in where), "")
        for member in row.members:
            lines[member] = line
    return lines
