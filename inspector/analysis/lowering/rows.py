"""The rows of the table of lowerings: each with what became of its value."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec.structs import asdict

from inspect_compile.analysis.lowering.inlining import Inlined, inlined
from inspect_compile.facts import Lowering, Realize
from inspect_compile.graph import CompiledGraph, Id

REALIZED: Final = "realized"
INLINED: Final = "inlined"
NEVER: Final = frozenset({"placeholder", "output", "view", "getitem", "constant", "subgraph", "dead"})
"""Kinds of lowering without a computation: whether their value is realized does not matter."""


class LoweringRow(Lowering, frozen=True, kw_only=True, tag="lowering_row"):
    """The lowering of one FX node, with what became of its value. Two fields of the fact have other names in JSON."""

    way: str = msgspec.field(name="kind")
    special: int = msgspec.field(name="transcendental", default=0)
    value: str = ""
    """`realized` if it has a buffer, `inlined` if its users compute it; empty if nothing is computed, or it failed."""
    reason: str = ""
    """Why it was realized; empty if its lowering made a buffer at once."""
    realized_for: str = ""
    """The node whose lowering asked for it, if that is another one."""
    inlined_in: int | None = None
    """Number of operations that compute an inlined value; None if that is not known."""


def lowering_rows(graph: CompiledGraph) -> list[LoweringRow]:
    """The lowerings of `graph`, nested graphs included, in the order in which they ended."""
    asks, virtual = asks_of(graph), inlined(graph)
    return [
        LoweringRow(
            **asdict(row), **_value(row, asks.get(Id(row.graph, row.node), ()), virtual.get(Id(row.graph, row.node)))
        )
        for row in graph.rows(Lowering)
    ]


def asks_of(graph: CompiledGraph) -> dict[Id, list[Realize]]:
    """Node → the requests to realize its value, and those that its lowering made."""
    found: dict[Id, list[Realize]] = {}
    for ask in graph.rows(Realize):
        for name in dict.fromkeys((ask.node, ask.origin)):
            if name is not None:
                found.setdefault(Id(ask.graph, name), []).append(ask)
    return found


def _value(row: Lowering, asks: Iterable[Realize], virtual: Inlined | None) -> dict[str, Any]:
    """The fields that `LoweringRow` has beside those of the fact."""
    if row.error is not None:
        return {}
    own = next((ask for ask in asks if ask.realized and (ask.origin == row.node or ask.buffer in row.buffers)), None)
    if own is not None:
        asked_by = own.node if own.node is not None and own.node != row.node else ""
        return {"value": REALIZED, "reason": own.reason, "realized_for": asked_by}
    if row.buffers:
        return {"value": REALIZED}
    if row.way in NEVER:
        return {}
    return {"value": INLINED, "inlined_in": virtual.count if virtual is not None else None}
