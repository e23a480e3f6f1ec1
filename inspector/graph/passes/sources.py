"""Which pass put a node into a graph, and from which nodes."""

from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.dump import Dump
from inspect_compile.facts import Edit, Pass
from inspect_compile.facts.nesting import nested_path
from inspect_compile.graph.passes.changes import passes_of

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_MOST = 16
_BEFORE: Final = {"pre_grad": "dynamo"}
"""Stage of the passes → the graph that they run on, where its name differs."""


class Made(NamedTuple):
    """How a pass made a node."""

    kind: str
    """pass, pattern or function."""
    name: str
    sources: tuple[str, ...]
    """What the pattern matched; else what the node stands in the place of. Empty where that is not known."""


class PassSources:
    """The nodes that passes added to the graphs of one compile."""

    def __init__(self, dump: Dump, compile_id: str | None, graphs: "list[CompiledGraph]") -> None:
        self._added: dict[tuple[str, str, str], tuple[Pass, Edit]] = {}
        paths: dict[int | None, str] = {}
        for row in passes_of(dump, compile_id, graphs):
            path = nested_path(row.name) if row.kind == "stage" else paths.get(row.parent, "")
            paths[row.index] = path
            graph = f"{row.graph}/{path}" if path else row.graph
            for edit in row.edits:
                if edit.what == "added":
                    self._added[_BEFORE.get(row.stage, row.stage), graph, edit.node] = row, edit

    def made(self, stage: str, graph: str, name: str) -> Made | None:
        """The pass or pattern that added the node; None if none did."""
        found = self._added.get((stage, graph, name))
        if found is None:
            return None
        row, edit = found
        return Made(row.kind, row.name, (row.matched or edit.replaces)[:_MOST])
