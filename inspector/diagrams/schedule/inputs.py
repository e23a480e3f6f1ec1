"""The program's names for a graph's inputs: `conv.weight` for `primals_1`."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from inspect_compile.facts import DynamoNode, Node, Tensor
from inspect_compile.graph import CompiledGraph, matched_inputs

Role = Literal["parameter", "input", "gradient", "saved", "unknown"]

_MODULES: Final = re.compile(r"_modules_(.+?)(?=_modules_|_parameters_|_buffers_)")
_LEAF: Final = re.compile(r"_(?:parameters|buffers)_(.+)$")


@dataclass(frozen=True)
class Input:
    """One placeholder of a graph."""

    name: str
    """Its name in the graph."""
    text: str
    """Its name in the program, if that is certain; else the same as `name`."""
    role: Role
    """parameter (also a module's buffer), input (of the call), gradient (from the loss), saved (by the forward for the
    backward) or unknown.
    """
    tensor: Tensor | None


def inputs(graph: "CompiledGraph") -> dict[str, Input]:
    """The inputs of `graph` by name. A nested graph has only its own names."""
    row = graph.dump.graph(graph.name)
    placeholders = _placeholders(graph)
    named = _names(CompiledGraph(graph.dump, row.graph)) if row is not None else {}
    is_backward = row is not None and row.kind == "backward"
    found = {}
    for node in placeholders:
        text = named.get(node.name, "")
        role: Role = "unknown"
        if text:
            role = "parameter" if is_state(text) else "input"
        elif is_backward:
            role = "gradient" if node.name.startswith("tangents_") else "saved"
        tensor = node.values[0] if node.values else None
        found[node.name] = Input(node.name, readable(text) if text else node.name, role, tensor)
    return found


def _placeholders(graph: "CompiledGraph") -> list[Node]:
    return [
        node
        for node in graph.rows(Node)
        if node.graph == graph.name and node.stage == "post_grad" and node.op == "placeholder"
    ]


def _names(graph: "CompiledGraph") -> dict[str, str]:
    """Placeholder → Dynamo's name for it. A backward graph keeps its forward's names."""
    if graph.fact.compile_id is None or graph.fact.parent is not None:
        return {}
    if graph.fact.kind == "backward":
        forward = [row for row in graph.dump.graphs_of_compile(graph.fact.compile_id) if row.kind == "forward"]
        return _names(CompiledGraph(graph.dump, forward[0].graph)) if len(forward) == 1 else {}
    ours = _placeholders(graph)
    theirs = [
        node for node in graph.dump.rows_of_compile(DynamoNode, graph.fact.compile_id) if node.op == "placeholder"
    ]
    return {name: found.target for name, found in matched_inputs(ours, theirs).items()}


def is_state(name: str) -> bool:
    """True for Dynamo's name of a parameter or a buffer of a module."""
    return _LEAF.search(name) is not None


def readable(name: str) -> str:
    """`down.weight` for `L_self_modules_down_parameters_weight_`, `x` for `L_x_`."""
    leaf = _LEAF.search(name)
    if leaf is None:
        return name.removeprefix("L_").rstrip("_") or name
    return ".".join([*_MODULES.findall(name), leaf.group(1).rstrip("_")])
