"""The FX graphs of one compile on both sides, from Dynamo's to the lowered one, and where a difference begins."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.causes.alignment import Alignment, Key, Side
from inspect_compile.analysis.compare.causes.sources import Edit, Sources
from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Pass
from inspect_compile.graph import CompiledGraph, outermost, script_name
from inspect_compile.graph.passes.changes import passes_of
from inspect_compile.graph.provenance.lineage import STAGES, Link, NodeRef

LOWERED: Final = "post_grad"
_BEFORE: Final = {"joint": ("pre_grad", "joint"), "aot": ("pre_grad", "joint"), LOWERED: (LOWERED,)}
"""Stage of graphs → the stages of passes that ran after the graphs compared before it."""


class Origin(NamedTuple):
    """Where a difference of a lowered node begins."""

    stage: str
    """One of STAGES."""
    key: Key
    is_b: bool
    """Whether `key` is a node of the other side."""
    kind: str
    """As `Alignment.kind` tells it."""


class Half:
    """The graphs of one side, and how their nodes come from each other."""

    def __init__(self, dump: Dump, graph: str) -> None:
        self.dump, self.graph = dump, graph
        self.lineage = CompiledGraph(dump, graph).lineage
        self.refs: dict[str, list[NodeRef]] = {stage: [] for stage in STAGES}
        for ref in self.lineage.nodes:
            if ref.stage in ("dynamo", "joint") or outermost(ref.graph) == graph:
                self.refs[ref.stage].append(ref)
        self.has_calls = any(node.where is not None and node.where.site for node in self.lineage.nodes.values())
        """Whether the dump knows which calls led to a line; older ones do not."""
        self.sides: dict[str, Side] = {}

    def read(self, *, has_calls: bool) -> None:
        """Fill `sides`."""
        for stage, refs in self.refs.items():
            nodes = ((self.lineage.path(ref), self.lineage.nodes[ref]) for ref in refs)
            self.sides[stage] = Side(nodes, has_calls=has_calls)

    def before(self, key: Key, stage: str) -> list[Key]:
        """The nodes of an earlier stage that a lowered node comes from; of its own stage, itself."""
        if stage == LOWERED:
            return [key]
        there = self.sides[stage].nodes
        found = (
            (self.lineage.path(link.kin), link.kin.name) for link in self._ancestors(key) if link.kin.stage == stage
        )
        return [one for one in dict.fromkeys(found) if one in there]

    def _ancestors(self, key: Key) -> list[Link]:
        path, name = key
        return self.lineage.ancestors(NodeRef(LOWERED, f"{self.graph}/{path}" if path else self.graph, name))

    def ref(self, stage: str, key: Key) -> NodeRef | None:
        """The lineage's name for a node."""
        return next(
            (one for one in self.lineage.find(key[1]) if (one.stage, self.lineage.path(one)) == (stage, key[0])), None
        )

    @cached_property
    def passes(self) -> list[Pass]:
        """The passes over its graphs, in order."""
        return sorted(
            passes_of(self.dump, self.lineage.compile_id, [CompiledGraph(self.dump, self.graph)]),
            key=lambda row: row.index,
        )

    @cached_property
    def touched(self) -> dict[str, list[Pass]]:
        """Node → the passes that added, removed or changed it."""
        found: dict[str, dict[int, Pass]] = {}
        for row in self.passes:
            for edit in row.edits:
                found.setdefault(edit.node, {})[id(row)] = row
        return {name: list(rows.values()) for name, rows in found.items()}


