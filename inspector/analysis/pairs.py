"""Two sides of a graph's operations that a person names, and whether a compile has them in one scheduler node."""

import difflib
from typing import Final, NamedTuple

from inspect_compile.analysis.operation_names import operations_in
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel, Lowering, Operation

_NEAR: Final = 5


class Pair(NamedTuple):
    """Operations on two sides."""

    graph: str
    """Theirs: the graph that was asked about, or one nested in it."""
    a: tuple[str, ...]
    b: tuple[str, ...]

    @property
    def words(self) -> str:
        """`op1_op2 and op3`."""
        return f"{'_'.join(self.a)} and {'_'.join(self.b)}"


class Standing(NamedTuple):
    """Where the two sides are after fusion."""

    a: tuple[str, ...]
    """The scheduler nodes that hold operations of it."""
    b: tuple[str, ...]
    kernels_a: tuple[str, ...]
    kernels_b: tuple[str, ...]

    @property
    def is_fused(self) -> bool:
        """Does one scheduler node hold operations of both?"""
        return not set(self.a).isdisjoint(self.b)

    @property
    def is_one_kernel(self) -> bool:
        """Does one kernel? On the CPU a kernel may hold several scheduler nodes, one loop nest each."""
        return not set(self.kernels_a).isdisjoint(self.kernels_b)


def pair(dump: Dump, graph: str, a: str, b: str) -> Pair:
    """The two sides that `a` and `b` name: operations, buffers, FX nodes, kernels, or scheduler nodes of any round.

    CommandError for a name that is unknown, and for two that name the same operation, or operations of two graphs.
    """
    (graph_a, ops_a), (graph_b, ops_b) = (operations_meant(dump, graph, name) for name in (a, b))
    if graph_a != graph_b:
        raise CommandError(f"{a} is of {graph_a} and {b} of {graph_b}; only operations of one graph can be fused")
    if both := sorted(set(ops_a) & set(ops_b)):
        raise CommandError(f"{a} and {b} are both computed by {', '.join(both)}; name two operations: show schedule")
    return Pair(graph_a, ops_a, ops_b)


def operations_meant(dump: Dump, graph: str, name: str) -> tuple[str, tuple[str, ...]]:
    """The graph and the operations of `name`. A node's are those that its lowering made, else those it went into."""
    rows = [row for row in dump.rows(Operation, graph) if row.phase == "pre_fusion"]
    known = {member: row.graph for row in rows for member in row.members}
    path, _, bare = name.removeprefix("%").rpartition("/")
    found: dict[str, dict[str, None]] = {}

    def add(of: str, operations: tuple[str, ...] | list[str]) -> None:
        if not path or of.endswith(f"/{path}"):
            found.setdefault(of, {}).update((one, None) for one in operations if one in known)

    parts = operations_in(bare)
    if bare in known or (parts and "_".join(parts) == bare and all(part in known for part in parts)):
        for one in [bare] if bare in known else parts:
            add(known[one], [one])
    for row in rows if not found else ():
        if bare in row.buffers:
            add(row.graph, row.members)
    for kernel in dump.rows(Kernel, graph) if not found else ():
        if kernel.name == bare:
            add(kernel.graph, kernel.operations)
    for made in dump.rows(Lowering, graph) if not found else ():
        if made.node == bare and made.operations:
            add(made.graph, made.operations)
    if not found:
        for row in rows:
            if bare in row.nodes:
                add(row.graph, row.members)
        if any(len(operations) > 1 for operations in found.values()):
            there = ", ".join(operation for operations in found.values() for operation in operations)
            raise CommandError(f"{name}: it is computed in several operations; name the one that is meant: {there}")
    found = {of: operations for of, operations in found.items() if operations}
    if len(found) > 1:
        raise CommandError(f"{name}: in several graphs; put the one in front: {', '.join(f'{of}' for of in found)}")
    if not found:
        names = [*known, *(buffer for row in rows for buffer in row.buffers), *(n for row in rows for n in row.nodes)]
        near = difflib.get_close_matches(bare[:200], list(dict.fromkeys(names)), _NEAR, 0.5) or list(known)[:_NEAR]
        there = f"near: {', '.join(near)}" if near else "it has none"
        raise CommandError(f"{name}: no operation, buffer or node of {graph} that is scheduled; {there}")
    ((of, operations),) = found.items()
    return of, tuple(operations)


def standing(dump: Dump, pair: Pair) -> Standing:
    """Where `pair` is after fusion."""
    groups = [row for row in dump.rows(Operation, pair.graph) if row.phase == "post_fusion" and row.graph == pair.graph]
    kernels = [row for row in dump.rows(Kernel, pair.graph) if row.graph == pair.graph]
    sides = [set(side) for side in (pair.a, pair.b)]
    names = [tuple(row.name for row in groups if not side.isdisjoint(row.members)) for side in sides]
    held = [tuple(dict.fromkeys(row.name for row in kernels if not set(row.groups).isdisjoint(n))) for n in names]
    return Standing(names[0], names[1], held[0], held[1])


def is_one_before(dump: Dump, pair: Pair) -> bool:
    """Does one scheduler node hold both before any fusion, as the operations of a foreach do?"""
    return any(
        not set(pair.a).isdisjoint(row.members) and not set(pair.b).isdisjoint(row.members)
        for row in dump.rows(Operation, pair.graph)
        if row.phase == "pre_fusion" and row.graph == pair.graph
    )
