"""What a node stands in the place of that something put into an FX graph: told by who reads it now."""

import torch
from torch.fx import Graph, Node

from inspect_compile.lowering.passes.pass_edits import Snapshot

aten = torch.ops.aten


def chain() -> tuple[Graph, dict[str, Node]]:
    """x → sin → (add, mul) → output, and x → cos that nobody reads."""
    graph = Graph()
    x = graph.placeholder("x")
    sin, cos = (graph.call_function(getattr(aten, name).default, (x,), name=name) for name in ("sin", "cos"))
    add = graph.call_function(aten.add.Tensor, (sin, 1), name="add")
    mul = graph.call_function(aten.mul.Tensor, (sin, x), name="mul")
    graph.output((add, mul))
    return graph, {node.name: node for node in graph.nodes} | {"cos": cos}


def test_what_is_made_for_one_node_stands_for_it_and_for_no_other() -> None:
    graph, nodes = chain()
    before = Snapshot(graph)
    with graph.inserting_before(nodes["sin"]):
        inner = graph.call_function(aten.neg.default, (nodes["x"],), name="inner")
        outer = graph.call_function(aten.tanh.default, (inner,), name="outer")
        beside = graph.call_function(aten.exp.default, (nodes["x"],), name="beside")
    nodes["sin"].replace_all_uses_with(outer)
    graph.erase_node(nodes["sin"])
    graph.erase_node(nodes["cos"])

    edits, _, _ = before.differs(Snapshot(graph))

    assert beside.users == {}
    added = {edit.node: edit.replaces for edit in edits if edit.what == "added"}
    assert added == {"inner": ("sin",), "outer": ("sin",), "beside": ()}
    assert {edit.node for edit in edits if edit.what == "removed"} == {"sin", "cos"}


def test_one_for_several() -> None:
    graph, nodes = chain()
    before = Snapshot(graph)
    with graph.inserting_before(nodes["add"]):
        both = graph.call_function(aten.neg.default, (nodes["sin"],), name="both")
    graph.output_node().args = ((both, both),)

    edits, _, _ = before.differs(Snapshot(graph))

    assert {edit.node: edit.replaces for edit in edits if edit.what == "added"} == {"both": ("add", "mul")}
