"""Everything that is known about a kernel, by its name: the contents of kernel_map.json."""

from typing import Any

from inspect_compile.facts import Location
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.knowledge.frontend.own_code import own_line

VERSION = 1


def kernel_map(graph: CompiledGraph) -> dict[str, Any]:
    """The contents of kernel_map.json for `graph`, nested graphs included. docs/dump.md describes them."""
    where = graph.line_of
    kernels: dict[str, dict[str, Any]] = {}
    for launch in graph.launches:
        kernel = launch.kernel
        lines = dict.fromkeys(where[Id(launch.graph, node)] for node in launch.nodes if Id(launch.graph, node) in where)
        found = kernels.setdefault(
            kernel.name,
            {
                "kind": kernel.kind,
                "device": kernel.device,
                "source": kernel.source or None,
                "path": kernel.path or None,
                "defined": None if kernel.defined_at is None else [kernel.defined_at, kernel.defined_to],
                "calls": [],
            },
        )
        found["calls"].append(
            {
                "graph": launch.graph,
                "line": launch.line,
                "operations": launch.operations,
                "groups": launch.groups,
                "nodes": launch.nodes,
                "lines": [_line(line) for line in lines],
            }
        )
    return {"version": VERSION, "graph": graph.name, "kernels": kernels}


def _line(where: Location) -> dict[str, Any]:
    """A line; with one of a library the user's own line that leads to it."""
    own = own_line(where)
    found = {"file": where.file, "line": where.line, "function": where.function, "code": where.code}
    return found if own is None or own is where else {**found, "own": _line(own)}
