"""Where equal loops are put together in another way: the scheduler's fusion, and loops of one kernel."""

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Final

from inspect_compile.analysis.compare.causes.alignment import Alignment, Key
from inspect_compile.analysis.compare.causes.compiled import Call, Compiled
from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.causes.regions import Region
from inspect_compile.facts import Location, LoopNest, Operation, Tiling
from inspect_compile.graph import nested_path
from inspect_compile.graph.fusion.ledger import Candidate, last_word
from inspect_compile.knowledge.fusion.reasons import words_of

_DONE: Final = "fused"
_DECIDES: Final = (
    "vector", "threads", "depth", "versions", "by", "persistent", "cooperative", "hint", "split", "sizes", "loops",
)  # fmt: skip
"""Fields of Tiling and LoopNest, the ones that others follow from first."""


class Scheduled:
    """The operations of one graph on both sides."""

    def __init__(self, aligned: Alignment, a: Compiled, b: Compiled) -> None:
        self._aligned, self._a, self._b = aligned, a, b

    @cached_property
    def to_b(self) -> dict[Key, Key]:
        """Operation of the first side → the one that computes the same on the other."""
        waiting: dict[Hashable, deque[Key]] = {}
        for row in self._b.before:
            waiting.setdefault(self._identity(row, is_b=True), deque()).append((self._b.path(row.graph), row.name))
        found = {}
        for row in self._a.before:
            if there := waiting.get(self._identity(row, is_b=False)):
                found[self._a.path(row.graph), row.name] = there.popleft()
        return found

    def _identity(self, row: Operation, *, is_b: bool) -> Hashable:
        path = nested_path(row.graph)
        nodes = [(path, name) for name in row.nodes]
        if is_b:
            nodes = [self._aligned.to_a.get(node, ("only b", node[1])) for node in nodes]
        return path, row.kind, row.numel, row.rnumel, row.extern_kernel, frozenset(nodes)

    def fusion(self, region: Region) -> Finding | None:
        """Two operations of the region that are in one scheduler node on one side only, with both decisions."""
        ours = [(self._a.path(call.launch.graph), name) for call in region.a for name in call.launch.operations]
        pairs = {one: self.to_b[one] for one in ours if one in self.to_b}
        found = next(self._parted(pairs), None)
        if found is None:
            return None
        (one, other), is_lost = found
        path = one[0]
        decisions = [
            _decision(side.ledgers[path].met(first[1], second[1]) if path in side.ledgers else [])
            for side, first, second in ((self._a, one, other), (self._b, pairs[one], pairs[other]))
        ]
        apart = decisions[1] if is_lost else decisions[0]
        code = apart.code if apart is not None else ""
        names = " and ".join(map(self._said, (one, other)))
        change = "no longer in one loop" if is_lost else "in one loop now"
        why = (
            f": {words_of(code) or (apart.reason if apart is not None else '') or code}"
            if is_lost and apart is not None
            else ""
        )
        where = self._line(self._b, pairs[other]) or self._line(self._b, pairs[one])
        old = self._line(self._a, other) or self._line(self._a, one)
        return Finding(
            "fusion", code, f"{names} are {change}{why}", ("fusion", is_lost, code), where, old, *map(_words, decisions)
        )  # fmt: skip

    def _parted(self, pairs: dict[Key, Key]) -> Iterator[tuple[tuple[Key, Key], bool]]:
        """Pairs together on one side only, each with whether that is the first one; producers and consumers first."""
        rows = self._a.operations
        for is_lost, mine, theirs in ((True, self._a, self._b), (False, self._b, self._a)):
            groups: dict[Hashable, list[Key]] = {}
            for one, other in pairs.items():
                groups.setdefault((one[0], _group(mine, one if is_lost else other)), []).append(one)
            found = []
            for members in groups.values():
                for place, one in enumerate(members):
                    for other in members[place + 1 : place + 65]:
                        sides = [_group(theirs, pairs[key] if is_lost else key) for key in (one, other)]
                        if sides[0] != sides[1]:
                            found.append((not _hands(rows[one], rows[other]), (one, other)))
            yield from ((pair, is_lost) for _, pair in sorted(found, key=lambda one: one[0]))

    def _said(self, operation: Key) -> str:
        row = self._a.operations.get(operation)
        nodes = [] if row is None else [self._aligned.a.nodes.get((operation[0], name)) for name in row.nodes]
        last = next((node for node in reversed(nodes) if node is not None and node.op.startswith("call")), None)
        return operation[1] if last is None else f"{operation[1]} ({last.original_aten or last.target})"

    def _line(self, side: Compiled, operation: Key) -> Location | None:
        nodes = (self._aligned.a if side is self._a else self._aligned.b).nodes
        row = side.operations.get(operation)
        lines = (
            nodes[operation[0], name].where
            for name in reversed(row.nodes if row else ())
            if (operation[0], name) in nodes
        )
        return next((line for line in lines if line is not None), None)

    def loops(self, region: Region) -> Finding | None:
        """Kernels of the same operations that iterate in another way, or hold other loops."""
        for one, other in self._kernels(region):
            ours, theirs = (
                side.loops.get((side.path(call.launch.graph), call.name), [])
                for side, call in ((self._a, one), (self._b, other))
            )
            iterations = [tuple(_iterates(row) for row in rows) for rows in (ours, theirs)]
            if iterations[0] != iterations[1]:
                return Finding(
                    "tiling", "", "the same loops iterate differently", ("tiling", _changed(ours, theirs)),
                    _last_line(other), _last_line(one), *iterations,
                )  # fmt: skip
        sizes = [sorted(len(call.launch.groups) for call in calls) for calls in region]
        if sizes[0] != sizes[1] and all(call.launch.groups for calls in region for call in calls):
            words = [tuple(f"{call.name}: {len(call.launch.groups)} loops" for call in calls) for calls in region]
            return Finding(
                "codegen", "kernels", f"{len(region.b)} kernels where there were {len(region.a)}, of the same loops",
                ("codegen", "kernels"), _last_line(region.b[0]) if region.b else None,
                _last_line(region.a[0]) if region.a else None, *words,
            )  # fmt: skip
        return None

    def _kernels(self, region: Region) -> Iterator[tuple[Call, Call]]:
        """The launches of both sides that run the same operations."""
        theirs = {
            frozenset((self._b.path(call.launch.graph), name) for name in call.launch.operations): call
            for call in region.b
        }
        for call in region.a:
            own = [(self._a.path(call.launch.graph), name) for name in call.launch.operations]
            there = theirs.get(frozenset(self.to_b.get(one, ("only a", one[1])) for one in own))
            if there is not None:
                yield call, there


