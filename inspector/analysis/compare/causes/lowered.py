"""Where the lowering of equal nodes differs: its way, what was chosen, what became real, or the loops."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.causes.alignment import Alignment, Key
from inspect_compile.analysis.compare.causes.compiled import Compiled
from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.content import own
from inspect_compile.facts import Lowering, Realize
from inspect_compile.graph.kernels.chosen import TuningQuery
from inspect_compile.knowledge.lowering.realize_reasons import SEVERAL_STEPS

_PLACE: Final = re.compile(r"\s\S+:\d+$")
_NAMES: Final = re.compile(
    r"\b(?:buf\d+|op\d+|arg\d+_\d+|primals_\d+|tangents_\d+|tmp\d+)\b"
    r"|origins?(?:_node)?=(?:OrderedSet\(\[[^\[\]\n]*(?:\]\)|\.\.\.$)|\w+)",  # torch cuts long ones
    re.MULTILINE,
)

_ONE_STEP: Final = "the reduction runs in one step"


class Difference(NamedTuple):
    """How the lowering of one node differs."""

    level: str
    what: str
    message: str
    a: tuple[str, ...]
    b: tuple[str, ...]


class Lowered:
    """The lowering of one graph on both sides."""

    def __init__(self, aligned: Alignment, a: Compiled, b: Compiled) -> None:
        self._aligned, self._a, self._b = aligned, a, b

    @cached_property
    def differing(self) -> dict[Key, Difference]:
        """Nodes of the first side whose lowering differs from that of their counterparts."""
        found = {}
        for one, other in self._aligned.to_b.items():
            difference = self._difference(one, other)
            if difference is not None:
                found[one] = difference
        return found

    def first(self, nodes: Iterable[Key]) -> Key | None:
        """Of the nodes, and those that they are computed from, the first whose lowering differs; None if none does."""
        found = {self._roots[node] for node in nodes if node in self._roots}
        return min(found, key=self._aligned.a.place.__getitem__, default=None)

    @cached_property
    def _roots(self) -> dict[Key, Key]:
        """Node whose lowering differs → the first that it is computed from, in one chain of those that differ."""
        side, found = self._aligned.a, dict[Key, Key]()
        for node in side.nodes:
            if node in self.differing:
                before = [found[read] for read in side.reads[node] if read in found]
                found[node] = min(before, key=side.place.__getitem__, default=node)
        return found

    def finding(self, node: Key) -> Finding:
        """The difference at a node."""
        difference = self.differing[node]
        ours, theirs = self._aligned.a.nodes[node], self._aligned.b.nodes[self._aligned.to_b[node]]
        message = f"{ours.original_aten or ours.target}: {difference.message}"
        key = (
            (difference.level, difference.what, difference.message)
            if difference.level != "autotune"
            else (difference.level, node)
        )
        return Finding(
            difference.level, difference.what, message, key, theirs.where, ours.where, difference.a, difference.b
        )

    def _difference(self, one: Key, other: Key) -> Difference | None:
        ours, theirs = self._a.lowering.get(one), self._b.lowering.get(other)
        if ours is None or theirs is None:
            return None
        ways = [(row.way, _PLACE.sub("", row.via), row.constraint) for row in (ours, theirs)]
        if ways[0] != ways[1]:
            words = [_way(row) for row in (ours, theirs)]
            return Difference("lowering", "", f"lowered as {words[1]}, was {words[0]}", (words[0],), (words[1],))
        asked = [side.questions[0].get(key) for side, key in ((self._a, one), (self._b, other))]
        winners = [_winner(query) for query in asked]
        if winners[0] != winners[1]:
            timings = [_timed(query) for query in asked]
            words = [winner or "torch's default" for winner in winners]
            return Difference("autotune", winners[1], f"runs as {words[1]}, was {words[0]}", timings[0], timings[1])
        real = [
            [self._realized(row, is_b=is_b) for row in side.realize.get(key, ())]
            for is_b, side, key in ((False, self._a, one), (True, self._b, other))
        ]
        if [key for key, _ in real[0]] != [key for key, _ in real[1]]:
            return _real(real[0], real[1])
        counts = [len(row.operations) for row in (ours, theirs)]
        if counts[0] != counts[1]:
            words = [f"{count} operation{'s' * (count != 1)}" for count in counts]
            return Difference("lowering", "", f"lowered to {words[1]}, was {words[0]}", (words[0],), (words[1],))
        texts = [_NAMES.sub("", own(row.result)) for row in (ours, theirs)]
        if texts[0] != texts[1]:
            lines = [_only(texts[0], texts[1]), _only(texts[1], texts[0])]
            return Difference("lowering", "", "lowered to other loops", lines[0], lines[1])
        return None

    def _realized(self, row: Realize, *, is_b: bool) -> tuple[tuple[object, str], str]:
        origin = (self._b if is_b else self._a).path(row.graph), row.origin or ""
        there = self._aligned.to_a.get(origin, ("only b", origin)) if is_b and row.origin else origin
        numbers = "".join(f", {name} {number}" for name, number in row.numbers.items())
        return (there, row.reason), f"{row.origin or row.node or row.buffer}: {row.reason}{numbers}"


def _real(a: list[tuple[tuple[object, str], str]], b: list[tuple[tuple[object, str], str]]) -> Difference:
    ours, theirs = {key for key, _ in a}, {key for key, _ in b}
    if SEVERAL_STEPS in {reason for _, reason in ours ^ theirs}:
        words = [
            SEVERAL_STEPS if any(reason == SEVERAL_STEPS for _, reason in keys) else _ONE_STEP
            for keys in (ours, theirs)
        ]
        if words[0] != words[1]:
            return Difference("lowering", "steps", f"{words[1]}, was {words[0]}", (words[0],), (words[1],))
    only = tuple(text for key, text in a if key not in theirs), tuple(text for key, text in b if key not in ours)
    what = next((text.partition(": ")[2] for text in (*only[1], *only[0])), "")
    message = "a value gets a buffer" if only[1] else "a value no longer gets a buffer"
    return Difference("realize", what.partition(",")[0], message, *only)


def _way(row: Lowering) -> str:
    via = _PLACE.sub("", row.via)
    return " ".join(
        word for word in (row.way, f"by {via}" if via else "", f"({row.constraint})" if row.constraint else "") if word
    )


def _winner(query: TuningQuery | None) -> str:
    if query is None or query.winner is None:
        return ""
    label = query.winner.label
    kind = next((row.kind for row in query.choices if row.label == label), "")
    config = next(
        (
            " ".join(f"{name}={value}" for name, value in row.config.items())
            for row in query.choices
            if row.label == label
        ),
        "",
    )
    return f"{kind} {config}".strip() if config else f"{kind} {label.rstrip('0123456789').rstrip('_')}".strip()


def _timed(query: TuningQuery | None) -> tuple[str, ...]:
    """The choices with their times, the winner first."""
    if query is None:
        return ("no request",)
    winner = query.winner.label if query.winner is not None else ""
    rows = sorted(
        query.choices, key=lambda row: (row.label != winner, row.milliseconds is None, row.milliseconds or 0.0)
    )
    return tuple(
        f"{row.label} {'not timed' if row.milliseconds is None else f'{row.milliseconds:.4f} ms'}" for row in rows[:3]
    )


def _only(text: str, other: str) -> tuple[str, ...]:
    known = {line.strip() for line in other.splitlines()}
    return tuple(line.strip() for line in text.splitlines() if line.strip() not in known)[:4]
