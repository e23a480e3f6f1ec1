"""The call path of small dumps that the test writes down."""

from pathlib import Path

from inspect_compile.analysis.frontend.call_path import call_path, call_rows, tree
from inspect_compile.facts import Call
from inspect_compile.graph import CompiledGraph, Graphs
from tests.handmade import GRAPH, graph, made


def call(index: int, parent: int | None, stage: str, compile_id: str = "", inner: str | None = None) -> Call:
    return Call(
        graph=compile_id,
        index=index,
        parent=parent,
        stage=stage,
        function=stage,
        defined="torch/x.py:1",
        received="",
        inductor_graph=inner,
    )


def test_without_a_frame_it_is_the_tree_that_the_graph_is_in(tmp_path: Path) -> None:
    other = "model__1_inference_1.1"
    dump = made(
        tmp_path,
        graph(compile_id=None),
        graph(other, compile_id=None),
        call(1, 0, "inner", inner=GRAPH),
        call(0, None, "compile_fx"),
        call(2, None, "compile_fx"),
        call(3, 2, "inner", inner=other),
    )
    assert [found.index for found in call_path(CompiledGraph(dump, GRAPH))] == [0, 1]
    assert [found.index for found in call_path(CompiledGraph(dump, other))] == [2, 3]
    assert call_path(CompiledGraph(dump, "no such graph")) == ()


def test_a_call_whose_caller_is_not_there_stands_at_the_top(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), call(7, 3, "inner", "0/0", GRAPH), call(8, 7, "lowering", "0/0", GRAPH))
    assert [(found.depth, found.index) for found in tree(call_path(CompiledGraph(dump, GRAPH)))] == [(0, 7), (1, 8)]
    assert [(compile_id, len(calls)) for compile_id, calls in call_rows(Graphs(dump)).items()] == [("0/0", 2)]
