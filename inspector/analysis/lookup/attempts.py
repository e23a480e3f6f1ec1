"""Finds the rows that a person selects by names; fusion attempts also by reason, source line or round."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from inspect_compile.analysis.dumps.parts import numbers_text
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import Node, Operation
from inspect_compile.graph import CompiledGraph, Graphs, Id, ProgramLine, operations_in, outermost, short
from inspect_compile.graph.fusion.ledger import Candidate, candidates

_Operations = frozenset[Id]
"""(graph, operation)."""


@dataclass(frozen=True)
class FusionFilter:
    """True of the selected attempts."""

    reason: str | None = None
    in_round: int | None = None
    operations: _Operations | None = None

    @property
    def is_all(self) -> bool:
        """True if it selects every attempt."""
        return self == FusionFilter()

    def __call__(self, row: Candidate) -> bool:
        """True if the row is selected."""
        if self.reason is not None and self.reason not in (row.code, row.verdict):
            return False
        if self.in_round is not None and row.round != self.in_round:
            return False
        if self.operations is None:
            return True
        return any(Id(row.graph, name) in self.operations for pair in (row.a, row.b) for name in operations_in(pair))


def concerning(graphs: Graphs, names: tuple[str, ...]) -> Callable[[msgspec.Struct], bool]:
    """True of a row of any table that involves all of `names`, as they are meant in `graph`, or in the row's graph.

    A fusion attempt involves the operations that a name stands for, and those fused into the same scheduler node; with
    two names, it has one of them on each side.
    """
    meant: dict[str, list[set[str]]] = {}

    def concerns(row: msgspec.Struct) -> bool:
        if not names or not isinstance(row, Candidate):
            return matches(row, names)
        of = graphs.name or outermost(row.graph)
        if of not in meant:
            meant[of] = [_members(CompiledGraph(graphs.dump, of), name) for name in names]
        return _is_between(row, meant[of])

    return concerns


def _is_between(row: Candidate, meant: list[set[str]]) -> bool:
    a, b = set(operations_in(row.a)) or {row.a}, set(operations_in(row.b)) or {row.b}
    if len(meant) == 2:
        return bool((meant[0] & a and meant[1] & b) or (meant[0] & b and meant[1] & a))
    return all(found & (a | b) for found in meant)


def _members(graph: CompiledGraph, name: str) -> set[str]:
    """The operations that the name stands for, and all that ended in one scheduler node with any of them."""
    answer = find_operations(graph, (name,))
    named = {one for (meant,) in answer.all for one in meant.operations} if isinstance(answer, Found) else {name}
    rows = graph.rows(Operation)
    found = named.union(*(row.members for row in rows if row.name in named))
    return found.union(*(row.members for row in rows if row.phase == "post_fusion" and found & set(row.members)))


def find_attempts(
    graphs: Graphs, *, reason: str | None = None, line: str | None = None, in_round: int | None = None
) -> Answer[FusionFilter]:
    """Those with a reason code or verdict, in a round, with an operation of a line; of all graphs for None."""
    operations = None
    if line is not None:
        answer = find_operations_of_line(graphs, line)
        if not isinstance(answer, Found):
            return answer
        (operations,) = answer.all
    # A line alone needs no look at all attempts.
    wanted = () if reason is None and in_round is None else graphs.facts
    known = [row for found in wanted for row in candidates(CompiledGraph(graphs.dump, found.graph))]
    if reason is not None and all(reason not in (row.code, row.verdict) for row in known):
        codes = Counter(row.code or row.verdict for row in known if row.verdict != "fused")
        return Unknown(reason, "reason", graphs.dump.root, there=tuple(code for code, _ in codes.most_common()))
    rounds = {row.round for row in known}
    if in_round is not None and in_round not in rounds:
        there = (numbers_text(number for number in rounds if number),)
        return Unknown(str(in_round), "round", graphs.dump.root, there=there if there[0] else ())
    return Found((FusionFilter(reason, in_round, operations),))


def find_operations_of_line(graphs: Graphs, text: str) -> Answer[_Operations]:
    """The operations that a source line made: `12`, `model.py:12` or a longer path."""
    asked = ProgramLine.read(text)
    if asked is None:
        return Unknown(text, "form of a program's line", graphs.dump.root)
    places = [(node, node.where) for node in graphs.rows(Node) if node.where is not None]
    meant = {Id.of(node) for node, where in places if asked.is_at(where)}
    rows = graphs.operations
    if found := frozenset(Id.of(row) for row in rows if any(Id(row.graph, name) in meant for name in row.nodes)):
        return Found((found,))
    made = {Id(row.graph, name) for row in rows for name in row.nodes}
    computing = (where for node, where in places if node.stage == "post_grad" and Id.of(node) in made)
    there = tuple(
        dict.fromkeys(map(short, sorted(computing, key=lambda where: (short(where).rpartition(":")[0], where.line))))
    )
    return Unknown(text, "operation of a line", graphs.dump.root, there=there)
