"""A node of any graph finds what it was made of, and what was made of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Edit, JointNode, Node, Pass
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.provenance.lineage import STAGES, Lineage, NodeRef
from tests.conftest import DumpOf
from tests.handmade import GRAPH, at, graph, made, node

SAMPLES = ("attention_block", "conditional", "dynamic_shapes", "flex_attention", "softmax_mlp", "training_step")


def lineages(dump: Dump) -> list[Lineage]:
    by_compile = {tuple(one.name for one in graph.lineage.graphs): graph.lineage for graph in Graphs(dump)}
    return list(by_compile.values())


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_lowered_node_comes_from_a_node_of_dynamos_or_says_why_not(dump_of: DumpOf, sample: str) -> None:
    found = lineages(Dump(dump_of(sample).dump))

    rootless = {}
    for lineage in found:
        lowered = [kin for kin in lineage.nodes if kin.stage == "post_grad"]
        assert lowered
        for kin in lowered:
            family = [link.kin for link in lineage.ancestors(kin)]
            if not any(one.stage == "dynamo" for one in family):
                rootless[kin] = lineage.why_none((family or [kin])[-1])
    assert all(rootless.values())
    # What torch says nothing of is its own: masks and inputs of a nested graph that it makes up, inputs that changed.
    computing = {kin.name for kin in rootless if not kin.name.startswith(("primals", "tangents", "arg"))}
    assert computing <= {"qk_data", "full", "where"}


@pytest.mark.parametrize("sample", ["conditional", "training_step"])
def test_descendants_are_the_inverse_of_ancestors(dump_of: DumpOf, sample: str) -> None:
    for lineage in lineages(Dump(dump_of(sample).dump)):
        up = {(link.kin, kin) for kin in lineage.nodes for link in lineage.ancestors(kin)}
        down = {(kin, link.kin) for kin in lineage.nodes for link in lineage.descendants(kin)}
        assert up == down
        assert up
        order = {kin: STAGES.index(kin.stage) for kin in lineage.nodes}
        assert all(order[older] <= order[younger] for older, younger in up)


def test_a_training_step(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)
    forward, backward = (one.graph for one in dump.outermost()[:2])
    lineage = CompiledGraph(dump, backward).lineage

    def told(kin: NodeRef) -> list[tuple[str, str, str]]:
        return [(link.kin.stage, link.kin.name, link.how) for link in lineage.ancestors(kin)]

    assert told(NodeRef("post_grad", forward, "erf"))[-1] == ("dynamo", "input_3", "from_node")
    assert told(NodeRef("post_grad", forward, "primals_1"))[-1][2] == "input"
    saved = told(NodeRef("post_grad", backward, "rsqrt"))
    assert [(stage, how) for stage, _, how in saved] == [
        ("aot", "same name"),
        ("joint", "same name"),
        ("dynamo", "from_node"),
    ]
    gradient = told(NodeRef("post_grad", backward, "exp"))
    assert [how for _, _, how in gradient] == ["same name", "same name", "gradient", "from_node"]
    assert gradient[-1][:2] == ("dynamo", "input_3")  # the gradient of the GELU is of the GELU
    assert "autograd passes it" in lineage.why_none(NodeRef("joint", "0/0", "tangents_1"))

    gelu = next(row for row in dump.rows_of_compile(DynamoNode, "0/0") if row.name == "input_3")
    below = {tuple(link.kin) for link in lineage.descendants(NodeRef.of(gelu))}
    assert {("post_grad", forward, "erf"), ("post_grad", backward, "exp"), ("joint", "0/0", "exp")} <= below
    erf = NodeRef("post_grad", forward, "erf")
    assert [link.kin.stage for link in lineage.ancestors(erf)] == ["aot", "joint", "dynamo"]


def test_a_copy_that_keeps_a_mutation_comes_from_what_it_writes(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)
    update = dump.outermost()[2].graph
    lineage = CompiledGraph(dump, update).lineage

    last = lineage.ancestors(NodeRef("post_grad", update, "copy__1"))[-1]

    assert (last.kin.name, last.how) == ("addcdiv__1", "same line")


def test_nodes_of_the_same_name_in_branches_are_told_apart(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("conditional").dump)
    (only,) = dump.outermost()
    lineage = CompiledGraph(dump, only.graph).lineage

    outer = lineage.ancestors(NodeRef("post_grad", only.graph, "add"))[-1]
    inner = lineage.ancestors(NodeRef("post_grad", f"{only.graph}/false_graph_0", "add"))[-1]

    assert outer.kin == NodeRef("dynamo", "0/0", "add")
    assert inner.kin == NodeRef("dynamo", "0/0/cond_false_0", "add")


def aot(name: str, target: str) -> Node:
    return node(name, target, stage="aot")


def test_a_node_that_a_pattern_made_comes_from_what_it_matched(tmp_path: Path) -> None:
    first = Pass(
        graph=GRAPH, index=0, parent=None, stage="post_grad", kind="pattern", name="addmm", matched=("mm", "add")
    )
    edits = (Edit("added", "fused_1", after="aten.addmm"), Edit("removed", "add"))
    again = Pass(graph=GRAPH, index=1, parent=None, stage="post_grad", kind="pass", name="pad", matched=())
    padded = (
        Edit("added", "padded", where=at(3), replaces=("fused_1",)),
        Edit("added", "unsaid", where=at(3)),
        Edit("removed", "fused_1", where=at(3)),
        Edit("removed", "other"),
    )
    dump = made(
        tmp_path,
        graph(),
        aot("mm", "aten.mm.default"),
        aot("add", "aten.add.Tensor"),
        aot("other", "aten.exp.default"),
        node("padded", "aten.addmm.default"),
        node("unsaid", "aten.exp.default", where=at(3)),
        node("alone", "aten.exp.default"),
        DynamoNode(graph="0/0", stage="dynamo", index=0, name="d", op="call_function", target="exp", where=at(3)),
        replace(first, edits=edits),
        replace(again, edits=padded),
    )
    lineage = CompiledGraph(dump, GRAPH).lineage

    found = lineage.ancestors(NodeRef("post_grad", GRAPH, "padded"))

    assert [(link.kin.name, link.how) for link in found] == [("mm", "pass pad"), ("add", "pass pad")]
    assert lineage.why_none(NodeRef("post_grad", GRAPH, "alone"))
    unsaid = NodeRef("post_grad", GRAPH, "unsaid")
    assert lineage.ancestors(unsaid) == [], (
        "what went from the same line, or stands there, need not be what it was made of"
    )
    assert lineage.why_none(unsaid) == "pass pad has made it, and its source is not recorded"
    assert [link.kin.name for link in lineage.descendants(NodeRef("aot", GRAPH, "mm"))] == ["padded"]


def test_nodes_that_name_each_other_in_a_circle_end(tmp_path: Path) -> None:
    joint = {"stage": "joint", "index": 0, "op": "call_function", "target": "f", "graph": "0/0"}
    dump = made(
        tmp_path,
        graph(),
        JointNode(name="a", gradient_of="b", aot_graph="model__0_joint_0", **joint),  # type: ignore[arg-type]
        JointNode(name="b", gradient_of="a", aot_graph="model__0_joint_0", **joint),  # type: ignore[arg-type]
        aot("a", "f"),
    )
    lineage = CompiledGraph(dump, GRAPH).lineage

    assert [link.kin.name for link in lineage.ancestors(NodeRef("joint", "0/0", "a"))] == ["b"]
    assert [link.kin.name for link in lineage.ancestors(NodeRef("aot", GRAPH, "a"))] == ["a", "b"]
