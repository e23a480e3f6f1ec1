"""`export --format model-explorer`: files as their viewer describes them, with each node and each dependency once."""

import ast
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.commands import main
from inspect_compile.diagrams.schedule.units import schedule
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Graph, Node
from inspect_compile.graph import CompiledGraph
from tests.export.published import RECORDS, GraphCollection, GraphNodeData, read
from tests.handmade import GRAPH, at, ended, graph, kernel, made, node, operation
from tests.report.pages import HOSTILE, MIXED


def exported(root: Path, folder: Path, *words: str) -> tuple[Any, dict[str, dict[str, Any]]]:
    """The collection that is written of a dump, and the node data of each kind, as their dataclasses."""
    file = folder / "explored.json"
    assert main(["export", str(root), "--format", "model-explorer", "-o", str(file), *words]) == 0
    others = folder.glob("explored.*.json")
    data = {one.suffixes[0][1:]: read(one.read_bytes(), dict[str, GraphNodeData]) for one in others}
    found = read(file.read_bytes(), GraphCollection)
    shown = {one.id: one for one in found.graphs}
    assert len(shown) == len(found.graphs)
    for one in found.graphs:
        ids = [each.id for each in one.nodes]
        assert len(set(ids)) == len(ids), one.id
        assert {edge.sourceNodeId for each in one.nodes for edge in each.incomingEdges} <= set(ids)
        assert {inner for each in one.nodes for inner in each.subgraphIds} <= set(shown)
        layers = {each.namespace for each in one.nodes}
        for group in one.groupNodeAttributes or {}:
            assert not group or any(f"{layer}/".startswith(f"{group}/") for layer in layers), group
    for kind in data.values():
        for name, values in kind.items():
            assert set(values.results) <= {each.id for each in shown[name].nodes}
    return found, data


@pytest.mark.parametrize("module", RECORDS)
def test_the_form_is_the_published_one(module: str) -> None:
    package = importlib.util.find_spec("model_explorer")
    if package is None or package.origin is None:
        pytest.skip("ai-edge-model-explorer is not installed; its adapter alone takes 128 MB")
    tree = ast.parse(Path(package.origin).with_name(f"{module}.py").read_text(encoding="utf-8"))
    published = {
        one.name: [
            field.target.id
            for field in one.body
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        ]
        for one in tree.body
        if isinstance(one, ast.ClassDef)
    }
    for record in RECORDS[module]:
        assert set(record.__struct_fields__) <= set(published[record.__name__])


def test_each_operation_is_in_its_kernel_and_each_dependency_is_an_edge(tmp_path: Path) -> None:
    found, _ = exported(MIXED, tmp_path)
    dump = Dump(MIXED)

    for of in dump.outermost():
        whole = schedule(CompiledGraph(dump, of.graph), "post_fusion")
        (drawn,) = (one for one in found.graphs if one.id == f"{of.graph}: schedule, operations in kernels")
        nodes = {one.id: one for one in drawn.nodes}
        operations = [row for unit in whole.units for row in unit.operations()]
        assert {row.name for row in operations} == {
            name for name in nodes if name.startswith("op") and name != "output"
        }
        edges = {(edge.sourceNodeId, one.id) for one in drawn.nodes for edge in one.incomingEdges}
        assert {(link.tail[1], link.head[1]) for link in whole.links if link.reads} <= edges
        for unit in whole.units:
            for row in unit.operations():
                kernel = unit.launch.kernel.name if unit.launch is not None and unit.is_kernel else ""
                assert nodes[row.name].namespace.startswith(kernel)
                assert bool(nodes[row.name].namespace) == bool(kernel)


def test_launches_carry_bytes_and_nodes_flops(tmp_path: Path) -> None:
    found, data = exported(MIXED, tmp_path, "--graph", "forward")
    dump = Dump(MIXED)
    (graph,) = (one for one in dump.outermost() if one.kind == "forward")

    launches = data["bytes"][f"{graph.graph}: schedule, launches in modules"]
    assert sum(one.value for one in launches.results.values()) == CompiledGraph(dump, graph.graph).traffic.moved
    flops = data["flops"][f"{graph.graph}: FX graph, after all passes"]
    assert sum(one.value for one in flops.results.values()) == graph_flops(CompiledGraph(dump, graph.graph)).total > 0
    coloured = data["bytes"][f"{graph.graph}: schedule, operations in kernels"]
    assert coloured.hideInAggregatedStatsTable, "a launch with two operations would count twice"
    assert not any("backward" in one.id for one in found.graphs)


