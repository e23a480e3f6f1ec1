"""Scheduler nodes that share bytes and ended in different kernels: what that costs, and what kept them apart."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.analysis.fusion.shared_bytes import Common, shared_bytes
from inspect_compile.analysis.kernels.recorded_kernels import names_in_log
from inspect_compile.facts import Kernel, Location
from inspect_compile.graph import CompiledGraph, Once
from inspect_compile.graph.fusion.dependencies import Between
from inspect_compile.graph.fusion.ledger import Candidate, Ledger, last_word

UNFUSABLE: Final = "unfusable"
"""Code of pairs that were never tried because one of them is a library call."""
NOT_FUSABLE: Final = ("extern", "nop")
"""Kinds of scheduler nodes for which no kernel is generated."""


class Miss(msgspec.Struct, frozen=True, tag_field="fact", tag="miss"):
    """Two scheduler nodes that share bytes and ended apart."""

    graph: str
    a: str
    b: str
    """Names after fusion, the earlier one first: the last look at the pair may have been at parts of them."""
    code: str
    reason: str
    """Reason of the last look at any two of their operations; for a pair that was never tried, the cause of that."""
    saved_bytes: int
    """Bytes that the two launches would no longer move as one, counted like `show traffic`. For two loops of one
    launch, bytes that the second loop would not touch again: the launch as a whole then moves no less by that count.
    """
    shared_bytes: int | None
    """torch's memory score of the pair, the maximum over all looks: it counts a whole table for a gather."""
    buffers: tuple[str, ...]
    """Buffers that both touch, most bytes first."""
    rounds: tuple[int, ...]
    """Rounds in which some of their operations were looked at."""
    handed: tuple[str, ...]
    """The `buffers` that `a` writes and `b` reads."""
    nodes: tuple[str, ...]
    """FX origins of both, those of `b` first, the last one first."""
    one_kernel: bool
    """One launch runs both anyway, as two loops: a CPU kernel may contain several groups."""
    is_unsure: bool = False
    """`saved_bytes` depends on values, and is an upper bound."""
    between: tuple[Between, ...] = ()
    """What must run after one and before the other, in order: fusing the two would be wrong."""
    is_checked: bool = True
    """False if the dump has no dependencies, so that `between` is not known."""
    where: Location | None = None
    """Source line of the first of `nodes` that has one."""
    parts: tuple[FindingSite, ...] = ()
    """What `a` and `b` do with the first of the `buffers`."""
    in_log: tuple[str, ...] = ()
    """What the log calls the kernels of `a` and `b`, of a graph of a log that was compiled again; without those that
    are not among the log's.
    """

    @property
    def is_apart(self) -> bool:
        """True if fusion could have made one launch of two; False for two loops of one launch and library calls."""
        return not self.one_kernel and self.code != UNFUSABLE


class LeftOut(msgspec.Struct, frozen=True):
    """A buffer that so many scheduler nodes touch that not all of their pairs are looked at."""

    graph: str
    buffer: str
    nodes: int
    window: int
    """Later nodes that each is paired with, at least."""


def misses(graph: CompiledGraph) -> list[Miss]:
    """Those of `graph` alone, without nested graphs, most expensive first."""
    return _pairs(graph).every


def apart(graph: CompiledGraph) -> list[Miss]:
    """Those that fusion could have made one launch of: without the others they take a part of the time."""
    return _pairs(graph).apart


def left_out(graph: CompiledGraph) -> list[LeftOut]:
    """Where `misses` does not have all pairs, the buffers that most nodes touch first."""
    return _pairs(graph).left_out


@Once
def _pairs(graph: CompiledGraph) -> "_Pairs":
    return _Pairs(graph)


