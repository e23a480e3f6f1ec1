"""Why two operations are, or are not, in one scheduler node: what happened in each round, and what decided."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from inspect_compile.analysis.dumps.rows import lowered_nodes
from inspect_compile.analysis.fusion.dependencies import Between
from inspect_compile.analysis.fusion.ledger import Candidate, Ledger
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.shared_bytes import Common, SharedBytes, shared_bytes
from inspect_compile.analysis.indexing.difference import Difference, differences
from inspect_compile.analysis.kernels.launches import Launch, launches
from inspect_compile.analysis.provenance.lineage import Lineage, NodeRef
from inspect_compile.dump import Dump
from inspect_compile.facts import Location, Lowering
from inspect_compile.knowledge.fusion.knob_values import knobs_of
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.knowledge.fusion.reasons.reason import Reason

Outcome = Literal["together", "one-kernel", "apart", "same"]
Legality = Literal["allowed", "refused", "illegal", "other-index", "free", "unchecked", ""]

_WRONG: Final = "legality"
_ALLOWED: Final = ("allowed", "deferred", "slower", "undone")
"""Verdicts on pairs that torch allowed."""

_DIFFERING: Final = ("no-shared-data", "memory-deps-mismatch", "indexing-mismatch", "score-threshold")
"""Codes about indices, for which the two index expressions are shown."""


class ResolvedOperations(msgspec.Struct, frozen=True):
    """Scheduler nodes before fusion that a name stands for, all in one graph, nested or not."""

    asked: str
    graph: str
    operations: tuple[str, ...]
    """In schedule order."""
    is_loose: bool = False
    """True if they only have the FX node as an origin: its lowering made no operation."""


class Side(msgspec.Struct, frozen=True):
    """One of the two operations."""

    asked: str
    operation: str
    kind: str
    group: str
    """The scheduler node after fusion that contains it."""
    kernel: str
    """Empty if no kernel runs it."""
    node: str
    """The FX node that it was made for."""
    where: Location | None
    numel: str
    rnumel: str


class KnownReason(msgspec.Struct, frozen=True):
    """The description of a reason in `knowledge.fusion.reasons`."""

    code: str
    meaning: str
    about: str
    """legality, profit, backend or never tried."""
    advice: str
    knob: str


class PairStory(msgspec.Struct, frozen=True, tag_field="fact", tag="why"):
    """Two operations of one graph. `why A B --json` prints it."""

    graph: str
    a: Side
    b: Side
    """The later one in the schedule."""
    outcome: Outcome
    """together (one scheduler node); one-kernel (two loops of one launch); apart; same (one operation)."""
    rounds: tuple[Candidate, ...]
    decisive: Candidate | None
    """What decided: the fusion that joined them, the last look that kept them apart, or why they were never tried."""
    reason: KnownReason | None
    """The description of the decisive reason; None if there is none."""
    knobs: tuple[str, ...]
    """Settings of torch._inductor.config that affect the pair, the most likely first."""
    differences: tuple[Difference, ...]
    """Buffers that both touch, if the indices decide."""
    common: Common
    """What both operations touch."""
    saved: Common
    """What the two scheduler nodes that they ended in touch: what a fusion would still save."""
    between: tuple[Between, ...]
    """What must run after one and before the other of these nodes, in order."""
    legality: Legality
    """For pairs that ended apart: allowed (torch considered their fusion legal), refused (torch considered it illegal),
    illegal (torch did not check, but something must run between), other-index (torch did not check, and one reads what
    the other writes at another index), free (torch did not check, and nothing prevents it), unchecked (torch did not
    check, and the dump has no dependencies); otherwise empty.
    """
    others: tuple[tuple[str, str], ...]
    """Other pairs of operations that the names can mean, most bytes first; without those that share no buffer, if this
    pair does.
    """


class GroupStory(msgspec.Struct, frozen=True, tag_field="fact", tag="why_group"):
    """One scheduler node after fusion: how it grew, and what stopped it."""

    graph: str
    asked: str
    group: str
    kernel: str
    members: tuple[Side, ...]
    grown: tuple[Candidate, ...]
    """The fusions that made it, in order."""
    stopped: tuple[Miss, ...]
    """Pairs with other scheduler nodes that share bytes with it, most bytes first."""


class FusionStories:
    """Explains which operations of one graph were fused, which were not, and why."""

    def __init__(self, dump: Dump, ledger: Ledger, missed: Iterable[Miss]) -> None:
        """`missed` are the ledger's pairs that ended apart; needed for `group` only."""
        self.graph = graph = ledger.graph
        self.ledger = ledger
        self._missed = tuple(missed)
        self._before = shared_bytes(dump, graph, "pre_fusion")
        self._after = shared_bytes(dump, graph)
        self._holding = {member: row.name for row in self._before.rows.values() for member in row.members}
        """Operation → the scheduler node before fusion that contains it, or is it."""
        self._where = _lines(dump, graph)
        self._made = {
            operation: row.node
            for row in dump.rows(Lowering, graph)
            if row.graph == graph
            for operation in row.operations
        }
        self._calls: dict[str, Launch] = {
            operation: call for call in launches(dump, graph) if call.graph == graph for operation in call.operations
        }

    @property
    def operations(self) -> Iterable[str]:
        """The operations before fusion."""
        return self._before.rows

    def meant(self, node: str) -> ResolvedOperations:
        """The operations of a scheduler node of any round, as far as known."""
        members = self.ledger.members.get(node, (node,))
        found = (self._holding[member] for member in members if member in self._holding)
        return ResolvedOperations(node, self.graph, tuple(dict.fromkeys(found)))

    def pair(self, one: ResolvedOperations, other: ResolvedOperations) -> PairStory:
        """The story of the pair that shares most bytes of all that the names mean; those that ended apart go first."""
        pairs = sorted(
            {tuple(sorted((a, b), key=self._order)) for a in one.operations for b in other.operations if a != b},
            key=self._dearest,
        )
        if not pairs:
            return self._story(one.operations[0], one.operations[0], one.asked, other.asked, ())
        (a, b), *rest = pairs
        if self._before.of(a, b).buffers:
            rest = [(x, y) for x, y in rest if self._before.of(x, y).buffers]
        asked = (one.asked, other.asked) if a in one.operations else (other.asked, one.asked)
        return self._story(a, b, *asked, tuple((x, y) for x, y in rest))

    def group(self, meant: ResolvedOperations) -> list[GroupStory]:
        """The stories of the scheduler nodes that the operations ended in."""
        found = dict.fromkeys(self._group_of(operation) for operation in meant.operations)
        return [self._group(name, meant.asked) for name in found if name in self._after.rows]

    def _group(self, name: str, asked: str) -> GroupStory:
        row = self._after.rows[name]
        members = frozenset(row.members)
        grown = [
            one
            for one in self.ledger.candidates
            if one.verdict == "fused" and members.issuperset(self.ledger.members.get(one.into, ("",)))
        ]
        sides = tuple(
            self._side(one.name, one.name) for one in self._before.rows.values() if members.issuperset(one.members)
        )
        stopped = tuple(miss for miss in self._missed if name in (miss.a, miss.b))
        return GroupStory(self.graph, asked, name, sides[0].kernel, sides, tuple(grown), stopped)

    def _story(self, a: str, b: str, asked_a: str, asked_b: str, others: tuple[tuple[str, str], ...]) -> PairStory:
        rows = self._before.rows
        sides = self._side(a, asked_a), self._side(b, asked_b)
        groups = sides[0].group, sides[1].group
        rounds = tuple(self.ledger.met(a, b)) if a != b else ()
        outcome: Outcome = "apart"
        if a == b:
            outcome = "same"
        elif groups[0] == groups[1]:
            outcome = "together"
        elif sides[0].kernel and self._calls[rows[a].members[0]] == self._calls.get(rows[b].members[0]):
            outcome = "one-kernel"
        decisive = _decisive(rounds, outcome)
        is_index = decisive is not None and decisive.code in _DIFFERING
        one, other = ((*row.reads, *row.writes) for row in (rows[a], rows[b]))
        found = tuple(differences(one, other)) if is_index else ()
        reason = by_code(decisive.code) if decisive is not None and decisive.code else None
        is_apart = outcome in ("apart", "one-kernel")
        between = self.ledger.between(*groups, _look_of(decisive)) if is_apart else ()
        return PairStory(
            graph=self.graph,
            a=sides[0],
            b=sides[1],
            outcome=outcome,
            rounds=rounds,
            decisive=decisive,
            reason=reason and KnownReason(reason.code, reason.meaning, reason.about, reason.advice, reason.knob),
            knobs=knobs_of(reason, {one.kind for one in found}, {rows[a].kind, rows[b].kind}, rows[b].device),
            differences=found,
            common=_common(self._before, a, b),
            saved=_common(self._after, *groups),
            between=between,
            legality=self._legality(groups, decisive, reason, between) if is_apart else "",
            others=others,
        )

    def _legality(
        self, groups: tuple[str, str], decisive: Candidate | None, reason: Reason | None, between: tuple[Between, ...]
    ) -> Legality:
        if decisive is not None and decisive.verdict in _ALLOWED:
            return "allowed"
        if reason is not None and reason.about == _WRONG:
            return "refused"
        if between:
            return "illegal"
        a, b = (self._after.rows.get(name) for name in groups)
        if a is None or b is None or not self.ledger.dependencies.is_known:
            return "unchecked"
        first, second = (a, b) if a.order < b.order else (b, a)
        handed = differences(first.writes, second.reads)
        return "other-index" if any(one.kind != "same" for one in handed) else "free"

    def _side(self, operation: str, asked: str) -> Side:
        row = self._before.rows[operation]
        maker = self._made.get(operation, "")
        name = maker if maker in row.nodes or not row.nodes else row.nodes[-1]  # it may have become real for a reader
        lines = (self._where[one] for one in (name, *reversed(row.nodes)) if one in self._where)
        call = self._calls.get(row.members[0])
        return Side(
            asked=asked,
            operation=operation,
            kind=row.kind,
            group=self._group_of(operation),
            kernel="" if call is None else call.kernel.name,
            node=name,
            where=next(lines, None),
            numel=row.numel,
            rnumel=row.rnumel,
        )

    def _group_of(self, operation: str) -> str:
        """The scheduler node after fusion that contains an operation."""
        row = self._before.rows.get(operation)
        return self.ledger.final.get(row.members[0] if row is not None else operation, operation)

    def _order(self, operation: str) -> int:
        return self._before.rows[operation].order

    def _dearest(self, pair: tuple[str, ...]) -> tuple[bool, int, int, int]:
        a, b = pair
        is_together = self._group_of(a) == self._group_of(b)
        return is_together, -self._before.of(a, b).saved, self._order(a), self._order(b)


