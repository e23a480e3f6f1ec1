"""Memory folded by source line: nothing is lost, and layers that repeat are one lane."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.memory.holders import holders
from inspect_compile.analysis.memory.lanes import Lane, lanes, step_memory
from inspect_compile.analysis.memory.saved import activations
from inspect_compile.diagrams.memory import folded_chart
from inspect_compile.dump import Dump
from inspect_compile.facts import AotInput, AotMetadata, Fact, Frame, Graph, Location, MemoryPlan, Node, Tensor
from inspect_compile.graph import CompiledGraph, Graphs
from tests.conftest import DumpOf
from tests.diagrams.pictures import FOLDERS, recorded
from tests.handmade import GRAPH, graph, line, made, node

LAYERS = 12


def lanes_of(graph: CompiledGraph) -> list[Lane]:
    return lanes(graph, graph.memory, holders(graph, graph.memory))


@pytest.mark.parametrize("name", FOLDERS)
def test_lanes_add_up_to_what_is_held_after_each_step(name: str) -> None:
    graphs = [one for one in Graphs(recorded(name)) if one.memory.steps]
    assert graphs
    for one in graphs:
        found = lanes_of(one)
        given = sum(piece.bytes for lane in found for piece in lane.pieces if piece.origin == "given")
        for position, step in enumerate(one.memory.steps):
            assert sum(lane.live[position] for lane in found) - given == step.live, (one.name, step)


def test_what_is_saved_is_what_the_partitioner_saved(dump_of: DumpOf) -> None:
    forward, backward = (
        next(one for one in Graphs(Dump(dump_of("training_step").dump)) if one.fact.kind == kind)
        for kind in ("forward", "backward")
    )
    needed = activations(forward)
    assert needed is not None

    for one in (forward, backward):
        saved = [lane for lane in lanes_of(one) if lane.is_saved]
        assert sum(piece.bytes for lane in saved for piece in lane.pieces) == needed.saved > 0
        assert step_memory(one).saved == needed.saved
    assert [lane.is_saved for lane in lanes_of(forward)] == sorted(
        (lane.is_saved for lane in lanes_of(forward)), reverse=True
    )


def test_layers_that_repeat_are_one_lane(tmp_path: Path) -> None:
    """Twelve layers that make two buffers on one line each, and free one of them."""
    where = Location("net.py", 5, "forward", "x = layer(x)")
    facts = []
    for number in range(LAYERS):
        kept, gone = f"buf{2 * number}", f"buf{2 * number + 1}"
        facts += [
            line(4 * number, "allocate", buffer=kept, bytes=100),
            line(4 * number + 1, "allocate", buffer=gone, bytes=10),
            line(4 * number + 2, "free", buffer=gone),
        ]
    nodes = [node(f"relu_{at}", "aten.relu.default", index=at, module=f"h.{at // 2}.act") for at in range(2 * LAYERS)]
    one = CompiledGraph(made(tmp_path, graph(), *nodes, *facts, MemoryPlan(graph=GRAPH)), GRAPH)
    held = [replace(row, node=f"relu_{at}", where=where) for at, row in enumerate(holders(one, one.memory))]

    (lane,) = lanes(one, one.memory, held)

    assert lane.nodes == ("relu",)
    assert lane.layers == tuple(f"h.{number}" for number in range(LAYERS))

    assert (len(lane.pieces), lane.most) == (2 * LAYERS, 100 * LAYERS + 10)
    drawn = folded_chart(one.memory, [lane], step_memory(one), "net")
    assert drawn.count("<polygon") == 2, "the curve and the lane"
    assert "net.py:5 · h.0 … h.11 ×12 · 24 pieces" in drawn
    assert "saved" not in re.sub(r"<title>.*?</title>", "", drawn), "no key of what is not drawn"


def test_parameters_are_the_inputs_that_keep_their_address(tmp_path: Path) -> None:
    sizes = {"primals_1": 64, "primals_2": 256}
    inputs = [
        node(name, name, op="placeholder", values=(Tensor(dtype="float32", size=(str(size // 4),), bytes=size),))
        for name, size in sizes.items()
    ]
    aot = AotMetadata(graph="0/0", inputs=(AotInput(), AotInput(is_static=True)))
    dump = made(tmp_path, graph(), *inputs, MemoryPlan(graph=GRAPH, outputs=()), aot)

    assert step_memory(CompiledGraph(dump, GRAPH)).static == 256
    without = made(tmp_path / "without", graph(), *inputs)
    assert step_memory(CompiledGraph(without, GRAPH)) == (None, None, None)


def test_the_state_of_an_optimizer_is_what_its_compiled_step_changes(tmp_path: Path) -> None:
    """Of a step that was compiled again, the last; the parameters that it changes are autograd's."""
    facts: list[Fact] = [graph(), MemoryPlan(graph=GRAPH, outputs=())]
    for number, changed in enumerate((4_000, 64)):
        name, compile_id = f"model__{number + 1}_inference_0.0", f"3/{number}"
        facts += [
            Frame(graph=compile_id, function="Adam.step", file="/lib/torch/optim/adam.py", line=1, status="compiled"),
            Graph(graph=name, kind="inference", compile_id=compile_id),
            AotMetadata(
                graph=compile_id,
                inputs=(
                    AotInput(changes=("data",), requires_grad=True),
                    AotInput(changes=("data",)),
                    AotInput(),
                ),
            ),
        ]
        facts += [
            Node(
                graph=name,
                stage="post_grad",
                index=index,
                name=f"arg{index}_1",
                op="placeholder",
                target=f"arg{index}_1",
                values=(Tensor(dtype="float32", size=(size // 4,), bytes=size),),
            )
            for index, size in enumerate((1_000_000, changed, 256))
        ]

    assert step_memory(CompiledGraph(made(tmp_path, *facts), GRAPH)).optimizer == 64
