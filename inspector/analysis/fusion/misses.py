"""Scheduler nodes that share bytes and ended in different kernels: what that costs, and what kept them apart."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.dumps.rows import ResultCache, source_lines
from inspect_compile.analysis.fusion.dependencies import Between
from inspect_compile.analysis.fusion.ledger import Candidate, Ledger, last_word
from inspect_compile.analysis.fusion.part import Part
from inspect_compile.analysis.fusion.shared_bytes import SharedBytes, shared_bytes
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, FusionLooks, FusionRound, Kernel, Location, Node, Operation, Symbol, WrapperLine

UNFUSABLE: Final = "unfusable"
"""Code of pairs that were never tried because one of them is a library call."""
_NOT_FUSABLE: Final = ("extern", "nop")


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
    parts: tuple[Part, ...] = ()
    """What `a` and `b` do with the first of the `buffers`."""

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


class _Found(NamedTuple):
    misses: list[Miss]
    left_out: list[LeftOut]


_FOUND: Final = ResultCache[_Found]()


def misses(dump: Dump, ledger: Ledger) -> list[Miss]:
    """Those of the ledger's graph, most expensive first; found once for as many rows as the dump has now."""
    return _found(dump, ledger).misses


def left_out(dump: Dump, ledger: Ledger) -> list[LeftOut]:
    """Where `misses` does not have all pairs, the buffers that most nodes touch first."""
    return _found(dump, ledger).left_out


def _found(dump: Dump, ledger: Ledger) -> _Found:
    kinds: tuple[type[Fact], ...] = (Operation, WrapperLine, Node, Kernel, Symbol, FusionRound, FusionLooks)
    extent = tuple(len(dump.rows(kind, ledger.graph)) for kind in kinds)
    return _FOUND.of(dump, ledger.graph, extent, lambda: _made(dump, ledger))


def _made(dump: Dump, ledger: Ledger) -> _Found:
    shared = shared_bytes(dump, ledger.graph)
    left = [LeftOut(ledger.graph, buffer, *sizes) for buffer, sizes in shared.left_out.items()]
    lines = {name: at for (graph, name), at in source_lines(dump, ledger.graph).items() if graph == ledger.graph}
    return _Found(_misses(ledger, shared, lines), sorted(left, key=lambda one: -one.nodes))


def _misses(ledger: Ledger, shared: SharedBytes, lines: dict[str, Location]) -> list[Miss]:
    tried = _by_groups(ledger)
    found = []
    for a, b in shared.pairs():
        common = shared.of(a, b)
        if not common.saved:
            continue
        one, other, looks = shared.rows[a], shared.rows[b], tried.get(frozenset((a, b)), [])
        last = last_word(looks) if looks else None
        code, reason = ("", "") if last is None else (last.code or last.verdict, last.reason)
        if not looks:
            is_call = one.kind in _NOT_FUSABLE or other.kind in _NOT_FUSABLE
            met = [] if is_call else ledger.met(one.members[0], other.members[0])
            code = UNFUSABLE if is_call else met[0].code if met else ""
        nodes = tuple(dict.fromkeys((*reversed(other.nodes), *reversed(one.nodes))))
        found.append(
            Miss(
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
                one_kernel=shared.savings.is_one_launch(a, b),
                is_unsure=common.is_unsure,
                between=ledger.between(a, b),
                is_checked=ledger.dependencies.is_known,
                where=next((lines[node] for node in nodes if node in lines), None),
                parts=tuple(Part(*ledger.part(name, common.buffers[0])) for name in (a, b)),
            )
        )
    return most_expensive_first(found)


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
