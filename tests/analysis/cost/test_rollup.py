"""What a graph computes, rolled up; and what its kernels do."""

from pathlib import Path
from typing import Any

from inspect_compile.analysis.cost.kernel_work import launch_work
from inspect_compile.analysis.cost.launch_origins import BY
from inspect_compile.analysis.cost.rollup import Costs
from inspect_compile.facts import Fact, JointNode, KernelBody, OperationCount
from inspect_compile.graph import CompiledGraph
from tests.handmade import GRAPH, at, graph, kernel, lowered, made, node, operation


def _counted(name: str, target: str, flops: int, kind: str, **more: Any) -> list[Fact]:
    return [node(name, target, **more), lowered(name, target, flops=flops, flops_kind=kind)]


def test_rolled_up_by_each_of_them(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        node("mm", "aten.mm.default", module="up", module_type="Linear", where=at(3), inputs=("x", "w")),
        node("exp", "aten.exp.default", module="up.act", where=at(4)),
        node("add", "aten.add.Tensor", where=at(4)),
        lowered("mm", "aten.mm.default", flops=600, flops_kind="matmul", flops_text="200*s0"),
        lowered("exp", "aten.exp.default", flops=30, flops_kind="pointwise", special=30, flops_text="10*s0"),
        lowered("add", "aten.add.Tensor", flops=10, flops_kind="pointwise"),
        lowered("view", "aten.view.default", flops_kind="none"),
    )
    costs = Costs(CompiledGraph(dump, GRAPH))
    found = {
        by: {row.name: (row.flops, row.heavy, row.transcendental, row.expression) for row in costs.by(by)} for by in BY
    }
    assert found["op"] == {
        "aten.mm": (600, 600, 0, "200*s0"),
        "aten.exp": (30, 0, 30, "10*s0"),
        "aten.add": (10, 0, 0, ""),
    }
    assert found["module"] == {
        "": (640, 600, 30, "10 + 210*s0"),
        "up": (630, 600, 30, "210*s0"),
        "up.act": (30, 0, 30, "10*s0"),
    }
    assert [row[:3] for row in found["line"].values()] == [(600, 600, 0), (40, 0, 30)]
    assert sum(row.share for row in costs.by("op")) == 1


def test_a_kernel_counts_what_it_does(tmp_path: Path) -> None:
    """Not what its nodes would come to one by one; a loop that was in an earlier kernel is told as computed again."""

    def body(name: str, own: str, *loops: int) -> KernelBody:
        return KernelBody(
            graph=GRAPH,
            kernel=name,
            operations=(own,),
            nodes=("exp", "sum_1"),
            loops=((loops[0],), loops[1:]),
            operators=("exp", "reduction.sum", "reduction.welford_reduce"),
            computed=(OperationCount(0, 0, 0, 1), OperationCount(1, 1, 0, 1)),
            domains=("8*s0",),
            elements=(24,),
            dtype="float32",
        )

    dump = made(
        tmp_path,
        graph(),
        *_counted("exp", "aten.exp.default", 24, "pointwise"),
        *_counted("sum_1", "aten.sum.default", 24, "reduction"),
        operation("op0", reads={}, writes={"buf0": 4}, nodes=("exp", "sum_1")),
        operation("op1", reads={}, writes={"buf1": 4}, nodes=("exp", "sum_1")),
        kernel("first", "op0", nodes=("exp", "sum_1"), computes=("exp", "sum_1"), launches=(10,)),
        kernel("second", "op1", nodes=("exp", "sum_1"), computes=("exp", "sum_1"), launches=(11,)),
        body("first", "op0", 0, 1),
        body("second", "op1", 0, 2),
    )
    work = launch_work(CompiledGraph(dump, GRAPH))[GRAPH, "first", 10]
    assert (work.heavy, work.scalar, work.transcendental, work.dtype) == (0, 48, 24, "float32")
    assert (work.expression, work.is_recorded) == ("16*s0", True)
    assert list(launch_work(CompiledGraph(dump, GRAPH))) == [(GRAPH, "first", 10), (GRAPH, "second", 11)]
    again = [(row.name, row.line, row.flops, row.recomputed) for row in Costs(CompiledGraph(dump, GRAPH)).by("kernel")]
    assert again == [("first", 10, 48, 0), ("second", 11, 48, 24)]


def test_the_forward_in_the_backward_is_computed_again(tmp_path: Path) -> None:
    joint = JointNode(graph="0/0", stage="joint", index=0, name="mm", op="call_function", target="aten.mm.default")
    dump = made(
        tmp_path,
        graph(kind="backward"),
        joint,
        *_counted("mm", "aten.mm.default", 100, "matmul"),
        *_counted("mm_1", "aten.mm.default", 80, "matmul"),
    )
    (row,) = Costs(CompiledGraph(dump, GRAPH)).by("op")
    assert (row.flops, row.recomputed, row.nodes) == (180, 100, ("mm", "mm_1"))
