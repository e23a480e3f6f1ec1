"""What was fused, what was refused and why, and which refusals left the most bytes to be moved twice."""

import functools
from collections import Counter

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Attempt, Kernel, Operation

NOT_FUSED = frozenset({"refused", "legal"})
_LONGEST = 64
"""Parts of an operation's own name; a fused node's name has no such limit."""


class Group(msgspec.Struct, frozen=True):
    """One scheduler node after fusion."""

    graph: str
    name: str
    kind: str
    members: tuple[str, ...]
    nodes: tuple[str, ...]
    kernel: str
    """Empty where no kernel runs it (a view of a buffer, a part of a tuple)."""


class Miss(msgspec.Struct, frozen=True, tag_field="fact", tag="miss"):
    """Two scheduler nodes that share bytes and ended apart."""

    graph: str
    a: str
    b: str
    """Names after fusion: what the pair's last refusal spoke of may have been parts of them."""
    code: str
    reason: str
    """Of the last attempt; for the verdict `legal` that it was allowed and not done."""
    shared_bytes: int
    """The most that any attempt at the pair found."""
    buffers: tuple[str, ...]
    """What both touch, the largest first."""
    rounds: tuple[int, ...]
    handed: tuple[str, ...]
    """Those of `buffers` that `a` writes and `b` reads."""
    nodes: tuple[str, ...]
    """FX origins of both, those of `b` first."""
    one_kernel: bool
    """Both stand in one kernel all the same, as two loops: on the CPU a kernel holds several groups."""


class GraphFusion(msgspec.Struct, frozen=True):
    """The fusion of one graph, nested ones included."""

    groups: list[Group]
    fused: list[Attempt]
    codes: dict[str, int]
    """Reason code → refusals, the most first."""
    verdicts: dict[str, int]
    rounds: int
    misses: list[Miss]
    """The dearest first."""


def fusion(dump: Dump, graph: str) -> GraphFusion:
    """Sum up the attempts of `graph`."""
    attempts = dump.rows(Attempt, graph)
    operations = [row for row in dump.rows(Operation, graph) if row.phase == "post_fusion"]
    kernels = {(kernel.graph, group): kernel for kernel in dump.rows(Kernel, graph) for group in kernel.groups}
    groups = []
    for row in operations:
        kernel = kernels.get((row.graph, row.name))
        groups.append(Group(row.graph, row.name, row.kind, row.members, row.nodes, kernel.name if kernel else ""))
    return GraphFusion(
        groups,
        [row for row in attempts if row.verdict == "fused"],
        dict(Counter(row.code for row in attempts if row.verdict == "refused").most_common()),
        dict(Counter(row.verdict for row in attempts).most_common()),
        max((row.round for row in attempts), default=0),
        _misses(attempts, operations, {key: id(kernel) for key, kernel in kernels.items()}),
    )


def _misses(attempts: list[Attempt], operations: list[Operation], kernels: dict[tuple[str, str], int]) -> list[Miss]:
    last = {(row.graph, member): row for row in operations for member in row.members}
    touched = {
        (row.graph, row.name): {access.buffer: access.bytes or 0 for access in (*row.reads, *row.writes)}
        for row in operations
    }
    named = {(row.graph, row.name): row for row in operations}
    written = {(row.graph, row.name): {access.buffer for access in row.writes} for row in operations}
    pairs: dict[tuple[str, str, str], list[Attempt]] = {}

    @functools.cache
    def group_of(graph: str, name: str) -> Operation | None:
        return _group(graph, name, last)

    for attempt in attempts:
        if attempt.verdict not in NOT_FUSED or not attempt.shared_bytes:
            continue
        a, b = group_of(attempt.graph, attempt.a), group_of(attempt.graph, attempt.b)
        if a is not None and b is not None and a.name != b.name:
            first, second = sorted((a, b), key=lambda row: row.order)
            pairs.setdefault((attempt.graph, first.name, second.name), []).append(attempt)
    found = []
    for (graph, a_name, b_name), tried in pairs.items():
        final = tried[-1]
        one, other = touched[graph, a_name], touched[graph, b_name]
        common = sorted(one.keys() & other.keys(), key=lambda name: (-min(one[name], other[name]), name))
        kernel = kernels.get((graph, a_name))
        found.append(
            Miss(
                graph,
                a_name,
                b_name,
                final.code or final.verdict,
                final.reason or "allowed, and not done in that round",
                max(attempt.shared_bytes or 0 for attempt in tried),
                tuple(common),
                tuple(dict.fromkeys(attempt.round for attempt in tried)),
                tuple(name for name in common if name in written[graph, a_name] and name not in written[graph, b_name]),
                tuple(dict.fromkeys((*named[graph, b_name].nodes, *named[graph, a_name].nodes))),
                kernel is not None and kernel == kernels.get((graph, b_name)),
            )
        )
    return sorted(found, key=lambda miss: -miss.shared_bytes)


def _group(graph: str, name: str, last: dict[tuple[str, str], Operation]) -> Operation | None:
    """The scheduler node after fusion that holds the first part of what `name`, `op9_op10`, meant in some round."""
    found = last.get((graph, name))
    parts = name.split("_")
    # Names of nested graphs' operations have underscores of their own: true_graph_0_op3.
    for end in range(min(len(parts), _LONGEST), 0, -1):
        found = found or last.get((graph, "_".join(parts[:end])))
    return found
