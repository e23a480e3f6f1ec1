"""Nodes that a pass or a pattern makes have the line of what they stand in the place of, in all views."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import JointNode, Kernel, Node, Pass
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.provenance.lineage import NodeRef
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "made_by_patterns.py"
LINES = {
    text: number
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
    for text in ("the sum", "a part", "the loss")
    if line.endswith(f"# {text}")
}


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dump]:
    found = {}
    for words in ("", "custom"):
        folder = tmp_path_factory.mktemp("made")
        done = inspected([PROGRAM, *filter(None, [words])], folder)
        assert done.returncode == 0, done.stderr
        found[words] = Dump(folder / "dump")
    return found


def _made(dump: Dump, by: str) -> set[str]:
    """Nodes that a pass or a pattern of that name put into a graph."""
    rows = [row for row in dump.rows(Pass) if row.name == by]
    return {edit.node for row in rows for edit in row.edits if edit.what == "added"}


@pytest.mark.parametrize("words", ["", "custom"])
def test_every_node_that_computes_has_a_line(dumps: dict[str, Dump], words: str) -> None:
    dump = dumps[words]
    nodes = [*dump.rows(Node), *dump.rows(JointNode)]
    assert {node.stage for node in nodes} == {"joint", "aot", "post_grad"}
    assert [node.name for node in nodes if node.op == "call_function" and node.where is None] == []
    for row in dump.rows(Pass):
        assert all(edit.where for edit in row.edits if edit.what == "added" and ".default(" in edit.after), row.name


def test_a_pattern_of_several_nodes(dumps: dict[str, Dump]) -> None:
    """The gradient of the loss: torch gives its line to the last of the nodes alone."""
    dump = dumps[""]
    made = _made(dump, "scatter_upon_const_tensor")
    nodes = [node for node in (*dump.rows(JointNode), *dump.rows(Node)) if node.name in made]
    assert len(made) > 1
    assert {node.where.line for node in nodes if node.where is not None} == {LINES["the loss"]}
    assert {node.stage for node in nodes} >= {"joint", "aot"}
    assert all(edit.where for row in dump.rows(Pass) for edit in row.edits if edit.node in made)


def test_a_pass_that_puts_one_node_for_another(dumps: dict[str, Dump]) -> None:
    """Told by who reads it: the pass takes out other nodes, of other lines, as well."""
    dump = dumps[""]
    made = {name for name in _made(dump, "reinplace_inplaceable_ops") if "scatter" in name}
    nodes = [node for node in dump.rows(Node) if node.name in made]
    assert nodes
    assert {node.where.line for node in nodes if node.where is not None} == {LINES["a part"]}


def test_a_matmul_and_its_sum(dumps: dict[str, Dump]) -> None:
    """The kernel, its launch and the way back to Dynamo's graph tell the same line, and the module."""
    dump = dumps["custom"]
    (node,) = (node for node in dump.rows(Node) if node.target == "aten.addmm.default" and "forward" in node.graph)
    assert node.where is not None
    assert node.where.line == LINES["the sum"]
    (kernel,) = (
        row for row in dump.rows(Kernel) if (row.graph, row.kind) == (node.graph, "extern") and node.name in row.nodes
    )
    assert LINES["the sum"] in {where.line for where in kernel.lines}
    assert kernel in [launch.kernel for launch in CompiledGraph(dump, node.graph).launches if node.name in launch.nodes]
    after = [one for one in dump.rows(Node) if (one.graph, one.stage) == (node.graph, "post_grad")]
    (feeds,) = (one for one in after if one.name == node.inputs[0])
    assert feeds.where == node.where  # only the new node reads it
    lineage = CompiledGraph(dump, node.graph).lineage
    assert any(link.kin.stage == "dynamo" for link in lineage.ancestors(NodeRef.of(node)))
