"""The call path of the samples: who called whom, what went in, what came out."""

from pathlib import Path

import torch

from inspect_compile.analysis.frontend.call_path import call_path, tree
from inspect_compile.dump import Dump
from inspect_compile.facts import Call
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf

ONE_GRAPH = (
    (0, "backend", "inductor"),
    (1, "compile_fx", "compile_fx"),
    (2, "aot_autograd", "aot_autograd"),
    (3, "joint", "aot_stage1_graph_capture"),
    (3, "partition", "partition_fn"),
    (3, "forward", "compile_fx_forward"),
    (4, "inner", "_compile_fx_inner"),
    (5, "lowering", "GraphLowering.run"),
    (5, "load", "GraphLowering.compile_to_module"),
    (6, "codegen", "GraphLowering.codegen"),
    (7, "scheduler", "GraphLowering._update_scheduler"),
    (5, "wrapper", "CompiledFxGraph.post_compile"),
)


def stations(calls: tuple[Call, ...]) -> tuple[tuple[int, str, str], ...]:
    return tuple((called.depth, called.stage, called.function) for called in tree(calls))


def test_a_forward_graph(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("conv_bias").dump)
    (graph,) = dump.graphs()

    calls = call_path(CompiledGraph(dump, graph.graph))

    assert stations(calls) == ONE_GRAPH
    by_stage = {call.stage: call for call in calls}
    assert [call.depth for call in tree(calls) if call.inductor_graph is None] == [0, 1, 2, 3, 3]
    assert {call.inductor_graph for call in calls} == {None, graph.graph}
    assert {call.graph for call in calls} == {graph.compile_id}
    assert "nodes" in by_stage["lowering"].received
    assert all(place_is_there(call.defined) for call in calls)
    # What Dynamo's code calls is what AOTAutograd made; in the end that calls what the generated module holds.
    assert by_stage["backend"].returned == by_stage["aot_autograd"].returned
    assert by_stage["load"].returned == by_stage["wrapper"].received
    assert by_stage["load"].returned.partition(" ")[0] in ("call", "Runner.call")
    assert by_stage["inner"].returned == f"CompiledFxGraph of {by_stage['wrapper'].returned}"
    assert "cudagraphs off: not requested" in by_stage["wrapper"].note


def place_is_there(defined: str) -> bool:
    """Is it a line of a file of this torch?"""
    file, _, line = defined.partition(":")
    text = (Path(torch.__file__).parent.parent / file).read_text(encoding="utf-8").splitlines()
    return 0 < int(line) <= len(text)


def test_a_backward_that_is_compiled_later_is_of_the_same_compile(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)
    forward, backward = (
        next(graph for graph in dump.graphs() if graph.kind == kind) for kind in ("forward", "backward")
    )

    calls = call_path(CompiledGraph(dump, forward.graph))

    assert calls == call_path(CompiledGraph(dump, backward.graph))
    assert {call.inductor_graph for call in calls} == {None, forward.graph, backward.graph}
    stages = [(called.depth, called.stage) for called in tree(calls)]
    assert {(3, "partition"), (3, "forward")} <= set(stages)
    cut = next(call for call in calls if call.stage == "partition")
    assert [part.partition(": ")[0] for part in cut.returned.split("; ")] == ["forward", "backward"]
    later = next(call for call in calls if call.stage == "backward")
    assert (later.inductor_graph, later.received.endswith("inputs")) == (backward.graph, True)
    assert later.index > cut.index
