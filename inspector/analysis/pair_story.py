"""Why two operations are, or are not, in one scheduler node: the pair's way through the rounds, and what decided it."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from inspect_compile.analysis.dependencies import Between
from inspect_compile.analysis.index_difference import Difference, differences
from inspect_compile.analysis.launches import Launch, launches
from inspect_compile.analysis.ledger import Candidate, Ledger
from inspect_compile.analysis.lineage import Kin, Lineage
from inspect_compile.analysis.meant_operations import MeantOperations
from inspect_compile.analysis.misses import Miss
from inspect_compile.analysis.shared_bytes import Common, SharedBytes, shared_bytes
from inspect_compile.dump import Dump
from inspect_compile.facts import Access, Location, Lowering, Node, Operation
from inspect_compile.knowledge.fusion_reasons import by_code
from inspect_compile.knowledge.fusion_reasons.reason import Reason
from inspect_compile.knowledge.knobs_of import knobs_of

Outcome = Literal["together", "one-kernel", "apart", "same"]
Legality = Literal["allowed", "refused", "illegal", "other-index", "free", "unchecked", ""]

_WRONG: Final = "legality"
_ALLOWED: Final = ("legal", "put-off", "slower", "undone")
"""Verdicts on pairs that torch found right to fuse."""

_DIFFERING: Final = ("no-shared-data", "memory-deps-mismatch", "indexing-mismatch", "score-threshold")
"""Codes that speak of indices: they are told with the two index expressions beside each other."""


class Side(msgspec.Struct, frozen=True):
    """One of the two."""

    asked: str
    operation: str
    kind: str
    group: str
    """The scheduler node after fusion that holds it."""
    kernel: str
    """Empty where no kernel runs it."""
    node: str
    """The FX node that it was made for."""
    where: Location | None
    numel: str
    rnumel: str


class KnownReason(msgspec.Struct, frozen=True):
    """What is known of a reason: `knowledge.fusion_reasons`."""

    code: str
    meaning: str
    about: str
    """legality, profit, backend, never tried."""
    advice: str
    knob: str


class PairStory(msgspec.Struct, frozen=True, tag_field="fact", tag="why"):
    """Two operations of one graph. `why A B --json` prints it."""

    graph: str
    a: Side
    b: Side
    """The later one in the schedule."""
    outcome: Outcome
    """together (one scheduler node), one-kernel (two loops of one launch of a kernel), apart, same (one operation)."""
    rounds: tuple[Candidate, ...]
    decisive: Candidate | None
    """What decided: the fusion that brought them together, else the last look that kept them apart, else the cause for
    which they were never tried."""
    score_parts: tuple[str, ...]
    """Names of the parts of torch's scores."""
    reason: KnownReason | None
    """What is known of the decisive reason; None for one that is not known here."""
    knobs: tuple[str, ...]
    """Settings of torch._inductor.config that decide over the pair, the likeliest first."""
    differences: tuple[Difference, ...]
    """Buffers that both touch, where the indices decide."""
    common: Common
    """What both operations touch."""
    saved: Common
    """What the two scheduler nodes that they ended in touch: what a fusion would still save."""
    between: tuple[Between, ...]
    """What must run after the one and before the other of the nodes that they ended in, in order."""
    legality: Legality
    """Of pairs that ended apart: allowed (torch found it right to have both in one), refused (torch found it wrong),
    illegal (torch did not ask, but something must run between), other-index (torch did not ask, and the one reads what
    the other writes at another index), free (torch did not ask, and nothing is in the way), unchecked (torch did not
    ask, and the dump does not tell what depends on what); empty of others."""
    others: tuple[tuple[str, str], ...]
    """Other pairs of operations that the question means too, the dearest first."""


class GroupStory(msgspec.Struct, frozen=True, tag_field="fact", tag="why_group"):
    """One scheduler node after fusion: how it grew, and what stopped it."""

    graph: str
    asked: str
    group: str
    kernel: str
    members: tuple[Side, ...]
    grown: tuple[Candidate, ...]
    """The fusions that made it, in order."""
    score_parts: tuple[str, ...]
    stopped: tuple[Miss, ...]
    """Pairs with other scheduler nodes that share bytes with it, the dearest first."""