def _group(side: Compiled, operation: Key) -> str:
    return side.group_of.get(operation, operation[1])


def _hands(one: Operation, other: Operation) -> bool:
    """Does one write what the other reads?"""
    written = {access.buffer for access in one.writes}
    return any(access.buffer in written for access in other.reads)


def _decision(met: Sequence[Candidate]) -> Candidate | None:
    """What decided about a pair: its fusion, else the last time that torch considered it."""
    fused = next((row for row in reversed(met) if row.verdict == _DONE), None)
    tried = [row for row in met if row.verdict not in ("untried", "overruled")]
    return fused or (last_word(tried) if tried else next(iter(met), None))


def _words(row: Candidate | None) -> tuple[str, ...]:
    """`fused in round 1, score 3 0 49152 (…)`, and torch's reason."""
    if row is None:
        return ("torch did not consider the pair",)
    score = ""
    if row.score is not None:
        parts = row.score_parts or ("",) * len(row.score)
        score = ", score " + ", ".join(
            f"{name} {number}".strip() for name, number in zip(parts, row.score, strict=False)
        )
    elif row.shared_bytes is not None:
        score = f", memory score {row.shared_bytes}"
    why = f": {row.reason or words_of(row.code)}" if row.verdict != _DONE and (row.reason or row.code) else ""
    return (f"{row.verdict} in round {row.round}{score}{why}",)


def _iterates(row: Tiling | LoopNest) -> str:
    if isinstance(row, Tiling):
        sizes = ", ".join(f"{axis} {size}" for axis, size in row.sizes.items())
        more = [
            f"by {row.by}" if row.by else "",
            "persistent" if row.persistent else "",
            "cooperative" if row.cooperative else "",
            row.hint,
        ]
        return " · ".join(word for word in (sizes, *more) if word)
    loops = " > ".join(
        f"{one.size}{f'/{one.step}' if one.step != '1' else ''}{' parallel' if one.is_parallel else ''}"
        for one in row.loops
    )
    return f"{loops} · {row.threads} threads, vectors of {row.vector or 1}"


def _changed(ours: Sequence[Tiling | LoopNest], theirs: Sequence[Tiling | LoopNest]) -> str:
    """The first of _DECIDES that differs: kernels that differ in the same way have one cause."""
    both = list(zip(ours, theirs, strict=False))
    return next((name for name in _DECIDES if any(_value(one, name) != _value(other, name) for one, other in both)), "")


def _value(row: Tiling | LoopNest, name: str) -> object:
    return getattr(row, name, None)


def _last_line(call: Call) -> Location | None:
    return next(reversed(call.launch.lines), None)
