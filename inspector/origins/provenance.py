"""Which FX nodes a kernel computes, by torch's own file of that, `inductor_provenance_tracking_node_mappings.json`; and
of which lines a call is, by the comment above it, which names the nodes of Dynamo's graph.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from inspect_compile.facts import Kernel, Location, Node

_HANDLE: Final = re.compile(r"\s*# \[Provenance debug handles\] (\S+)\s*$")
_KERNELS: Final = "cppCodeToPost"
"""The part of the file that says which nodes of the graph after all passes a kernel is of."""
_ABOVE: Final = 4
"""Maximum lines between the comment that names a call's handle and the call."""
_SOURCES: Final = re.compile(r"\s*# Topologically Sorted Source Nodes: \[([^\]\n]{1,20000})\]")
"""Above a call of the wrapper."""


def kernel_nodes(provenance: str) -> dict[str, tuple[str, ...]]:
    """Kernel, or one call of it (`cpp_fused_relu_0:2`) → its FX nodes; empty if the text is no such file."""
    try:
        found = msgspec.json.decode(provenance)
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        return {}
    kernels = found.get(_KERNELS, found) if isinstance(found, dict) else {}
    if not isinstance(kernels, dict):
        return {}
    return {
        name: tuple(node for node in nodes if isinstance(node, str))
        for name, nodes in kernels.items()
        if isinstance(nodes, list)
    }


def with_nodes(
    kernels: Sequence[Kernel],
    code: str,
    of_kernel: Mapping[str, Sequence[str]],
    nodes: Sequence[Node],
    lines_of: Mapping[str, Location],
) -> list[Kernel]:
    """The kernels with their FX nodes, in the graph's order, and the lines of the program that those are from.

    `code`: the generated code; `nodes`: those of the graph after all passes; `lines_of`: node of Dynamo's graph → its
    line, for calls of which the nodes after all passes are not known.
    """
    order = {node.name: index for index, node in enumerate(nodes)}
    where = {node.name: node.where for node in nodes}
    operators = {node.name: node.target.split(".")[1] for node in nodes if "." in node.target}
    handles, sources = _handles(code), _sources(code) if lines_of else {}
    calls: dict[str, list[str]] = {}
    for key in of_kernel:
        calls.setdefault(key.rpartition(":")[0], []).append(key)
    found: list[Kernel] = []
    for kernel in kernels:
        named = dict.fromkeys(kernel.nodes)
        keys = [handles.get(line, "") for line in kernel.launches] if handles else calls.get(kernel.name, [])
        for key in (*keys, kernel.name):
            named.update(dict.fromkeys(of_kernel.get(key, ())))
        named = {name: None for name in named if name in order} or named  # a nested graph's kernel may have that name
        words = kernel.name.split(".")[-2:] if kernel.kind == "extern" else []
        called = [name for name in named if operators.get(name) in words]  # the others make its arguments
        own = sorted(called or named, key=lambda name: order.get(name, len(order)))
        lines = _lines(own, where)
        if not own and kernel.kind == "extern":
            lines = _lines([name for line in kernel.launches for name in sources.get(line, ())], lines_of)
        found.append(replace(kernel, nodes=tuple(own), lines=lines))
    return found


def _lines(names: Sequence[str], where: Mapping[str, Location | None]) -> tuple[Location, ...]:
    return tuple(dict.fromkeys(line for name in names if (line := where.get(name)) is not None))


def _handles(code: str) -> dict[int, str]:
    """Line of a call → torch's name for it."""
    found: dict[int, str] = {}
    for number, line in enumerate(code.split("\n"), 1):
        if (handle := _HANDLE.match(line)) is not None:
            found.update((number + below, handle[1]) for below in range(1, _ABOVE + 1))
    return found


def _sources(code: str) -> dict[int, tuple[str, ...]]:
    """Line of a call → the nodes of Dynamo's graph in the comment right above it."""
    found: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(code.split("\n"), 1):
        if (named := _SOURCES.match(line)) is not None:
            found[number + 1] = tuple(name.strip() for name in named[1].split(","))
    return found