def test_fx_graphs_are_those_of_the_tables(tmp_path: Path) -> None:
    found, _ = exported(MIXED, tmp_path)
    dump = Dump(MIXED)
    shown = {one.id: one for one in found.graphs}

    for of in dump.outermost():
        rows = [row for row in dump.rows(Node, of.graph) if row.stage == "post_grad"]
        drawn = shown[f"{of.graph}: FX graph, after all passes"]
        assert [one.id for one in drawn.nodes] == [row.name for row in rows]
        edges = [(edge.sourceNodeId, one.id) for one in drawn.nodes for edge in one.incomingEdges]
        assert edges == [(name, row.name) for row in rows for name in row.inputs]
        for row, one in zip(rows, drawn.nodes, strict=True):
            assert one.namespace == row.module.replace(".", "/")
            told = {each.key: each.value for each in one.attrs}
            assert told["target"] == row.target
            assert row.where is None or f":{row.where.line}" in told["line"]
            assert len(one.outputsMetadata) == len(row.values)
    of_dynamo = [row.name for row in dump.rows_of_compile(DynamoNode, "0/0")]
    assert [one.id for one in shown["compile 0/0: FX graph, Dynamo"].nodes] == of_dynamo


def test_a_nested_graph_is_behind_the_node_that_calls_it(tmp_path: Path) -> None:
    inner = f"{GRAPH}/true_graph_0"
    dump = made(
        tmp_path / "dump",
        graph(),
        node("true_graph_0", op="get_attr"),
        node("cond", "higher_order.cond", inputs=("true_graph_0",)),
        Graph(graph=inner, kind="subgraph", compile_id="0/0", parent=GRAPH, name="true_graph_0"),
        node("add", "aten.add.Tensor", graph=inner),
        operation("op0", kind="extern", reads={}, writes={"buf0": 4}, nodes=("cond",)),
        replace(operation("op0", reads={}, writes={"buf0": 4}, nodes=("add",)), graph=inner),
        ended(),
    )

    found, _ = exported(dump.root, tmp_path)

    shown = {one.id: one for one in found.graphs}
    calls = {one.id: one.subgraphIds for one in shown[f"{GRAPH}: FX graph, after all passes"].nodes}
    assert calls["cond"] == [f"{inner}: FX graph, after all passes"]
    assert [one.id for one in shown[f"{inner}: FX graph, after all passes"].nodes] == ["add"]
    layers = {one.id: one.namespace for one in shown[f"{GRAPH}: schedule, operations in kernels"].nodes}
    assert layers == {"op0": "", "true_graph_0/op0": "true_graph_0"}


def test_strange_names_stay_names(tmp_path: Path) -> None:
    names = (*HOSTILE, "a/b", "../..", "", "\x1b[2J", "x\n" * 9, "é" * 9_000)
    nodes = [
        node(name, "aten.mul.Tensor", module=name, arguments=name, inputs=names, where=at(3, name)) for name in names
    ]
    operations = [
        operation(f"op{place}{name}", reads={name: 4}, writes={f"buf{place}{name}": 4}, nodes=(name,))
        for place, name in enumerate(names)
    ]
    kernels = [
        kernel(name, row.name, nodes=row.nodes, launches=(9 + place,))
        for place, (name, row) in enumerate(zip(names, operations, strict=True))
    ]

    found, _ = exported(made(tmp_path / "dump", graph(), *nodes, *operations, *kernels, ended()).root, tmp_path)

    shown = {one.id.partition(": ")[2]: one.nodes for one in found.graphs}
    assert [one.id for one in shown["FX graph, after all passes"]] == list(names)
    assert {row.name for row in operations} <= {one.id for one in shown["schedule, operations in kernels"]}
    assert all("\n" not in one.label and "\x1b" not in one.label for nodes in shown.values() for one in nodes)
    assert all(len(one.label) <= 400 for nodes in shown.values() for one in nodes)
    assert all(len(each.value) <= 400 for nodes in shown.values() for one in nodes for each in one.attrs)


def test_nothing_compiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = made(tmp_path / "dump").root

    assert main(["export", str(root), "--format", "model-explorer", "-o", str(tmp_path / "x.json")]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert "no graph to export" in line
    assert not list(tmp_path.glob("x*"))
