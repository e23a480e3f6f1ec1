"""FLOPs by module and operator."""

from pathlib import Path

from inspect_compile.analysis.cost.flops import graph_flops, operator
from inspect_compile.dump import open_dump
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, lowered, made, node


def test_the_convolution_of_the_seed(dump_of: DumpOf) -> None:
    """12,355,200, as torch's own counter said of the same layer on the same image."""
    dump = open_dump(dump_of("conv_bias").dump)
    found = graph_flops(dump, dump.graphs()[0].graph)

    assert found.total == 12_355_200
    assert found.kinds == {"convolution": 12_355_200}
    assert found.free == {"aten.unsqueeze": 1, "aten.squeeze": 1}
    assert [(module.name, module.type, module.flops) for module in found.root.children] == [
        ("conv", "Conv2d", 12_355_200)
    ]


def test_modules_hold_what_ran_in_and_below_them(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        node("mm", "aten.mm.default", module="layers.0.up", module_type="Linear"),
        node("mm_1", "aten.mm.default", module="layers.0.down", module_type="Linear"),
        node("relu", "aten.relu.default", module="layers.0", module_type="Block"),
        node("add", "aten.add.Tensor"),
        lowered("mm", "aten.mm.default", flops=100, flops_kind="matmul"),
        lowered("mm_1", "aten.mm.default", flops=60, flops_kind="matmul"),
        lowered("relu", "aten.relu.default", flops=4, flops_kind="pointwise"),
        lowered("add", "aten.add.Tensor", flops=6, flops_kind="pointwise"),
        lowered("view", "aten.view.default", flops_kind="none"),
        lowered("odd", "mylib.odd.default", flops_kind="other"),
    )

    found = graph_flops(dump, GRAPH)

    assert found.root.flops == found.total == 170
    assert found.root.operators == {"aten.mm": 160, "aten.relu": 4, "aten.add": 6}
    (layers,) = found.root.children
    (block,) = layers.children
    assert (layers.path, block.path, block.type, block.flops) == ("layers", "layers.0", "Block", 164)
    assert [(module.path, module.flops) for module in block.children] == [("layers.0.up", 100), ("layers.0.down", 60)]
    assert found.uncounted == {"other": {"mylib.odd": 1}}
    assert found.free == {"aten.view": 1}
    assert sum(row.share for row in found.operators) == 1


def test_what_was_only_tried_does_not_count(tmp_path: Path) -> None:
    tried = f"{GRAPH}/autotune_0"
    dump = made(
        tmp_path,
        graph(),
        graph(tried, kind="autotune", parent=GRAPH),
        lowered("mm", "aten.mm.default", flops=100, flops_kind="matmul"),
        lowered("mm", "aten.mm.default", flops=100, flops_kind="matmul", graph=tried),
    )

    assert graph_flops(dump, GRAPH).total == 100


def test_operators_without_their_overload() -> None:
    assert operator("aten.convolution.default") == "aten.convolution"
    assert operator("operator.getitem") == "operator.getitem"
    assert operator("cond") == "cond"