def _lines(dump: Dump, graph: str) -> dict[str, Location]:
    """Node → source line; a node that a pass made has the line of what it replaces."""
    nodes = [row for row in lowered_nodes(dump, graph) if row.graph == graph]
    found = {row.name: row.where for row in nodes if row.where is not None}
    if all(row.name in found for row in nodes if row.op == "call_function"):
        return found
    lineage = Lineage(dump, graph)
    for row in nodes:
        where = None if row.name in found else lineage.line_of(NodeRef.of(row))
        if where is not None:
            found[row.name] = where
    return found


def _look_of(decisive: Candidate | None) -> Candidate | None:
    """The look that found something in between; what is there later is another question."""
    return decisive if decisive is not None and decisive.code == "intermediate-nodes" else None


def _decisive(rounds: tuple[Candidate, ...], outcome: Outcome) -> Candidate | None:
    if outcome == "together":
        return next((row for row in reversed(rounds) if row.verdict == "fused"), None)
    tried = [row for row in rounds if row.verdict not in ("untried", "fused", "overruled")]
    return tried[-1] if tried else next(iter(rounds), None)


def _common(shared: SharedBytes, a: str, b: str) -> Common:
    return shared.of(a, b) if a != b and a in shared.rows and b in shared.rows else Common(0, (), ())