class _Pairs:
    """The pairs of one graph that share bytes; those in one launch and those with a library call once they are asked
    for.
    """

    def __init__(self, graph: CompiledGraph) -> None:
        self._ledger = graph.ledger
        self._shared = shared_bytes(graph)
        self._lines = {name: at for (of, name), at in graph.line_of.items() if of == graph.name}
        names = names_in_log(graph)
        self._in_log = {
            group: names[row.name] for row in graph.alone(Kernel) if row.name in names for group in row.groups
        }
        left = [LeftOut(graph.name, buffer, *sizes) for buffer, sizes in self._shared.left_out.items()]
        self.left_out = sorted(left, key=lambda one: -one.nodes)

    @cached_property
    def apart(self) -> list[Miss]:
        """Most expensive first."""
        return [miss for miss in self._of_two_launches if miss.is_apart]

    @cached_property
    def every(self) -> list[Miss]:
        """All of them, most expensive first."""
        return most_expensive_first((*self._of_two_launches, *self._made(is_others=True)))

    @cached_property
    def _of_two_launches(self) -> list[Miss]:
        return most_expensive_first(self._made(is_others=False))

    @cached_property
    def _looks(self) -> dict[frozenset[str], list[Candidate]]:
        return _by_groups(self._ledger)

    def _made(self, *, is_others: bool) -> Iterator[Miss]:
        """`is_others`: those pairs that are sure not to be apart."""
        rows, one_launch = self._shared.rows, self._shared.savings.is_one_launch
        for a, b in self._shared.pairs():
            looks = self._looks.get(frozenset((a, b)), [])
            is_call = not looks and (rows[a].kind in NOT_FUSABLE or rows[b].kind in NOT_FUSABLE)
            if (is_call or one_launch(a, b)) == is_others:
                common = self._shared.of(a, b)
                if common.saved:
                    yield self._miss(a, b, looks, common, is_call=is_call)

    def _miss(self, a: str, b: str, looks: list[Candidate], common: Common, *, is_call: bool) -> Miss:
        ledger, one, other = self._ledger, self._shared.rows[a], self._shared.rows[b]
        last = last_word(looks) if looks else None
        code, reason = (UNFUSABLE if is_call else "", "") if last is None else (last.code or last.verdict, last.reason)
        if not looks and not is_call:
            met = ledger.met(one.members[0], other.members[0])
            code = met[0].code if met else ""
        nodes = tuple(dict.fromkeys((*reversed(other.nodes), *reversed(one.nodes))))
        return Miss(
            graph=ledger.graph,
            a=a,
            b=b,
            code=code,
            reason=reason,
            saved_bytes=common.saved,
            shared_bytes=max((row.shared_bytes for row in looks if row.shared_bytes is not None), default=None),
            buffers=common.buffers,
            rounds=tuple(dict.fromkeys(row.round for row in looks)),
            handed=common.handed,
            nodes=nodes,
            one_kernel=self._shared.savings.is_one_launch(a, b),
            is_unsure=common.is_unsure,
            between=ledger.between(a, b),
            is_checked=ledger.dependencies.is_known,
            where=next((self._lines[node] for node in nodes if node in self._lines), None),
            parts=tuple(FindingSite(*ledger.part(name, common.buffers[0])) for name in (a, b)),
            in_log=tuple(self._in_log[name] for name in (a, b) if name in self._in_log),
        )


def most_expensive_first(found: Iterable[Miss]) -> list[Miss]:
    """Most expensive first; two loops of one kernel come after all others, and pairs with a library call last."""
    return sorted(found, key=lambda miss: (miss.code == UNFUSABLE, miss.one_kernel, -miss.saved_bytes))


def _by_groups(ledger: Ledger) -> dict[frozenset[str], list[Candidate]]:
    """Two nodes after fusion → the looks at their operations that did not bring them together."""
    found: dict[frozenset[str], list[Candidate]] = {}
    for row in ledger.candidates:
        pair = frozenset((*_groups(ledger, row.a), *_groups(ledger, row.b)))
        if row.verdict not in ("fused", "overruled") and len(pair) == 2:
            found.setdefault(pair, []).append(row)
    return found


def _groups(ledger: Ledger, name: str) -> Iterator[str]:
    """The node after fusion that the first operation of `name` ended in."""
    members = ledger.members.get(name) or (name,)
    if members[0] in ledger.final:
        yield ledger.final[members[0]]
