"""The lowering step by step, each argument as it was at that time."""

from pathlib import Path

from inspect_compile.analysis.lowering.steps import lowering_steps
from inspect_compile.dump import open_dump
from inspect_compile.facts import Lowering, Realize
from inspect_compile.graph import CompiledGraph
from tests.analysis.lowering.test_ir_text import VIRTUAL
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, lowered, made, node


def test_a_value_is_virtual_until_someone_asks(tmp_path: Path) -> None:
    """`mul` reads `add` while it is a Pointwise and asks for it, `mm` reads the buffer that it has become."""
    real = "ComputedBuffer(name='buf1', layout=FlexibleLayout('cpu', torch.float32, size=[4, 8], stride=[8, 1]), data=…"
    dump = made(
        tmp_path,
        graph(),
        *(node(name, f"aten.{name}.default") for name in ("add", "mul", "alias", "mm")),
        lowered("add", "aten.add.default", index=0, result=VIRTUAL),
        Realize(
            graph=GRAPH,
            index=1,
            node="mul",
            buffer="buf1",
            realized=True,
            reason="",
            caller="",
            origin="add",
            text=real,
        ),
        lowered("mul", "aten.mul.default", index=1, arguments=("%add", "2"), result="None"),
        lowered("alias", "aten.alias.default", index=2, arguments=("%add",), same_as="add"),
        lowered("mm", "aten.mm.default", index=3, arguments=("[%alias, %add]",)),
    )

    add, mul, alias, mm = lowering_steps(CompiledGraph(dump, GRAPH))

    assert add.arguments == []
    assert mul.arguments == [("add", add.result)]
    assert "Pointwise" in add.result
    assert [ask.buffer for ask in mul.realizes] == ["buf1"]
    now = "TensorBox(StorageBox(ComputedBuffer buf1 f32[4, 8]))"
    assert alias.arguments == [("add", now)]
    assert alias.result == now
    assert mm.arguments == [("alias", now), ("add", now)]


def test_nested_graphs_have_names_of_their_own(dump_of: DumpOf) -> None:
    """Both branches and the graph around them have an `arg0_1`; each reads its own."""
    dump = open_dump(dump_of("conditional").dump)
    outer = dump.graphs()[0].graph

    steps = {
        (step.row.graph.removeprefix(outer), step.row.node): step for step in lowering_steps(CompiledGraph(dump, outer))
    }

    assert steps["/true_graph_0", "tanh"].arguments == [
        ("arg0_1", "TensorBox(StorageBox(InputBuffer true_graph_0_arg0_1 f32[8, 8]))")
    ]
    assert steps["/false_graph_0", "exp"].arguments == [
        ("arg0_1", "TensorBox(StorageBox(InputBuffer false_graph_0_arg0_1 f32[8, 8]))")
    ]
    assert steps["", "sum_1"].arguments == [("arg0_1", "TensorBox(StorageBox(InputBuffer arg0_1 f32[8, 8]))")]


def test_one_step_for_each_lowering(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("training_step").dump)

    for found in dump.graphs():
        steps = list(lowering_steps(CompiledGraph(dump, found.graph)))
        assert [step.row for step in steps] == dump.rows(Lowering, found.graph)
        assert sum(len(step.realizes) for step in steps) == len(dump.rows(Realize, found.graph))
        assert all(step.node is not None and step.node.name == step.row.node for step in steps)
