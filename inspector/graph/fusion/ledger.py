"""The fusion ledger: what became of each pair of scheduler nodes in each round, tried or not, and why."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from inspect_compile.facts import FusionCombo, FusionLooks, FusionOrder, FusionRound, Location
from inspect_compile.facts.fusion import FusionRow
from inspect_compile.graph.fusion.dependencies import Between, Dependencies
from inspect_compile.graph.fusion.ledger_candidates import REASONS, Candidate, Round, candidates_of, round_of
from inspect_compile.graph.fusion.ledger_nodes import Nodes
from inspect_compile.graph.fusion.ledger_rows import decoded_looks

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

MOST_UNTRIED: Final = 1_000_000
"""Maximum number of pairs that are searched for untried ones."""

_WRONG_ORDER: Final = "wrong-order"


class Ledger:
    """The fusion of one graph, without the graphs nested in it."""

    def __init__(self, graph: str, rows: list[FusionRow], nodes: Nodes, *, is_measured: bool = True) -> None:
        self.graph = graph
        self._decoded = decoded_looks(rows)
        if not is_measured:  # what stands for times in a compile for a target was measured nowhere
            self._decoded.milliseconds.clear()
        self._nodes = nodes
        self._between: dict[str, Between] = {}
        self.final = nodes.final
        """Operation → its group after fusion."""
        text = self._decoded.text
        self.rounds = [round_of(self._decoded, index) for index in range(len(self._decoded.rounds))]
        for number, kind in self._decoded.node_type.items():
            nodes.node_type[text(number)] = text(kind)
        for fusions in self._decoded.fused.values():
            for a, b, into in fusions.pairs:
                nodes.members.setdefault(text(into), nodes.operations(text(a)) + nodes.operations(text(b)))
        self.candidates = candidates_of(graph, self._decoded, nodes)
        """The pairs that were tried, in the order in which they were first looked at."""

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """Scheduler node of any round → the operations in it."""
        for found in self.rounds:
            for node in found.nodes:
                self._nodes.operations(node)
        return self._nodes.members

    @cached_property
    def _holders(self) -> dict[int, dict[str, str]]:
        return {
            found.number: {operation: node for node in found.nodes for operation in self._nodes.operations(node)}
            for found in self.rounds
        }

    @cached_property
    def _of_operation(self) -> dict[tuple[int, str], dict[int, Candidate]]:
        """(round, operation) → the looks at a node that contained it, by their index."""
        found: dict[tuple[int, str], dict[int, Candidate]] = {}
        for place, one in enumerate(self.candidates):
            for operation in (*self._nodes.operations(one.a), *self._nodes.operations(one.b)):
                found.setdefault((one.round, operation), {})[place] = one
        return found

    @cached_property
    def dependencies(self) -> Dependencies:
        """Dependencies between the scheduler nodes after fusion."""
        return Dependencies(self._nodes.before, self.final)

    def between(self, a: str, b: str, look: Candidate | None = None) -> tuple[Between, ...]:
        """What must run after one and before the other of two nodes after fusion, in order, if known; if nothing must,
        what had to when the pair was looked at: other nodes have grown since.
        """
        names = self.dependencies.between(a, b)
        if not names and look is not None and look.round:
            groups = dict(self._holders.get(look.round, {}))
            for name in (look.a, look.b):
                groups.update((operation, name) for operation in self._nodes.operations(name))
            names = Dependencies(self._nodes.before, groups).between(look.a, look.b)
        nodes, known = self._nodes, self._between
        for name in names:
            if name not in known:
                known[name] = Between(name, nodes.kind_of(name), *nodes.part(nodes.operations(name)))
        return tuple([known[name] for name in names])

    def part(self, name: str, buffer: str) -> tuple[str, str, Location | None]:
        """Of a scheduler node the part that touches a buffer: its FX node, that node's name in the program's words, and
        its line.
        """
        return self._nodes.part(self._nodes.touching(name, buffer))

    def group(self, number: int, operation: str) -> str | None:
        """The node that contained an operation when the given round began."""
        return self._holders.get(number, {}).get(operation)

    def met(self, one: str, other: str) -> list[Candidate]:
        """What became of two operations, or groups, in each round until they are in one group."""
        first, second = self._nodes.operations(one)[0], self._nodes.operations(other)[0]
        found: list[Candidate] = []
        for begun in self.rounds:
            a, b = self.group(begun.number, first), self.group(begun.number, second)
            if a is None or b is None:
                continue
            if a == b:
                if not found or found[-1].verdict != "fused":
                    found.append(self._untried(begun, a, b, "one-group"))
                break
            tried = self._looks(begun.number, first, second)
            found.append(last_word(tried) if tried else self._untried(begun, a, b, begun.cause(a, b)))
            if found[-1].verdict == "fused":
                break
        return found

    def _looks(self, number: int, first: str, second: str) -> list[Candidate]:
        """The looks of a round at two nodes of which one contained `first` and the other `second`."""
        ones, others = (self._of_operation.get((number, name), {}) for name in (first, second))
        few, many = (ones, others) if len(ones) <= len(others) else (others, ones)
        return [row for place, row in few.items() if place in many and self._are_apart(row, first, second)]

    def _are_apart(self, row: Candidate, first: str, second: str) -> bool:
        a, b = self._nodes.operations(row.a), self._nodes.operations(row.b)
        return (first in a and second in b) or (first in b and second in a)

    def untried(self) -> Iterator[Candidate]:
        """Pairs of nodes of the first round that share a buffer, ended in two kernels, and were tried in no round."""
        if not self.rounds:
            return
        start = self.rounds[0]
        users: dict[str, list[int]] = {}
        for position, node in enumerate(start.nodes):
            for buffer in start.buffers.get(node, ()):
                users.setdefault(buffer, []).append(position)
        seen: set[tuple[int, int]] = set()
        for group in users.values():
            for place, one in enumerate(group):
                for other in group[place + 1 :]:
                    if (one, other) in seen:
                        continue
                    seen.add((one, other))
                    a, b = start.nodes[one], start.nodes[other]
                    if not self._was_tried(a, b):
                        yield self._untried(start, a, b, start.cause(a, b))
                    if len(seen) >= MOST_UNTRIED:
                        return

    def _was_tried(self, a: str, b: str) -> bool:
        """True if torch looked at the two, or put them into one node while fusing others."""
        first, second = self._nodes.operations(a)[0], self._nodes.operations(b)[0]
        if first in self.final and self.final[first] == self.final.get(second):
            return True
        return any(self._looks(begun.number, first, second) for begun in self.rounds)

    def _untried(self, begun: Round, a: str, b: str, code: str) -> Candidate:
        return Candidate(
            graph=self.graph,
            round=begun.number,
            a=a,
            b=b,
            kind="" if a == b else self._nodes.kind(a, b),
            verdict="untried",
            code=code,
            reason=REASONS.get(code, ""),
            into=a if a == b else "",
            where_a=self._nodes.line(a),
            where_b=self._nodes.line(b),
        )


_KINDS: Final[tuple[type[FusionRow], ...]] = (FusionRound, FusionLooks, FusionOrder, FusionCombo)


def ledger(graph: "CompiledGraph") -> Ledger:
    """The ledger of `graph` alone."""
    rows = [row for kind in _KINDS for row in graph.rows(kind) if row.graph == graph.name]
    return Ledger(graph.name, rows, Nodes(graph), is_measured=not graph.dump.run.target)


def ledgers(graph: "CompiledGraph") -> list[Ledger]:
    """The ledger of `graph` and those of the graphs nested in it."""
    names = dict.fromkeys((graph.name, *(row.graph for kind in _KINDS for row in graph.rows(kind))))
    return [graph.other(name).ledger for name in names]


def candidates(graph: "CompiledGraph") -> list[Candidate]:
    """The tried pairs of `graph` and of the graphs nested in it."""
    return [row for found in graph.ledgers for row in found.candidates]


def last_word(looks: Sequence[Candidate]) -> Candidate:
    """The look that decided: the last one, but of a pair refused in both directions the one in the possible direction:
    that a producer cannot come after its consumer does not explain why the two were not fused.
    """
    last = looks[-1]
    if last.verdict != "refused":
        return last
    both = [row for row in looks if row is last or (row.round, row.b, row.a) == (last.round, last.a, last.b)]
    return next((row for row in both if row.code != _WRONG_ORDER), both[0])


__all__ = ["Candidate", "Ledger", "Round", "candidates", "last_word", "ledger", "ledgers"]
