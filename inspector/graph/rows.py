"""The rows of a compiled graph that many ask for: picked, in order, and grouped by a key."""

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from inspect_compile.facts import DynamoNode, JointNode, Node, Symbol

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

Phase: TypeAlias = Literal["pre_fusion", "post_fusion"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Key → the rows that have it. Keys and rows keep their order."""
    found: dict[K, list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def shared_fields(row: msgspec.Struct, kind: type[msgspec.Struct], *without: str) -> dict[str, Any]:
    """The values of the fields that `row` has in common with records of `kind`, but for those in `without`."""
    both = set(row.__struct_fields__).intersection(kind.__struct_fields__).difference(without)
    return {name: getattr(row, name) for name in both}


def stage_nodes(graph: "CompiledGraph", stage: str) -> list[Node]:
    """The nodes of one stage on the way to `graph`, in order: dynamo and joint (of its compile), aot or post_grad."""
    if stage in ("dynamo", "joint"):
        found = graph.dump.graph(graph.name)
        kind: type[Node] = DynamoNode if stage == "dynamo" else JointNode
        return [] if found is None else list(graph.dump.rows_of_compile(kind, found.compile_id))
    return [node for node in graph.rows(Node) if node.stage == stage]


def symbols(graph: "CompiledGraph") -> tuple[Symbol, ...]:
    """The symbols of `graph` and its nested graphs, each once, in order of first appearance.

    A symbol means the same in a graph and in its nested graphs.
    """
    found: dict[str, Symbol] = {}
    for row in graph.rows(Symbol):
        known = found.get(row.name)
        is_better = known is not None and known.where is None and row.where is not None
        if known is None or is_better or row.graph == graph.name != known.graph:
            found[row.name] = row
    return tuple(found.values())


def hints_of(rows: tuple[Symbol, ...]) -> dict[str, int]:
    """Symbol → its hint."""
    return {row.name: int(row.hint) for row in rows if row.hint.isdecimal() and len(row.hint) < 19}
