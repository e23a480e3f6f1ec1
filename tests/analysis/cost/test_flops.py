"""FLOPs by module and operator."""

from pathlib import Path

import pytest

from inspect_compile.analysis.cost.flop_rows import flop_rows
from inspect_compile.analysis.cost.flops import COMPUTING, graph_flops, operator
from inspect_compile.analysis.cost.kernel_work import launch_work
from inspect_compile.dump import open_dump
from inspect_compile.facts import Lowering
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, lowered, made, node
from tests.running import inspected


def test_the_convolution_of_the_seed(dump_of: DumpOf) -> None:
    """12,355,200, as torch's own counter said of the same layer on the same image."""
    dump = open_dump(dump_of("conv_bias").dump)
    found = graph_flops(CompiledGraph(dump, dump.graphs()[0].graph))

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

    found = graph_flops(CompiledGraph(dump, GRAPH))

    assert found.root.flops == found.total == 170
    assert found.root.operators == {"aten.mm": 160, "aten.relu": 4, "aten.add": 6}
    (layers,) = found.root.children
    (block,) = layers.children
    assert (layers.path, block.path, block.type, block.flops) == ("layers", "layers.0", "Block", 164)
    assert [(module.path, module.flops) for module in block.children] == [("layers.0.up", 100), ("layers.0.down", 60)]
    assert found.uncounted == {"other": {"mylib.odd": 1}}
    assert found.free == {"aten.view": 1}
    rows = flop_rows(found)
    assert [(row.depth, row.name, row.is_operator, row.flops, row.own, row.count) for row in rows] == [
        (0, "Global", False, 170, 6, 1),
        (0, "aten.mm", True, 160, 0, 0),
        (0, "aten.relu", True, 4, 0, 0),
        (0, "aten.add", True, 6, 6, 1),
        (1, "layers.0", False, 164, 4, 1),  # a container with one module in it
        (1, "aten.mm", True, 160, 0, 0),
        (1, "aten.relu", True, 4, 4, 1),
        (2, "up", False, 100, 100, 1),
        (2, "aten.mm", True, 100, 100, 1),
        (2, "down", False, 60, 60, 1),
        (2, "aten.mm", True, 60, 60, 1),
    ]
    assert [(row.module, row.type) for row in rows if not row.is_operator] == [
        ("", ""),
        ("layers.0", "Block"),
        ("layers.0.up", "Linear"),
        ("layers.0.down", "Linear"),
    ]
    assert [row.share for row in rows][:2] == [1.0, 160 / 170]


@pytest.mark.parametrize("sample", ["training_step", "conditional"])
def test_rows_of_operators_add_up_to_the_nodes(sample: str, dump_of: DumpOf) -> None:
    """Against a count over the recorded lowerings."""
    dump = open_dump(dump_of(sample).dump)
    for found in dump.outermost():
        lowerings = [row for row in dump.rows(Lowering, found.graph) if row.flops_kind in COMPUTING]
        rows = flop_rows(graph_flops(CompiledGraph(dump, found.graph)))
        operators = [row for row in rows if row.is_operator]
        assert lowerings
        for name in {operator(row.target) for row in lowerings}:
            own = [row for row in operators if row.name == name]
            nodes = [row for row in lowerings if operator(row.target) == name]
            assert sum(row.own for row in own) == sum(row.flops for row in nodes) == own[0].flops
            assert sum(row.count for row in own) == len(nodes)
        assert {row.total for row in rows} == {rows[0].flops} == {sum(row.flops for row in lowerings)}


def test_what_was_only_tried_does_not_count(tmp_path: Path) -> None:
    tried = f"{GRAPH}/autotune_0"
    dump = made(
        tmp_path,
        graph(),
        graph(tried, kind="autotune", parent=GRAPH),
        lowered("mm", "aten.mm.default", flops=100, flops_kind="matmul"),
        lowered("mm", "aten.mm.default", flops=100, flops_kind="matmul", graph=tried),
    )

    assert graph_flops(CompiledGraph(dump, GRAPH)).total == 100


def test_operators_without_their_overload() -> None:
    assert operator("aten.convolution.default") == "aten.convolution"
    assert operator("operator.getitem") == "operator.getitem"
    assert operator("cond") == "cond"


def test_operators_for_lists_count_as_those_for_one_tensor(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "lists.py").write_text(LISTS, encoding="utf-8")
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    assert inspected([tmp_path / "lists.py"], tmp_path, environment=environment).returncode == 0
    dump = open_dump(tmp_path / "dump")
    (of_lists,) = dump.outermost()

    found = graph_flops(CompiledGraph(dump, of_lists.graph))

    elements = 10 * 10 + 7
    assert {name.removeprefix("aten._foreach_"): flops for name, flops in found.root.operators.items()} == {
        "mul": elements,
        "add": 2 * elements,
        "addcdiv": 3 * elements,
        "sqrt": elements,
        "norm": 2 * elements,
    }
    assert found.uncounted == {}
    assert found.total == sum(
        work.heavy + work.scalar for work in launch_work(CompiledGraph(dump, of_lists.graph)).values()
    )


LISTS = """
import torch

@torch.compile
def of_lists(xs, ys):
    doubled = torch._foreach_mul(xs, 2.0)
    added = torch._foreach_add(doubled, ys, alpha=3)
    divided = torch._foreach_addcdiv(added, xs, ys, value=0.5)
    torch._foreach_sqrt_(divided)
    return torch._foreach_norm(xs), divided

of_lists([torch.rand(10, 10), torch.rand(7)], [torch.rand(10, 10), torch.rand(7)])
"""
