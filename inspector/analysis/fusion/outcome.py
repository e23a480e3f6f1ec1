"""What was fused, what was refused and why, and which pairs stayed apart although they share bytes."""

from collections import Counter

import msgspec

from inspect_compile.analysis.fusion.misses import (
    UNFUSABLE,
    LeftOut,
    Miss,
    apart,
    left_out,
    misses,
    most_expensive_first,
)
from inspect_compile.graph import CompiledGraph, Once
from inspect_compile.graph.fusion.ledger import Candidate, Ledger
from inspect_compile.knowledge.fusion.reasons import words_of


class RefusalCount(msgspec.Struct, frozen=True, tag_field="fact", tag="refusal_count"):
    """How many times pairs of one graph, nested graphs included, were refused for one reason, over all rounds."""

    graph: str
    code: str
    count: int
    meaning: str
    """What the code means; empty for a reason that this tool does not know."""


class GraphFusion(msgspec.Struct, frozen=True):
    """The fusion of one graph, nested graphs included."""

    ledgers: list[Ledger]
    """The ledgers of the graph and its nested graphs."""
    fused: list[Candidate]
    refusals: list[RefusalCount]
    """By reason, most first."""
    verdicts: dict[str, int]
    rounds: int
    misses: list[Miss]
    """Most expensive first: pairs in two launches, those in two loops of one launch, those with a library call."""
    left_out: list[LeftOut] = []
    """Buffers of whose pairs not all are among `misses`."""

    @property
    def apart(self) -> list[Miss]:
        """Pairs in two launches."""
        return [miss for miss in self.misses if miss.is_apart]

    @property
    def beside(self) -> list[Miss]:
        """Pairs in one launch, as two loops."""
        return [miss for miss in self.misses if miss.code != UNFUSABLE and miss.one_kernel]

    @property
    def beside_calls(self) -> list[Miss]:
        """Pairs with a library call."""
        return [miss for miss in self.misses if miss.code == UNFUSABLE]


def left_apart(graph: CompiledGraph) -> list[Miss]:
    """The pairs in two launches alone, most expensive first, in a part of the time that `fusion` takes."""
    return most_expensive_first(miss for one in graph.ledgers for miss in apart(graph.other(one.graph)))


@Once
def fusion(graph: CompiledGraph) -> GraphFusion:
    """The fusion of `graph`, from its ledgers."""
    found = graph.ledgers
    candidates = [row for one in found for row in one.candidates]
    codes = Counter(row.code for row in candidates if row.verdict == "refused")
    return GraphFusion(
        ledgers=found,
        fused=[row for row in candidates if row.verdict == "fused"],
        refusals=[RefusalCount(graph.name, code, count, words_of(code)) for code, count in codes.most_common()],
        verdicts=dict(Counter(row.verdict for row in candidates).most_common()),
        rounds=max((row.round for row in candidates), default=0),
        misses=most_expensive_first(miss for one in found for miss in misses(graph.other(one.graph))),
        left_out=[row for one in found for row in left_out(graph.other(one.graph))],
    )
