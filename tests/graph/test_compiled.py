"""A compiled graph: what is made once of it, until the dump has more, and who it is made for."""

from pathlib import Path

import pytest

from inspect_compile.dump import Writer
from inspect_compile.graph import CompiledGraph, Graphs, Id, Once
from tests.handmade import GRAPH, graph, kernel, made, node

INNER = f"{GRAPH}/true_graph_0"
OTHER = "model__1_inference_2.0"


@Once
def names(graphs: Graphs) -> list[str]:
    return [row.name for row in graphs.nodes]


def test_what_is_made_is_kept_until_there_is_more(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), node("x"))
    one, same = CompiledGraph(dump, GRAPH), CompiledGraph(dump, GRAPH)

    assert names(one) == ["x"]
    assert names(one) is names(same)
    assert one.nodes is same.nodes
    assert not dump.refresh()
    assert names(one) is names(same)

    writer = Writer(tmp_path)
    writer.add(node("relu", "aten.relu"))
    writer.flush()

    assert names(one) == ["x"]
    assert dump.refresh()
    assert names(one) == names(same) == ["x", "relu"]


def test_all_graphs_or_the_one_that_is_asked_for(tmp_path: Path) -> None:
    inner = graph(INNER, kind="subgraph", parent=GRAPH)
    dump = made(tmp_path, graph(), inner, graph(OTHER, compile_id=None), node("x"), node("y", graph=OTHER))

    assert [one.name for one in Graphs(dump)] == [GRAPH, OTHER]
    assert [one.name for one in Graphs(dump, INNER)] == [INNER]
    assert list(Graphs(dump, "none")) == []
    assert Graphs(dump).compiles is None
    assert (Graphs(dump, OTHER).compiles, Graphs(dump, INNER).compiles) == ({""}, {"0/0"})
    assert names(Graphs(dump)) == ["x", "y"]
    assert names(CompiledGraph(dump, OTHER)) == ["y"]


def test_a_graph_that_the_dump_has_not_is_empty(tmp_path: Path) -> None:
    there = CompiledGraph(made(tmp_path, graph()), "none")

    assert (there.nodes, there.launches, there.groups, there.memory.peak) == ([], [], [], 0)
    with pytest.raises(LookupError, match="the dump has no graph none"):
        _ = there.fact


def test_of_a_nested_graph(tmp_path: Path) -> None:
    inner = graph(INNER, kind="subgraph", parent=GRAPH)
    rows = (node("x"), node("x", graph=INNER), kernel("k"))
    dump = made(tmp_path, graph(), inner, *rows)
    whole, nested = CompiledGraph(dump, GRAPH), CompiledGraph(dump, INNER)

    assert list(whole.node_of) == [Id(GRAPH, "x"), Id(INNER, "x")]
    assert list(nested.node_of) == [Id(INNER, "x")]
    assert [row.graph for row in whole.own(whole.nodes)] == [GRAPH]
    assert nested.outermost.name == GRAPH
    assert [Id.of(row).below(GRAPH) for row in whole.nodes] == ["x", "true_graph_0/x"]
    assert (Id(INNER, "x").outermost, Id(INNER, "x").path) == (GRAPH, "true_graph_0")
