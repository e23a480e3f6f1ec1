"""What the scheduler's fusion did, round by round. Texts are written once, and meant by their numbers elsewhere.

A program has many more looks at pairs than anything else: a row holds as many as come within a moment, each a short
array. `analysis.ledger` puts them together again.
"""

from typing import ClassVar, Final, Literal

import msgspec

from inspect_compile.facts.base import Fact, Int64

REFUSED: Final = 0
ALLOWED: Final = 1
REFUSED_INSIDE: Final = 2
"""Refused while a pair that holds it was looked at (a foreach node's parts), and that pair was refused too."""
OVERRULED: Final = 3
"""The same, but the pair that holds it was allowed."""


class Refusal(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """torch's "cannot fuse"."""

    template: Int64
    """The text before its arguments are filled in."""
    arguments: tuple[Int64, ...] = ()
    numbers: tuple[Int64, ...] = ()
    """The numbers behind it that torch does not tell: the text of a name, its value, and so on."""
    more: Int64 | None = None
    """What `decide_fusion_fail_reason` says of the buffers that both touch, of pairs that share no data."""


class Look(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The scheduler looked at a pair of its nodes."""

    a: Int64
    b: Int64
    outcome: Int64
    """REFUSED, ALLOWED, REFUSED_INSIDE or OVERRULED."""
    shared: Int64 | None = None
    """torch's memory score of the pair, bytes; None where it was not asked for."""
    refusals: tuple[Refusal, ...] = ()


class Fused(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Two nodes became one."""

    a: Int64
    b: Int64
    into: Int64
    node_type: Int64
    """The class of what came out."""


class Benchmark(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Both nodes and their fusion were run. Milliseconds."""

    a: Int64
    b: Int64
    alone_a: float
    alone_b: float
    fused: float


class FusionRow(Fact, frozen=True, kw_only=True):
    """A row of the table. Its texts have the numbers `first`, `first` + 1 and so on in all rows of its graph."""

    table: ClassVar[str] = "fusion"

    round: Int64
    """Rounds are counted from 1 over all calls for this graph; 0: outside of a round."""
    first: Int64 = 0
    texts: tuple[str, ...] = ()


class FusionRound(FusionRow, frozen=True, kw_only=True, tag="fusion_round"):
    """A round begins: what candidates are made of."""

    reorder: bool
    """In this round loops may be put into another order for a fusion."""
    window: Int64
    """Of the nodes that use one buffer each is paired with so many that come next."""
    aggressive: bool
    """Nodes that share no buffer are paired too, where their loops are alike."""
    nodes: tuple[Int64, ...]
    """Names of the scheduler's nodes, in their order."""
    unfusable: tuple[Int64, ...] = ()
    """Those of them that are never paired."""
    uses: tuple[tuple[Int64, ...], ...] = ()
    """A node and the buffers that it uses, where that is new or another than in the round before."""
    alike: tuple[tuple[Int64, Int64], ...] = ()
    """A node and its loops, where `aggressive`."""


class FusionLooks(FusionRow, frozen=True, kw_only=True, tag="fusion_looks"):
    """Some looks, one after another, and what was done in between."""

    phase: Literal["generate", "fuse", ""] = ""
    """Candidates are collected, or fused, the best first; empty outside of a round."""
    looks: tuple[Look, ...] = ()
    fused: tuple[Fused, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()


class FusionOrder(FusionRow, frozen=True, kw_only=True, tag="fusion_order"):
    """Some of the candidates that were allowed, in the order in which they are tried."""

    start: Int64 = 0
    """How many are tried before them."""
    parts: tuple[Int64, ...] = ()
    """Names of the parts of a score."""
    ranked: tuple[tuple[Int64, ...], ...] = ()
    """a, b, and the parts of their score."""
    put_off: tuple[tuple[Int64, Int64], ...] = ()
    """Allowed, and left to a later round: the backend has others first."""


class FusionCombo(FusionRow, frozen=True, kw_only=True, tag="fusion_combo"):
    """Nodes that need nothing of each other were put into one kernel, after all rounds."""

    into: Int64
    parts: tuple[Int64, ...]
