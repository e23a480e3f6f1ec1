"""The joint graph of forward and backward, as AOTAutograd's partitioner receives it."""

import functools
from typing import Any, Final, cast

import msgspec

from inspect_compile.facts import JointNode
from inspect_compile.lowering.core.fx_nodes import NodeReader
from inspect_compile.lowering.core.scopes import aot_graph_name, compile_id
from inspect_compile.lowering.passes.inherited import aot_id, origins_in
from inspect_compile.probe import Probes

_IS_JOINT: Final = "_joint_"


def record_joint(probes: Probes, module: Any) -> None:
    """Record the nodes of `module`; nothing for a graph without a backward, over which torch runs the joint
    passes too.
    """
    name = aot_graph_name()
    if _IS_JOINT not in name:
        return
    forward = _of_gradients(module)
    policies = {node.name: policy(node) for node in module.graph.nodes}
    inherited = functools.partial(origins_in, aot_id(name))
    found = NodeReader(inherited).all_facts(module, graph=compile_id() or "", stage="joint")
    probes.sink.add_all(
        msgspec.structs.replace(
            cast("JointNode", node),
            aot_graph=name,
            gradient_of=forward.get(node.name, ""),
            policy=policies.get(node.name, ""),
        )
        for node in found
    )
    probes.sink.flush()


def policy(node: Any) -> str:
    """The node's recomputation mark: `must_save`, `prefer_recompute`; usually empty."""
    mark = node.meta.get("recompute")
    return "" if mark is None else str(getattr(mark, "name", mark)).lower()


def _of_gradients(module: Any) -> dict[str, str]:
    """Node of the backward → the first node of the forward with the same autograd sequence number."""
    first: dict[Any, str] = {}
    found: dict[str, str] = {}
    for node in module.graph.nodes:
        number = node.meta.get("seq_nr")
        if number is None or node.op == "placeholder":
            continue
        if node.meta.get("partitioner_tag") != "is_backward":
            first.setdefault(number, node.name)
        elif number in first:
            found[node.name] = first[number]
    return found
