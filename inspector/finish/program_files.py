"""The derived files for programs: kernel_map.json, torch's node mappings, and the drawings of the schedule as DOT."""

import msgspec

from inspect_compile.analysis.kernels import kernel_map, torch_provenance
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.text import terminal_safe


def kernel_map_json(graph: CompiledGraph) -> str:
    """Kernel name → source, lines, nodes, source lines."""
    return _indented(kernel_map.kernel_map(graph))


def node_mappings_json(graph: CompiledGraph) -> str:
    """Nodes before and after AOTAutograd, and calls of kernels, as torch maps them."""
    return _indented(torch_provenance.node_mappings(graph))


def _indented(value: object) -> str:
    return terminal_safe(msgspec.json.format(msgspec.json.encode(value), indent=1)).decode() + "\n"


def pre_fusion_dot(graph: CompiledGraph) -> str:
    """The scheduler's graph before fusion; `draw` makes SVG of it."""
    from inspect_compile.diagrams.schedule.schedule import schedule_dot

    return schedule_dot(graph, "pre_fusion", fold=False)


def post_fusion_dot(graph: CompiledGraph) -> str:
    """The scheduler's graph after fusion."""
    from inspect_compile.diagrams.schedule.schedule import schedule_dot

    return schedule_dot(graph, "post_fusion", fold=False)
