"""Candidates of the fusion ledger: what a graph's rows say about each pair in each round, in words."""

from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.facts.fusion import ALLOWED, OVERRULED, Refusal
from inspect_compile.graph.fusion.ledger_nodes import Nodes
from inspect_compile.graph.fusion.ledger_rows import DecodedLooks, Tried, key_of
from inspect_compile.knowledge.fusion.reasons import code_of

REASONS: Final = {
    "backend-refused": "torch's code generator does not put both into one loop, and gives no reason",
    "lost-to": "allowed, and another pair came first",
    "one-group": "both are in one group already",
    "deferred": "allowed, but left for a later round: torch does other kinds of fusion first",
    "slower": "allowed, timed, and slower than apart",
    "undone": "fused at first, and separated again later",
    "no-common-buffer": "they use no buffer in common",
    "outside-window": "more nodes use the buffer between them than torch tries",
    "unfusable": "one of them is a library call or a view: such nodes are never paired",
}
"""inspect-compile's codes for outcomes that torch gives no reason for."""

_NO_RANK: Final = (None, None)
_NO_TEXTS: Final[tuple[str, ...]] = ()
_NO_NUMBERS: Final[tuple[tuple[str, int | str], ...]] = ()

Why = tuple[str, str, tuple[str, ...], tuple[tuple[str, int | str], ...], str]
"""Code, torch's words, their arguments, the numbers behind the reason, and torch's further explanation."""


class Round(msgspec.Struct, frozen=True, dict=True):
    """The state in which a round began."""

    number: int
    reorder: bool
    """Whether loops may be reordered for a fusion in this round."""
    window: int
    """Each node that uses a buffer is paired with this many of the next ones that use it."""
    aggressive: bool
    """Whether nodes that share no buffer are paired too, if their loops are alike."""
    nodes: tuple[str, ...]
    unfusable: frozenset[str]
    buffers: dict[str, tuple[str, ...]]
    """Node → buffers that it uses."""
    alike: dict[str, str]
    """Node → its loops, for `aggressive`."""

    def groups(self) -> list[list[int]]:
        """Positions of nodes that are paired with each other within the window: one group for each buffer."""
        found: dict[tuple[str, str], list[int]] = {}
        for position, node in enumerate(self.nodes):
            if node not in self.unfusable:
                for buffer in self.buffers.get(node, ()):
                    found.setdefault(("buffer", buffer), []).append(position)
        for position, node in enumerate(self.nodes):
            if node in self.alike:
                found.setdefault(("loops", self.alike[node]), []).append(position)
        return list(found.values())

    def pairs(self) -> set[tuple[str, str]]:
        """The pairs that torch tries, each in node order."""
        nodes, window = self.nodes, max(self.window, 0)
        return {
            (nodes[one], nodes[other])
            for group in self.groups()
            for place, one in enumerate(group)
            for other in group[place + 1 : place + 1 + window]
        }

    def cause(self, a: str, b: str) -> str:
        """Why torch did not try the pair; empty if it should have and nothing says that it did."""
        if a in self.unfusable or b in self.unfusable:
            return "unfusable"
        common = set(self.buffers.get(a, ())) & set(self.buffers.get(b, ()))
        if not common:
            return "no-common-buffer"
        is_near = any(abs(self._places[name][a] - self._places[name][b]) <= self.window for name in common)
        return "" if is_near else "outside-window"

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        """Buffer → the nodes that are paired for it, each with its position among them."""
        found: dict[str, dict[str, int]] = {}
        for node in self.nodes:
            for buffer in self.buffers.get(node, ()) if node not in self.unfusable else ():
                places = found.setdefault(buffer, {})
                places.setdefault(node, len(places))
        return found


class Candidate(msgspec.Struct, frozen=True, gc=False, kw_only=True, tag_field="fact", tag="candidate"):
    """One pair of scheduler nodes in one round."""

    graph: str
    round: int
    """Round, from 1; 0 for fusions outside of rounds (combo kernels)."""
    a: str
    b: str
    kind: str
    """producer-consumer, horizontal, prologue, epilogue, foreach, combo, mix-order or nested; empty if not known."""
    verdict: str
    """fused; refused; allowed: not done in this round; deferred: the backend preferred others; slower:
    benchmarked; undone: fused, but apart in the end; overruled: refused, but a pair that contains it was allowed, or
    the same pair in the other direction; untried.
    """
    code: str = ""
    reason: str = ""
    """torch's words with their arguments filled in."""
    arguments: tuple[str, ...] = ()
    numbers: tuple[tuple[str, int | str], ...] = ()
    """Numbers behind the reason that torch does not print: ("distance", 70), ("limit", 64)."""
    more: str = ""
    """For a pair that shares no data, `decide_fusion_fail_reason`'s answer for each buffer that both touch."""
    shared_bytes: int | None = None
    """torch's memory score, in bytes."""
    score: tuple[int, ...] | None = None
    """The score that decides when the pair is tried; None if it was not computed."""
    score_parts: tuple[str, ...] = ()
    """Names of the parts of `score`, such as `memory_score`; empty where an older torch has a single number."""
    rank: int | None = None
    """Rank in its round; 1 was tried first."""
    won: str = ""
    """The pair that took one of the two first: `op3 × op5`."""
    milliseconds: tuple[float, ...] = ()
    """Times of a, of b and of their fusion, if they were benchmarked."""
    into: str = ""
    """Name of the fused node; of an allowed pair, the node that contains both when the round ends."""
    refusals: int = 0
    """How many times torch refused the pair in this round."""
    where_a: str = ""
    """Source line, `file.py:12`."""
    where_b: str = ""