class FusionStories:
    """Tells of the operations of one graph, which of them were fused and which not, and why."""

    def __init__(self, dump: Dump, ledger: Ledger, missed: Iterable[Miss]) -> None:
        """`missed` are the ledger's pairs that ended apart: a group's story names them, a pair's needs none."""
        self.graph = graph = ledger.graph
        self.ledger = ledger
        self._missed = tuple(missed)
        self._before = shared_bytes(dump, graph, "pre_fusion")
        self._after = shared_bytes(dump, graph)
        self._holding = {member: row.name for row in self._before.rows.values() for member in row.members}
        """Operation → the scheduler node before fusion that is, or holds, it."""
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
        """Those before fusion."""
        return self._before.rows

    def meant(self, node: str) -> MeantOperations:
        """The operations of a scheduler node of any round, as far as they are known."""
        members = self.ledger.members.get(node, (node,))
        found = (self._holding[member] for member in members if member in self._holding)
        return MeantOperations(node, self.graph, tuple(dict.fromkeys(found)))

    def pair(self, one: MeantOperations, other: MeantOperations) -> PairStory:
        """Of all pairs that are meant the one that shares most bytes, those that ended apart before those together."""
        pairs = sorted(
            {tuple(sorted((a, b), key=self._order)) for a in one.operations for b in other.operations if a != b},
            key=self._dearest,
        )
        if not pairs:
            return self._story(one.operations[0], one.operations[0], one.asked, other.asked, ())
        (a, b), *rest = pairs
        asked = (one.asked, other.asked) if a in one.operations else (other.asked, one.asked)
        return self._story(a, b, *asked, tuple((x, y) for x, y in rest))

    def group(self, meant: MeantOperations) -> list[GroupStory]:
        """The scheduler nodes that the operations ended in."""
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
        return GroupStory(
            self.graph, asked, name, sides[0].kernel, sides, tuple(grown), self.ledger.score_parts, stopped
        )

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
        found = tuple(differences(_accesses(rows[a]), _accesses(rows[b]))) if is_index else ()
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
            score_parts=self.ledger.score_parts,
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
        name = self._made.get(operation) or (row.nodes[-1] if row.nodes else "")
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
        """The scheduler node after fusion that holds one before it."""
        row = self._before.rows.get(operation)
        return self.ledger.final.get(row.members[0] if row is not None else operation, operation)

    def _order(self, operation: str) -> int:
        return self._before.rows[operation].order

    def _dearest(self, pair: tuple[str, ...]) -> tuple[bool, int, int, int]:
        a, b = pair
        is_together = self._group_of(a) == self._group_of(b)
        return is_together, -self._before.of(a, b).saved, self._order(a), self._order(b)


def _lines(dump: Dump, graph: str) -> dict[str, Location]:
    """Node → the user's line: its own, of one that a pass put there the line of what it stands for."""
    nodes = [row for row in dump.rows(Node, graph) if row.graph == graph and row.stage == "post_grad"]
    found = {row.name: row.where for row in nodes if row.where is not None}
    if all(row.name in found for row in nodes if row.op == "call_function"):
        return found
    lineage = Lineage(dump, graph)
    for row in nodes:
        where = None if row.name in found else lineage.line_of(Kin.of(row))
        if where is not None:
            found[row.name] = where
    return found


def _look_of(decisive: Candidate | None) -> Candidate | None:
    """The look that found something in between: what stands there later is another question."""
    return decisive if decisive is not None and decisive.code == "intermediate-nodes" else None


def _decisive(rounds: tuple[Candidate, ...], outcome: Outcome) -> Candidate | None:
    if outcome == "together":
        return next((row for row in reversed(rounds) if row.verdict == "fused"), None)
    tried = [row for row in rounds if row.verdict not in ("untried", "fused", "overruled")]
    return tried[-1] if tried else next(iter(rounds), None)


def _accesses(row: Operation) -> tuple[Access, ...]:
    return (*row.reads, *row.writes)


def _common(shared: SharedBytes, a: str, b: str) -> Common:
    return shared.of(a, b) if a != b and a in shared.rows and b in shared.rows else Common(0, (), ())
