"""Two sets of operations of a graph, and whether a compile has them in one scheduler node."""

from typing import NamedTuple

from inspect_compile.analysis.lookup.answer import Ambiguous, Answer, Found, Unknown
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, operations_in


class Pair(NamedTuple):
    """Two sets of operations."""

    graph: str
    """Their graph: the selected one, or one nested in it."""
    a: tuple[str, ...]
    b: tuple[str, ...]

    @property
    def words(self) -> str:
        """`op1_op2 and op3`."""
        return f"{'_'.join(self.a)} and {'_'.join(self.b)}"


class PairPlacement(NamedTuple):
    """Where the two sets are after fusion."""

    a: tuple[str, ...]
    """Scheduler nodes that contain operations of `a`."""
    b: tuple[str, ...]
    kernels_a: tuple[str, ...]
    kernels_b: tuple[str, ...]
    launches_a: frozenset[int] = frozenset()
    """Launches of `a`, by their index in the generated code."""
    launches_b: frozenset[int] = frozenset()

    @property
    def is_fused(self) -> bool:
        """True if one scheduler node contains operations of both."""
        return not set(self.a).isdisjoint(self.b)

    @property
    def is_one_kernel(self) -> bool:
        """True if one launch runs both. A CPU kernel may contain several scheduler nodes, one loop nest each."""
        return not self.launches_a.isdisjoint(self.launches_b)


def find_pair(graph: CompiledGraph, a: str, b: str) -> Answer[Pair]:
    """The sets that `a` and `b` name: operations, buffers, FX nodes, kernels, or scheduler nodes of any round."""
    sides: list[tuple[str, tuple[str, ...]]] = []
    for name in (a, b):
        answer = find_members(graph, name)
        if not isinstance(answer, Found):
            return answer
        sides += answer.all
    (graph_a, ops_a), (graph_b, ops_b) = sides
    if graph_a != graph_b:
        there = (f"{a} in {graph_a}", f"{b} in {graph_b}")
        return Unknown(f"{a} and {b}", "graph of a pair", graph.dump.root, there=there)
    if both := sorted(set(ops_a) & set(ops_b)):
        return Unknown(f"{a} and {b}", "two operations", graph.dump.root, there=tuple(both))
    return Found((Pair(graph_a, ops_a, ops_b),))


def find_members(graph: CompiledGraph, text: str) -> Answer[tuple[str, tuple[str, ...]]]:
    """The graph and the operations that `text` names; ambiguous for a node that only went into several operations."""
    rows = graph.operations
    known = {member: row.graph for row in rows for member in row.members}
    parts = [text] if text in known else operations_in(text)
    if parts and "_".join(parts) == text and all(part in known for part in parts):
        return Found(((known[parts[0]], tuple(parts)),))
    answer = find_operations(graph, (text,))
    if not isinstance(answer, Found):
        return answer
    ((meant,),) = answer.all
    if meant.is_loose and len(meant.operations) > 1:
        return Ambiguous(text, "operation", meant.operations)
    members = {row.name: row.members for row in rows if row.graph == meant.graph}
    return Found(((meant.graph, tuple(member for one in meant.operations for member in members[one])),))


def standing(dump: Dump, pair: Pair) -> PairPlacement:
    """Where `pair` is after fusion."""
    graph = CompiledGraph(dump, pair.graph)
    groups = graph.own(graph.groups)
    sides = [set(side) for side in (pair.a, pair.b)]
    names = [tuple(row.name for row in groups if not side.isdisjoint(row.members)) for side in sides]
    calls = [call for call in graph.outermost.launches if call.graph == pair.graph]
    places = [frozenset(n for n, call in enumerate(calls) if not set(call.groups).isdisjoint(own)) for own in names]
    held = [tuple(dict.fromkeys(calls[place].kernel.name for place in sorted(own))) for own in places]
    return PairPlacement(names[0], names[1], held[0], held[1], places[0], places[1])


def is_one_before(dump: Dump, pair: Pair) -> bool:
    """True if one scheduler node contains both before any fusion, as for the operations of a foreach."""
    graph, a, b = CompiledGraph(dump, pair.graph), set(pair.a), set(pair.b)
    return any(not a.isdisjoint(row.members) and not b.isdisjoint(row.members) for row in graph.own(graph.operations))
