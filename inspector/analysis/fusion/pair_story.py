"""Why two operations are, or are not, in one scheduler node: what happened in each round, and what decided."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, Literal

import msgspec

from inspect_compile.analysis.fusion.memories import Memories, memories
from inspect_compile.analysis.fusion.misses import NOT_FUSABLE, Miss
from inspect_compile.analysis.fusion.pair_choice import Chosen, OtherPair, Outcome, PairChoice, ResolvedOperations
from inspect_compile.analysis.fusion.shared_bytes import Common, SharedBytes, shared_bytes
from inspect_compile.analysis.lowering.sources import Sources
from inspect_compile.facts import KernelBody, Location, Lowering, Node, Operation
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.cost.group_traffic import data_reads
from inspect_compile.graph.fusion.dependencies import Between
from inspect_compile.graph.fusion.ledger import Candidate
from inspect_compile.graph.indexing.difference import Difference, differences
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.graph.provenance.lineage import NodeRef
from inspect_compile.knowledge.fusion.knob_values import knobs_of
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.knowledge.fusion.reasons.reason import Reason
from inspect_compile.knowledge.kernels.library_kernels import TEMPLATED, operator_of

Legality = Literal["allowed", "refused", "illegal", "other-index", "free", "unchecked", ""]

_WRONG: Final = "legality"
_ALLOWED: Final = ("allowed", "deferred", "slower", "undone")
"""Verdicts on pairs that torch allowed."""

_DIFFERING: Final = ("no-shared-data", "memory-deps-mismatch", "indexing-mismatch", "score-threshold")
"""Codes about indices, for which the two index expressions are shown."""


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
    """The FX node that it was made for, or the one that was asked for and that it computes inline."""
    where: Location | None
    numel: str
    rnumel: str
    module: str = ""
    """Path of the nn.Module that ran the node, `layers.0.attention`."""


class KnownReason(msgspec.Struct, frozen=True):
    """The description of a reason in `knowledge.fusion.reasons`."""

    code: str
    meaning: str
    about: str
    """legality, profit, backend or never tried."""
    advice: str
    knob: str


class ComputedAgain(msgspec.Struct, frozen=True):
    """Nodes that other kernels compute, too."""

    nodes: tuple[str, ...]
    kernels: tuple[str, ...]


class TwoNames(msgspec.Struct, frozen=True):
    """Memory that both touch, each by a name of its own: one buffer is a part or a view of the other, or is written in
    its place.
    """

    a: str
    """The buffer that the first touches."""
    b: str
    is_written: bool
    """Whether the first writes it; it only reads it otherwise."""
    is_read: bool
    """Whether the second reads its own; it only writes it otherwise."""


class PairStory(msgspec.Struct, frozen=True, tag_field="fact", tag="why"):
    """Two operations of one graph. `why A B --json` prints it."""

    graph: str
    a: Side
    b: Side
    """The later one in the schedule."""
    outcome: Outcome
    """together (one scheduler node); inlined (one operation, which computes one of the two for the other); one-kernel
    (two loops of one launch); apart; same (one operation).
    """
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
    """What the two scheduler nodes that they ended in touch: what a fusion would still save; nothing if no kernel that
    torch can generate would hold both.
    """
    between: tuple[Between, ...]
    """What must run after one and before the other of these nodes, in order."""
    legality: Legality
    """For pairs that ended apart: allowed (torch considered their fusion legal), refused (torch considered it illegal),
    illegal (torch did not check, but something must run between), other-index (torch did not check, and one reads what
    the other writes at another index), free (torch did not check, and nothing prevents it), unchecked (torch did not
    check, and the dump has no dependencies); otherwise empty.
    """
    others: tuple[OtherPair, ...]
    """Other pairs of operations that the names can mean, those in one kernel first, then most bytes first; without
    those that are apart in two blocks of a model, or share no buffer, if others do not. Those of one block that are
    apart come first if this pair is of two blocks.
    """
    again: tuple[ComputedAgain, ...] = ()
    """Nodes of the two that other kernels compute again."""
    two_names: tuple[TwoNames, ...] = ()
    """Memory that the two operations touch by two names; nothing is counted as saved of it."""


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

    def __init__(self, graph: CompiledGraph, missed: Iterable[Miss]) -> None:
        """`missed` are the graph's pairs that ended apart; needed for `group` only."""
        self._compiled = graph
        self.graph = graph.name
        self.ledger = graph.ledger
        self._missed = tuple(missed)
        self._before = shared_bytes(graph, "pre_fusion")
        self._after = shared_bytes(graph)
        self._holding = {member: row.name for row in self._before.rows.values() for member in row.members}
        """Operation → the scheduler node before fusion that contains it, or is it."""
        self._nodes = [row for row in graph.nodes if row.graph == graph.name]
        self._where = _lines(graph, self._nodes)
        self._statements = graph.statements
        self._made = {
            operation: row.node
            for row in graph.rows(Lowering)
            if row.graph == graph.name
            for operation in row.operations
        }
        self._calls: dict[str, Launch] = {
            operation: call for call in graph.launches if call.graph == graph.name for operation in call.operations
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
        """The story of the pair, of all that the names mean, that is in one kernel; else of one block, else of the one
        that shares most bytes.
        """
        return self._story(self._choice.of(one, other), one, other)

    @cached_property
    def _choice(self) -> PairChoice:
        def shared(a: str, b: str) -> tuple[int, bool]:
            common = self._before.of(a, b)
            rows = self._before.rows
            return common.saved, bool(common.buffers) or any(self._two_names(rows[a], rows[b]))

        return PairChoice(self._before.rows, self._nodes, self._group_of, self._outcome, shared, self._is_computed_in)

    @cached_property
    def _computing(self) -> frozenset[str]:
        """The nodes that own an operation of some kernel: a view owns none."""
        bodies = (body for (of, _), rows in self._statements.bodies.items() if of == self.graph for body in rows)
        return frozenset(node for body in bodies for node in body.nodes if _is_in(node, body))

    @cached_property
    def _sources(self) -> Sources:
        return Sources(self._compiled)

    @cached_property
    def _memories(self) -> Memories:
        return memories(self._compiled)

    def _kernel_of(self, operation: str) -> str:
        """The kernel that runs an operation; empty if none does."""
        call = self._calls.get(self._before.rows[operation].members[0])
        return "" if call is None else call.kernel.name

    def _is_computed_in(self, operation: str, node: str) -> bool:
        """Whether an operation computes a node that is one of its origins.

        The origins include what an operation was made from, even if that is in a buffer by now.
        """
        row = self._before.rows[operation]
        if row.kind == "nop":
            return False
        body = self._statements.body(self.graph, self._kernel_of(operation), row.members)
        if body is not None and node in self._computing and not _is_in(node, body):
            return False
        needed = self._sources.of(node)
        return not needed or not needed.isdisjoint(read.buffer for read in row.reads)

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

    def _outcome(self, a: str, b: str) -> Outcome:
        """What became of two operations."""
        if self._group_of(a) == self._group_of(b):
            return "together"
        calls = [self._calls.get(self._before.rows[one].members[0]) for one in (a, b)]
        return "one-kernel" if calls[0] is not None and calls[0] == calls[1] else "apart"

    def _story(self, chosen: Chosen, one: ResolvedOperations, other: ResolvedOperations) -> PairStory:
        rows = self._before.rows
        a, b, outcome = chosen.a, chosen.b, chosen.outcome
        asked = (other, one) if chosen.is_swapped else (one, other)
        sides = self._side(a, asked[0].asked, asked[0].nodes), self._side(b, asked[1].asked, asked[1].nodes)
        groups = sides[0].group, sides[1].group
        rounds = tuple(self.ledger.met(a, b)) if a != b else ()
        decisive = _decisive(rounds, outcome)
        is_index = decisive is not None and decisive.code in _DIFFERING
        touched = ((*data_reads(row), *row.writes) for row in (rows[a], rows[b]))
        found = tuple(differences(*touched)) if is_index else ()
        reason = by_code(decisive.code) if decisive is not None and decisive.code else None
        is_apart = outcome in ("apart", "one-kernel")
        can_be_one = _can_be_one(rows[a], rows[b])
        between = self.ledger.between(*groups, _look_of(decisive)) if is_apart else ()
        return PairStory(
            graph=self.graph,
            a=sides[0],
            b=sides[1],
            outcome=outcome,
            rounds=rounds,
            decisive=decisive,
            reason=reason
            and KnownReason(
                reason.code, reason.meaning, reason.about, reason.advice if can_be_one else "", reason.knob
            ),
            knobs=knobs_of(reason, {one.kind for one in found}, {rows[a].kind, rows[b].kind}, rows[b].device),
            differences=found,
            common=_common(self._before, a, b),
            saved=_common(self._after, *groups) if can_be_one else Common(0, (), ()),
            between=between,
            legality=self._legality(groups, decisive, reason, between) if is_apart else "",
            others=chosen.others,
            again=() if outcome == "apart" else tuple(self._again(sides, asked)),
            two_names=tuple(self._two_names(rows[a], rows[b])) if is_apart else (),
        )

    def _two_names(self, first: Operation, second: Operation) -> Iterator[TwoNames]:
        """What the first hands over stands alone where there is such."""
        (written, read), (changed, taken) = map(_touched, (first, second))
        handed = [TwoNames(a, b, True, True) for a in written for b in taken if self._is_one(a, b)]
        yield from handed
        if not handed:
            yield from (TwoNames(a, b, True, False) for a in written for b in changed if self._is_one(a, b))
            yield from (TwoNames(a, b, False, b in taken) for a in read for b in taken | changed if self._is_one(a, b))

    def _is_one(self, a: str, b: str) -> bool:
        return a != b and self._memories.is_one(a, b)

    def _again(
        self, sides: tuple[Side, Side], asked: tuple[ResolvedOperations, ResolvedOperations]
    ) -> Iterator[ComputedAgain]:
        """The nodes that are computed for the two, and in other kernels again."""
        found: dict[tuple[str, ...], dict[str, None]] = {}
        for side, meant in zip(sides, asked, strict=True):
            body = self._statements.body(self.graph, side.kernel, self._before.rows[side.operation].members)
            own = meant.nodes.intersection(self._before.rows[side.operation].nodes)
            for one in () if body is None else self._statements.computed(body):
                if one.node in own and one.recomputed:
                    found.setdefault(one.recomputed, {})[one.node] = None
        for kernels, nodes in found.items():
            yield ComputedAgain(tuple(nodes), kernels)

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

    def _side(self, operation: str, asked: str, nodes: frozenset[str] = frozenset()) -> Side:
        row = self._before.rows[operation]
        maker = self._made.get(operation, "")
        if maker not in nodes:
            maker = next((name for name in reversed(row.nodes) if name in nodes), maker)
        name = maker if maker in row.nodes or not row.nodes else row.nodes[-1]  # it may have become real for a reader
        lines = (self._where[one] for one in (name, *reversed(row.nodes)) if one in self._where)
        return Side(
            asked=asked,
            operation=operation,
            kind=row.kind,
            group=self._group_of(operation),
            kernel=self._kernel_of(operation),
            node=name,
            where=next(lines, None),
            numel=row.numel,
            rnumel=row.rnumel,
            module=self._statements.module_of(self.graph, name),
        )

    def _group_of(self, operation: str) -> str:
        """The scheduler node after fusion that contains an operation."""
        row = self._before.rows.get(operation)
        return self.ledger.final.get(row.members[0] if row is not None else operation, operation)


def _can_be_one(*pair: Operation) -> bool:
    """True if torch can generate a kernel that holds both, with the right settings and were nothing else in the way: of
    a library call the one that a template replaces, and only with a pointwise operation before or after it.
    """
    generated = [row for row in pair if row.kind not in NOT_FUSABLE]
    calls = [row for row in pair if row.kind in NOT_FUSABLE]
    if not calls:
        return True
    return (
        len(calls) == 1 and operator_of(calls[0].extern_kernel or "") in TEMPLATED and generated[0].kind == "pointwise"
    )


def _lines(graph: CompiledGraph, nodes: list[Node]) -> dict[str, Location]:
    """Node → source line; a node that a pass made has the line of what it replaces."""
    found = {row.name: row.where for row in nodes if row.where is not None}
    if all(row.name in found for row in nodes if row.op == "call_function"):
        return found
    lineage = graph.lineage
    for row in nodes:
        where = None if row.name in found else lineage.line_of(NodeRef.of(row))
        if where is not None:
            found[row.name] = where
    return found


def _is_in(node: str, body: KernelBody) -> bool:
    """True if a kernel computes something of the node."""
    return any(name == node and loops for name, loops in zip(body.nodes, body.loops, strict=False))


def _touched(row: Operation) -> tuple[dict[str, None], dict[str, None]]:
    """The buffers that it writes, and those whose data it reads."""
    writes, reads = ({one.buffer: None for one in part} for part in (row.writes, data_reads(row)))
    return writes, reads


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
