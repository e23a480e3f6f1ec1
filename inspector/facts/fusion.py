"""What the scheduler's fusion did, round by round. A text is written once, and referred to by its number elsewhere.

Looks at pairs are more frequent than anything else: a row holds many of them, each as a short array.
`analysis.fusion.ledger` puts them together.
"""

from typing import ClassVar, Final, Literal

import msgspec

from inspect_compile.facts.base import Fact, Int64

REFUSED: Final = 0
ALLOWED: Final = 1
REFUSED_INSIDE: Final = 2
"""Refused as part of a pair that contains it (of foreach nodes), which was refused too."""
OVERRULED: Final = 3
"""The same, but the containing pair was allowed."""


class Refusal(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """torch's "cannot fuse"."""

    template: Int64
    """The text without its arguments."""
    arguments: tuple[Int64, ...] = ()
    """What stands in their places in it."""
    numbers: tuple[Int64, ...] = ()
    """Numbers behind it that torch does not print: the text of a name, its value, and so on."""
    more: Int64 | None = None
    """For a pair that shares no data, what torch's `decide_fusion_fail_reason` says of each buffer that both touch."""


class Look(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The scheduler looked at a pair of its nodes."""

    a: Int64
    """One node of the pair."""
    b: Int64
    """The other one."""
    outcome: Int64
    """0: refused; 1: allowed; 2: refused inside of a refused look; 3: refused inside of an allowed one."""
    shared: Int64 | None = None
    """torch's memory score of the pair in bytes; None if it was not computed."""
    refusals: tuple[Refusal, ...] = ()
    """One for each time that torch said so; a pair that was refused without one was refused by the backend."""


class Fused(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Two nodes were fused."""

    a: Int64
    """One node of the pair."""
    b: Int64
    """The other one."""
    into: Int64
    """The node that came out."""
    node_type: Int64
    """The class of the fused node."""


class Benchmark(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Both nodes and their fusion were benchmarked. Milliseconds."""

    a: Int64
    """One node of the pair."""
    b: Int64
    """The other one."""
    alone_a: float
    """Time of `a`."""
    alone_b: float
    """Time of `b`."""
    fused: float
    """Time of both as one."""


class FusionRow(Fact, frozen=True, kw_only=True):
    """A row of the table. Its texts have the numbers `first`, `first` + 1 and so on, over all rows of its graph."""

    table: ClassVar[str] = "fusion"

    round: Int64
    """Number of the round from 1, over all of the graph's; 0 outside of a round."""
    first: Int64 = 0
    """The number of the first of `texts`."""
    texts: tuple[str, ...] = ()
    """Texts that are meant by their numbers elsewhere: names of nodes and buffers, torch's words and their arguments,
    names of numbers.
    """


class FusionRound(FusionRow, frozen=True, kw_only=True, tag="fusion_round"):
    """A round begins, with the nodes that candidates are made of."""

    reorder: bool
    """Whether loops may be reordered for a fusion in this round."""
    window: Int64
    """Of the nodes that use one buffer each is paired with so many that come next."""
    aggressive: bool
    """Nodes that share no buffer are paired too, where their loops are alike."""
    nodes: tuple[Int64, ...]
    """The scheduler's nodes, in their order."""
    unfusable: tuple[Int64, ...] = ()
    """Those of them that are never paired: extern calls and views."""
    uses: tuple[tuple[Int64, ...], ...] = ()
    """A node and the buffers that it uses, where that is new or another than in the round before."""
    alike: tuple[tuple[Int64, Int64], ...] = ()
    """A node and its loops, where `aggressive`."""


class FusionLooks(FusionRow, frozen=True, kw_only=True, tag="fusion_looks"):
    """Some looks, one after the other, and what was done in between."""

    phase: Literal["generate", "fuse", ""] = ""
    """`generate`: candidates are collected; `fuse`: they are fused, the best first; empty outside of a round."""
    looks: tuple[Look, ...] = ()
    """Looks, one after another."""
    fused: tuple[Fused, ...] = ()
    """Fusions that were done."""
    benchmarks: tuple[Benchmark, ...] = ()
    """Fusions that were timed first."""


class FusionOrder(FusionRow, frozen=True, kw_only=True, tag="fusion_order"):
    """Some of the allowed candidates, in the order in which they are tried."""

    start: Int64 = 0
    """Number of candidates tried before them."""
    parts: tuple[Int64, ...] = ()
    """Names of the parts of a score."""
    ranked: tuple[tuple[Int64, ...], ...] = ()
    """`[a, b, parts of its score]`."""
    put_off: tuple[tuple[Int64, Int64], ...] = ()
    """Allowed, but left to a later round: the backend prefers others first."""


class FusionCombo(FusionRow, frozen=True, kw_only=True, tag="fusion_combo"):
    """Independent nodes were put into one combo kernel, after all rounds."""

    into: Int64
    """Its node."""
    parts: tuple[Int64, ...]
    """The nodes in it."""
