"""kernels.txt: every kernel with its calls, what each call moves, and its nodes and source lines."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.facts import Node
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
from inspect_compile.graph.kernels.binaries import Configuration, configurations, of_kernel, of_kernels
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.graph.kernels.statements import Statements
from inspect_compile.tables.columns import Column, text_lines
from inspect_compile.tables.cost.cost_text import exact_text
from inspect_compile.tables.kernels.binaries import binary_text
from inspect_compile.tables.kernels.kernel_page import computes_lines
from inspect_compile.tables.text import clean, code_text, lines_text, number_of, place_text


class _Origin(NamedTuple):
    """One FX node of a kernel."""

    name: str
    node: Node | None
    is_computed: bool
    """False for one that flowed in, and of which no operation computes here."""


_ORIGINS: Final[tuple[Column[_Origin], ...]] = (
    Column("node", lambda row: row.name if row.is_computed else f"({row.name})"),
    Column("operator", lambda row: row.node.target if row.node is not None else ""),
    Column("line", lambda row: place_text(row.node.where) if row.node is not None else ""),
    Column("source", lambda row: code_text(row.node.where) if row.node is not None else ""),
)


def kernels_text(graph: CompiledGraph) -> str:
    """The whole text for one outermost graph, kernels in the order of their first call."""
    calls: dict[Id, list[Launch]] = {}
    moved = graph.traffic
    for launch in moved.launches:
        calls.setdefault(Id(launch.graph, launch.kernel.name), []).append(launch)
    nodes = graph.node_of
    compiled = of_kernels(configurations(graph))
    statements = graph.statements
    count = sum(len(found) for found in calls.values())
    lines = [graph.name, f"{number_of(len(calls), 'kernel')}, {number_of(count, 'call')}", ""]
    for (of, name), found in calls.items():
        lines += [*_kernel(found, nodes, moved, of_kernel(compiled, of, name), statements), ""]
    return clean("\n".join(lines))


def _kernel(
    calls: list[Launch],
    nodes: dict[Id, Node],
    moved: LaunchTraffic,
    compiled: list[Configuration],
    statements: Statements,
) -> Iterator[str]:
    kernel = calls[0].kernel
    yield f"{kernel.name}   {kernel.kind} on {kernel.device or 'no device'}"
    at, to = kernel.defined_at, kernel.defined_to
    for label, text in (
        ("source", kernel.source),
        ("lines", f"{at} to {to} of the output code" if at is not None else ""),
        ("sizes", ", ".join(kernel.numel)),
        ("inplace", ", ".join(kernel.inplace)),
        ("inside", f"{' '.join(kernel.removed)}: buffers that never reach memory" if kernel.removed else ""),
        ("binary", binary_text(compiled) if compiled else ""),
    ):
        if text:
            yield f"  {label:8}{text}"
    for launch in calls:
        where = f"line {launch.line}" if launch.line is not None else "no call was seen"
        lines = lines_text(launch.lines)
        groups = " ".join(launch.groups) or "?"
        yield f"  call    {where}   {groups}   {exact_text(moved.of(launch))}   {lines}".rstrip()
    body = statements.body(kernel.graph, kernel.name, calls[0].operations)
    computed = [] if body is None else statements.computed(body)
    if body is not None:
        first = moved.of(calls[0])
        computes = computes_lines(computed, len(calls[0].nodes), is_reading=bool(first.read) or not first.is_known)
        yield from (f"  {line}" for line in computes)
    own = {row.node for row in computed}
    names = dict.fromkeys(calls[0].nodes)
    rows = [_Origin(name, nodes.get(Id(kernel.graph, name)), name in own or body is None) for name in names]
    yield from text_lines(_ORIGINS, rows, indent="  ")
    if body is not None and len(own) < len(calls[0].nodes):
        yield "          in brackets those that flowed in and of which no operation computes here"
    if len(calls) > 1:
        yield "          those of the first call; the others compute the same for other nodes"
