"""Reads the fusion rows of a graph: resolves text numbers, and merges all looks at a pair in a round."""

import re
from dataclasses import dataclass, field
from typing import Final

import msgspec

from inspect_compile.facts import FusionCombo, FusionLooks, FusionOrder, FusionRound
from inspect_compile.facts.fusion import ALLOWED, REFUSED, FusionRow, Look, Refusal

LONGEST_REASON: Final = 4000
"""Maximum length in characters: in a hostile dump thousands of looks can refer to one text."""
_HOLE: Final = re.compile(r"%[sdr]")

Key = tuple[int, int, int]
"""Round, and the numbers of the two nodes, the smaller first."""


class Tried(msgspec.Struct, gc=False):
    """All looks at one pair in one round, in the direction of `a` and `b`: may `b` be fused into `a`?"""

    round: int
    a: int
    b: int
    outcome: int | None = None
    """Outcome of the last look; None if no look was recorded."""
    refusal: Refusal | None = None
    shared: int | None = None
    refusals: int = 0

    def look(self, look: Look) -> None:
        """Add a look."""
        outcome = look.outcome
        if outcome <= ALLOWED or self.outcome is None or self.outcome > ALLOWED:  # the pair before its container
            self.outcome = outcome
        if look.refusals:
            self.refusals += len(look.refusals)
            if self.outcome != ALLOWED:
                self.refusal = look.refusals[-1]
        elif outcome == REFUSED:
            self.refusal = None
        if look.shared is not None and (self.shared is None or look.shared > self.shared):
            self.shared = look.shared


@dataclass
class Fusions:
    """The fusions of one round, in order."""

    pairs: list[tuple[int, int, int]] = field(default_factory=list)
    """a, b, into."""
    took: dict[int, int] = field(default_factory=dict)
    """Node → the fusion that consumed it."""

    def add(self, a: int, b: int, into: int) -> None:
        """Add a fusion."""
        for node in (a, b):
            self.took.setdefault(node, len(self.pairs))
        self.pairs.append((a, b, into))

    def holder(self, node: int) -> int:
        """The node that contains `node` when the round ends."""
        last = -1
        while (index := self.took.get(node, -1)) > last:
            last, node = index, self.pairs[index][2]
        return node


@dataclass
class DecodedLooks:
    """Everything that the rows of one graph say."""

    texts: dict[int, str] = field(default_factory=dict)
    rounds: list[FusionRound] = field(default_factory=list)
    uses: list[dict[int, tuple[int, ...]]] = field(default_factory=list)
    """For each of `rounds`: node → the buffers that it uses."""
    tried: dict[Key, Tried] = field(default_factory=dict)
    """In the order in which they were first tried; a key has its nodes in that order."""
    fused: dict[int, Fusions] = field(default_factory=dict)
    """By round."""
    into: dict[Key, int] = field(default_factory=dict)
    node_type: dict[int, int] = field(default_factory=dict)
    """Fused node → number of its class name."""
    ranks: dict[Key, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    """(rank from 1, score) of each pair."""
    parts: tuple[int, ...] = ()
    put_off: set[Key] = field(default_factory=set)
    milliseconds: dict[Key, tuple[float, float, float]] = field(default_factory=dict)
    """Times of the fastest fusion of the pair."""
    combos: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def text(self, number: int) -> str:
        """The text with that number; empty if its row was lost."""
        return self.texts.get(number, "")

    def reason(self, refusal: Refusal) -> tuple[str, tuple[str, ...]]:
        """torch's words with arguments filled in, and the arguments. Python format specifications are not followed."""
        arguments = tuple(self.text(number)[:LONGEST_REASON] for number in refusal.arguments[:64])
        template = self.text(refusal.template)[:LONGEST_REASON]
        pieces = _HOLE.split(template) if arguments else [template]
        if len(pieces) != len(arguments) + 1:
            return " ".join((template, *arguments)), arguments
        filled = (part for pair in zip(pieces, (*arguments, ""), strict=True) for part in pair)
        return "".join(filled)[: 2 * LONGEST_REASON], arguments


def key_of(number: int, a: int, b: int) -> Key:
    """The key of a pair of nodes in a round, in either order."""
    return (number, a, b) if a < b else (number, b, a)


def decoded_looks(rows: list[FusionRow]) -> DecodedLooks:
    """Read the rows of one graph; rows of one kind are in order."""
    found = DecodedLooks()
    uses: dict[int, tuple[int, ...]] = {}
    for row in rows:
        found.texts.update(enumerate(row.texts, row.first))
    for row in rows:
        if isinstance(row, FusionLooks):
            _looks(found, row)
        elif isinstance(row, FusionRound):
            uses = {**uses, **{use[0]: use[1:] for use in row.uses if use}}
            uses = {node: uses[node] for node in row.nodes if node in uses}
            found.rounds.append(row)
            found.uses.append(uses)
        elif isinstance(row, FusionOrder):
            _order(found, row)
        elif isinstance(row, FusionCombo):
            found.combos.append((row.into, row.parts))
    return found


def _looks(found: DecodedLooks, row: FusionLooks) -> None:
    number, tried, texts = row.round, found.tried, found.texts
    for look in row.looks:
        a, b = look.a, look.b
        if a not in texts or b not in texts:
            continue
        key = number, a, b
        one = tried.get(key)
        if one is None:
            one = tried[key] = Tried(number, a, b)
        one.look(look)
    for a, b, into, kind in ((one.a, one.b, one.into, one.node_type) for one in row.fused):
        if not (a in texts and b in texts and into in texts):
            continue
        key = key_of(number, a, b)
        if (number, a, b) not in tried and (number, b, a) not in tried:
            tried[number, a, b] = Tried(number, a, b)
        found.fused.setdefault(number, Fusions()).add(a, b, into)
        found.into[key], found.node_type[into] = into, kind
    for timed in row.benchmarks:
        key = key_of(number, timed.a, timed.b)
        before = found.milliseconds.get(key)
        if before is None or timed.fused < before[2]:
            found.milliseconds[key] = (timed.alone_a, timed.alone_b, timed.fused)


def _order(found: DecodedLooks, row: FusionOrder) -> None:
    found.parts = row.parts or found.parts
    for rank, ranked in enumerate(row.ranked, row.start + 1):
        if len(ranked) >= 2:
            found.ranks[key_of(row.round, ranked[0], ranked[1])] = rank, ranked[2:]
    found.put_off.update(key_of(row.round, a, b) for a, b in row.put_off)
