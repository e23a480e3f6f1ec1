"""The rows of a dump that many analyses read: picked, grouped by a key, and what is computed from them, cached."""

import weakref
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Hook, JointNode, Location, Node, Operation, Symbol
from inspect_compile.knowledge.versions import release

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


def lowered_nodes(dump: Dump, graph: str | None) -> list[Node]:
    """The nodes of `graph` after all passes, in order; those of nested graphs follow. All graphs' for None."""
    return [node for node in dump.rows(Node, graph) if node.stage == "post_grad"]


def stage_nodes(dump: Dump, graph: str, stage: str) -> list[Node]:
    """The nodes of one stage on the way to `graph`, in order: dynamo and joint (of its compile), aot or post_grad."""
    if stage in ("dynamo", "joint"):
        found = dump.graph(graph)
        kind: type[Node] = DynamoNode if stage == "dynamo" else JointNode
        return [] if found is None else list(dump.rows_of_compile(kind, found.compile_id))
    return [node for node in dump.rows(Node, graph) if node.stage == stage]


def lowered_by_name(dump: Dump, graph: str | None) -> dict[tuple[str, str], Node]:
    """(graph, name) → the node of `lowered_nodes`."""
    return {(node.graph, node.name): node for node in lowered_nodes(dump, graph)}


def source_lines(dump: Dump, graph: str) -> dict[tuple[str, str], Location]:
    """(graph, name) → source line of the nodes of `lowered_nodes` that have one."""
    return {(node.graph, node.name): node.where for node in lowered_nodes(dump, graph) if node.where is not None}


def scheduled(dump: Dump, graph: str | None, phase: Phase = "pre_fusion", *, nested: bool = True) -> list[Operation]:
    """The scheduler nodes of `graph` in that phase, in order; with `nested` those of nested graphs follow."""
    rows = dump.rows(Operation, graph)
    return [row for row in rows if row.phase == phase and (nested or row.graph == graph)]


def symbols(dump: Dump, graph: str) -> tuple[Symbol, ...]:
    """The symbols of `graph` and its nested graphs, each once, in order of first appearance.

    A symbol means the same in a graph and in its nested graphs.
    """
    found: dict[str, Symbol] = {}
    for row in dump.rows(Symbol, graph):
        known = found.get(row.name)
        if known is None or (known.where is None and row.where is not None) or row.graph == graph != known.graph:
            found[row.name] = row
    return tuple(found.values())


def hints_of(rows: tuple[Symbol, ...]) -> dict[str, int]:
    """Symbol → its hint."""
    return {row.name: int(row.hint) for row in rows if row.hint.isdecimal() and len(row.hint) < 19}


def hooks(dump: Dump) -> list[Hook]:
    """The last row of each hook: one that is turned off writes a row at once and another at the end."""
    return list({(row.probe, row.target): row for row in dump.rows(Hook)}.values())


def disabled(dump: Dump) -> list[Hook]:
    """Hooks that were turned off because they failed, then those that found nothing to watch; `reason` says why.

    What the run's torch was too old to have is not missed.
    """
    now = dump.run.versions.get("torch", "")
    found = [row for row in hooks(dump) if row.state == "failed" or (row.state == "missing" and _had(now, row.since))]
    return sorted(found, key=lambda row: row.state)


def _had(version: str, since: str) -> bool:
    """Is this version of torch `since` or newer? Also if one of them is not known."""
    now, first = release(version), release(since)
    return not now or not first or now >= first


class ResultCache(Generic[T]):
    """The latest result of one kind for each graph of each dump, with the number of rows it was made from."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Dump, dict[str, tuple[tuple[int, ...], T]]] = weakref.WeakKeyDictionary()

    def of(self, dump: Dump, graph: str, extent: tuple[int, ...], make: Callable[[], T]) -> T:
        """The result for `graph`, computed again by `make` when `extent`, the lengths of the tables, has changed."""
        known = self._known.setdefault(dump, {})
        if graph not in known or known[graph][0] != extent:
            known[graph] = extent, make()
        return known[graph][1]
