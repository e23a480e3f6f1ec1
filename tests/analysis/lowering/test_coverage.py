"""Each node of the lowered graph is accounted for."""

from pathlib import Path

import pytest

from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.analysis.lowering.inlining import inlined
from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph, Id
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, kernel, lowered, made, node, operation
from tests.running import inspected

ACCOUNTED = set(
    "kernel extern view getitem constant size subgraph template storage inline empty placeholder output dead".split()  # noqa: SIM905
)


@pytest.mark.parametrize("sample", ["conv_bias", "conditional", "training_step", "flex_attention", "attention_block"])
def test_all_nodes_of_a_real_program(dump_of: DumpOf, sample: str) -> None:
    dump = open_dump(dump_of(sample).dump)

    for found in dump.outermost():
        covered = coverage(CompiledGraph(dump, found.graph))
        assert covered.nodes
        assert covered.missing == []
        assert covered.share == 1
        assert {row.where for row in covered.nodes} <= ACCOUNTED


def test_where_each_went(tmp_path: Path) -> None:
    view = "TensorBox(\n  ReinterpretView(\n    StorageBox("
    dump = made(
        tmp_path,
        graph(),
        node("x"),
        node("weight", "weight", op="get_attr"),
        node("mm", "aten.mm.default"),
        node("relu", "aten.relu.default"),
        node("view", "aten.view.default"),
        node("view_1", "aten.view.default"),
        node("split", "aten.split.Tensor"),
        node("topk", "aten.topk.default"),
        node("part", "operator.getitem"),
        node("unread", "aten.add.Tensor", users=()),
        node("size", "aten.sym_size.int", values=()),
        node("lost", "aten.mul.Tensor"),
        node("cat", "aten.cat.default"),
        node("output", "output", op="output", users=()),
        lowered("view", "aten.view.default", way="view"),
        lowered("view_1", "aten.view.default", result=view),
        lowered("split", "aten.split.Tensor", result=f"[{view}, {view}]"),
        lowered("topk", "aten.topk.default", result=f"({view}, TensorBox(\n  StorageBox(\n))"),
        lowered("part", "operator.getitem", way="getitem"),
        lowered("cat", "aten.cat.default", operations=("op1", "op2")),
        operation("op2", reads={"buf1": 8}, writes={"buf2": 16}, kind="nop"),
        kernel("extern_kernels.mm", "op0", kind="extern", nodes=("mm",)),
        kernel("cpp_fused_relu_0", "op1", nodes=("relu",)),
    )

    covered = coverage(CompiledGraph(dump, GRAPH))

    assert {row.node: row.where for row in covered.nodes} == {
        "x": "placeholder",
        "weight": "constant",
        "mm": "extern",
        "relu": "kernel",
        "view": "view",
        "view_1": "view",
        "split": "view",
        "topk": "missing",
        "part": "getitem",
        "unread": "dead",
        "size": "size",
        "lost": "missing",
        "cat": "storage",
        "output": "output",
    }
    assert [row.node for row in covered.missing] == ["topk", "lost"]
    assert covered.share == pytest.approx(12 / 14)


def test_a_template_holds_its_subgraph(tmp_path: Path) -> None:
    inner = f"{GRAPH}/score_mod_0"
    dump = made(
        tmp_path,
        graph(),
        graph(inner, kind="subgraph", parent=GRAPH),
        node("sub", "aten.sub.Tensor", graph=inner),
        kernel("cpp_flex_attention", "op0"),
    )

    assert [(row.node, row.where) for row in coverage(CompiledGraph(dump, GRAPH)).nodes] == [("sub", "template")]


FROM_NOTHING = """
import torch

@torch.compile
def f():
    return torch.softmax(torch.full((2, 2), 0.3), -1)

f()
"""


def test_code_that_reads_no_buffer_is_in_that_of_its_readers(tmp_path: Path) -> None:
    """torch names such a value among no operation's origins, and drops the buffer that it gave it."""
    program = tmp_path / "from_nothing.py"
    program.write_text(FROM_NOTHING, encoding="utf-8")
    done = inspected([program], tmp_path)
    assert done.returncode == 0, done.stderr
    dump = open_dump(tmp_path / "dump")
    (found,) = dump.outermost()

    where = {row.node: row.where for row in coverage(CompiledGraph(dump, found.graph)).nodes}

    assert {where["amax"], where["sub"], where["exp"]} == {"inline"}
    assert "missing" not in where.values()
    assert inlined(CompiledGraph(dump, found.graph))[Id(found.graph, "amax")].count > 0