def round_of(looks: DecodedLooks, index: int) -> Round:
    """The state in which the round of that index began."""
    row, uses, text = looks.rounds[index], looks.uses[index], looks.text
    known = [number for number in row.nodes if number in looks.texts]
    return Round(
        number=row.round,
        reorder=row.reorder,
        window=row.window,
        aggressive=row.aggressive,
        nodes=tuple(text(number) for number in known),
        unfusable=frozenset(text(number) for number in row.unfusable),
        buffers={text(node): tuple(text(buffer) for buffer in uses.get(node, ())) for node in known},
        alike={text(node): text(loops) for node, loops in row.alike},
    )


def candidates_of(graph: str, looks: DecodedLooks, nodes: Nodes) -> list[Candidate]:
    """The tried pairs, in the order in which they were first looked at, and combo kernels."""
    texts, ranks, allowed = looks.texts, looks.ranks, looks.into
    lines: dict[int, str] = {}
    parts = tuple(looks.text(number) for number in looks.parts)
    reasons: dict[Refusal | None, Why] = {None: ("backend-refused", REASONS["backend-refused"], (), (), "")}
    found: list[Candidate] = []
    for one in looks.tried.values():
        first, second = one.a, one.b
        key = key_of(one.round, first, second)
        reverse = looks.tried.get((one.round, second, first))
        is_other_way = reverse is not None and reverse.outcome == ALLOWED and one.outcome != ALLOWED
        a, b = texts[first], texts[second]
        where_a, where_b = lines.get(first), lines.get(second)
        if where_a is None:
            where_a = lines[first] = nodes.line(a)
        if where_b is None:
            where_b = lines[second] = nodes.line(b)
        kind = nodes.kind(a, b)
        into = won = ""
        if one.outcome == ALLOWED or (key in allowed and not is_other_way):
            kind, verdict, code, into, won = _allowed(looks, nodes, key, one, kind)
            reason, arguments, numbers, more = REASONS.get(code, ""), _NO_TEXTS, _NO_NUMBERS, ""
        else:
            verdict = "overruled" if one.outcome == OVERRULED or is_other_way else "refused"
            why = reasons.get(one.refusal)
            if why is None:
                why = reasons[one.refusal] = _why(looks, one.refusal)
            code, reason, arguments, numbers, more = why
        rank, score = _NO_RANK if is_other_way else ranks.get(key, _NO_RANK)
        found.append(
            Candidate(
                graph=graph,
                round=one.round,
                a=a,
                b=b,
                kind=kind,
                verdict=verdict,
                code=code,
                reason=reason,
                arguments=arguments,
                numbers=numbers,
                more=more,
                shared_bytes=one.shared,
                score=score or None,
                score_parts=parts if score else (),
                rank=rank,
                won=won,
                milliseconds=() if is_other_way else looks.milliseconds.get(key, ()),
                into=into,
                refusals=one.refusals,
                where_a=where_a,
                where_b=where_b,
            )
        )
    return found + _combos(graph, looks, nodes)


def _why(looks: DecodedLooks, refusal: Refusal | None) -> Why:
    """What one refusal says."""
    assert refusal is not None
    reason, arguments = looks.reason(refusal)
    pairs = zip(refusal.numbers[::2], refusal.numbers[1::2], strict=False)
    return (
        code_of(looks.text(refusal.template)),
        reason,
        arguments,
        tuple((looks.text(name), value) for name, value in pairs),
        "" if refusal.more is None else looks.text(refusal.more),
    )


def _allowed(
    looks: DecodedLooks, nodes: Nodes, key: tuple[int, int, int], one: Tried, kind: str
) -> tuple[str, str, str, str, str]:
    """Kind, verdict, code, into and won of a pair that torch allowed."""
    into = looks.into.get(key)
    if into is not None:
        kind = nodes.joined(kind, looks.text(looks.node_type[into]))
        groups = {nodes.final.get(name, "") for name in nodes.operations(looks.text(into))} - {""}
        return (
            (kind, "undone", "undone", looks.text(into), "")
            if len(groups) > 1
            else (kind, "fused", "", looks.text(into), "")
        )
    fusions = looks.fused.get(one.round)
    holder, won = "", ""
    if fusions is not None:
        taken = [index for node in (one.a, one.b) if (index := fusions.took.get(node)) is not None]
        if taken:
            first = fusions.pairs[min(taken)]
            won = f"{looks.text(first[0])} × {looks.text(first[1])}"
        held = fusions.holder(one.a)
        holder = looks.text(held) if held == fusions.holder(one.b) else ""
    if key in looks.put_off:
        return kind, "deferred", "deferred", holder, won
    if key in looks.milliseconds and not holder:
        return kind, "slower", "slower", "", ""
    return kind, "allowed", "one-group" if holder else "lost-to" if won else "", holder, won


def _combos(graph: str, looks: DecodedLooks, nodes: Nodes) -> list[Candidate]:
    """Each node of a combo kernel, paired with the first."""
    return [
        Candidate(
            graph=graph,
            round=0,
            a=looks.text(parts[0]),
            b=looks.text(part),
            kind="combo",
            verdict="fused",
            into=looks.text(into),
            where_a=nodes.line(looks.text(parts[0])),
            where_b=nodes.line(looks.text(part)),
        )
        for into, parts in looks.combos
        for part in parts[1:]
    ]