class Stages:
    """All stages of one graph on both sides."""

    def __init__(self, a: Half, b: Half) -> None:
        self.a, self.b = a, b
        self._has_calls = a.has_calls and b.has_calls
        for half in (a, b):
            half.read(has_calls=self._has_calls)
        self.compared = [stage for stage in STAGES if a.sides[stage].nodes and b.sides[stage].nodes]
        """The stages that both dumps have."""
        self._aligned: dict[str, Alignment] = {}

    def at(self, stage: str) -> Alignment:
        """The alignment of a stage."""
        if stage not in self._aligned:
            self._aligned[stage] = Alignment(self.a.sides[stage], self.b.sides[stage])
        return self._aligned[stage]

    @cached_property
    def ran(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of the passes that each side ran."""
        return frozenset(row.name for row in self.a.passes), frozenset(row.name for row in self.b.passes)

    @cached_property
    def sources(self) -> Sources:
        """The lines of the program on both sides."""
        first = self.compared[0]
        a, b = (half.sides[first].nodes.values() for half in (self.a, self.b))
        scripts = script_name(self.a.dump.run.argv), script_name(self.b.dump.run.argv)
        return Sources(a, b, scripts, has_calls=self._has_calls)

    @cached_property
    def differing(self) -> tuple[dict[Key, str], dict[Key, str]]:
        """The lowered nodes that differ, on either side, each with how."""
        aligned = self.at(LOWERED)
        return tuple(
            {key: kind for key in side.nodes if (kind := aligned.kind(key, is_b=is_b))}
            for is_b, side in ((False, aligned.a), (True, aligned.b))
        )  # type: ignore[return-value]

    def origin(self, key: Key, *, is_b: bool) -> Origin:
        """The node of the earliest stage that a differing lowered node comes from and that differs; if none does, one
        that reads what it comes from: whether a pattern matches depends on who else needs a value.
        """
        half = self.b if is_b else self.a
        before = {stage: half.before(key, stage) for stage in self.compared}
        for stage, nodes in before.items():
            aligned = self.at(stage)
            differ = [one for one in nodes if aligned.kind(one, is_b=is_b)]
            if differ:
                first = min((aligned.root(one, is_b=is_b) for one in differ), key=half.sides[stage].place.__getitem__)
                if stage != LOWERED:
                    return Origin(stage, first, is_b, aligned.kind(first, is_b=is_b))
        for stage, nodes in before.items():
            if stage != LOWERED:
                for one in nodes:
                    for reader, is_other in self._readers(stage, one, is_b=is_b):
                        return Origin(stage, reader, is_other, self.at(stage).kind(reader, is_b=is_other))
        first = self.at(LOWERED).root(key, is_b=is_b)
        return Origin(LOWERED, first, is_b, self.at(LOWERED).kind(first, is_b=is_b))

    def _readers(self, stage: str, key: Key, *, is_b: bool) -> Iterator[tuple[Key, bool]]:
        """The nodes that read a node on one side only, each with the side."""
        aligned = self.at(stage)
        other = (aligned.to_a if is_b else aligned.to_b).get(key)
        for one, side in ((key, is_b), (other, not is_b)):
            users = (aligned.b if side else aligned.a).users.get(one, []) if one is not None else []
            yield from ((user, side) for user in users if aligned.kind(user, is_b=side) in ("only", "changed"))

    def node(self, origin: Origin) -> Node:
        """The node where it begins."""
        return (self.b if origin.is_b else self.a).sides[origin.stage].nodes[origin.key]

    def counterpart(self, origin: Origin) -> Node | None:
        """The same on the other side; None if it has none."""
        aligned = self.at(origin.stage)
        other = (aligned.to_a if origin.is_b else aligned.to_b).get(origin.key)
        return None if other is None else (aligned.a if origin.is_b else aligned.b).nodes[other]

    def edit(self, origin: Origin) -> Edit | None:
        """The edit of the program that it comes from, if there is one."""
        return self.sources.edit(self.node(origin).where, is_b=origin.is_b)

    def pass_of(self, stage: str, ours: Iterable[Key], theirs: Iterable[Key]) -> tuple[Pass, bool] | None:
        """The first pass before `stage` that touched these nodes on one side alone, and whether on the other one."""
        kinds = _BEFORE.get(stage, ())
        found = [
            [row for row in _touching(half, keys) if row.stage in kinds]
            for half, keys in ((self.a, ours), (self.b, theirs))
        ]
        names = [{(row.stage, row.name) for row in rows} for rows in found]
        for is_b in (True, False):
            for row in found[is_b]:
                if (row.stage, row.name) not in names[not is_b]:
                    return row, is_b
        for row in found[True]:
            return row, True
        return None


def _touching(half: Half, keys: Iterable[Key]) -> Iterator[Pass]:
    rows = {id(row): row for _, name in keys for row in half.touched.get(name, ())}
    yield from sorted(rows.values(), key=lambda row: row.index)
