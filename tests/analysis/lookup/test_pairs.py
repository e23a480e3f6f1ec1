"""Which operations a person names, and whether a compile has two of them in one scheduler node."""

from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.lookup.pairs import Pair, find_members, find_pair, is_one_before, standing
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.lookup_text import only
from tests.handmade import GRAPH, graph, kernel, lowered, made, operation


def _before(name: str, buffer: str, *nodes: str, **more: Any) -> Operation:
    return operation(name, reads={}, writes={buffer: 8}, phase="pre_fusion", nodes=nodes, **more)


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    return made(
        tmp_path,
        graph(),
        lowered("sum_1", "aten.sum", operations=("op2", "op3")),
        _before("op0", "buf0", "sin", "add"),
        _before("op1", "buf1", "add", "exp"),
        _before("op2", "buf2", "sum_1"),
        _before("op3", "buf3", "sum_1"),
        _before("op4_op5", "buf4", "foreach", members=("op4", "op5"), kind="foreach"),
        _before(
            "true_graph_0_op0", "true_graph_0_buf0", "cos", graph=f"{GRAPH}/true_graph_0", members=("true_graph_0_op0",)
        ),
        operation("op0_op1", reads={}, writes={"buf0": 8, "buf1": 8}),
        operation("op2", reads={}, writes={"buf2": 8}),
        kernel("cpp_fused_0", "op0_op1", "op2"),
        kernel("cpp_fused_1", "op3"),
    )


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("op0", ("op0",)),
        ("buf1", ("op1",)),
        ("op0_op1", ("op0", "op1")),
        ("cpp_fused_1", ("op3",)),
        ("sin", ("op0",)),
        ("%exp", ("op1",)),
        ("sum_1", ("op2", "op3")),
        ("true_graph_0_op0", ("true_graph_0_op0",)),
        ("true_graph_0/cos", ("true_graph_0_op0",)),
    ],
)
def test_a_name_means_operations(dump: Dump, name: str, operations: tuple[str, ...]) -> None:
    assert only(find_members(CompiledGraph(dump, GRAPH), name))[1] == operations


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("op9", "op2", f"op9: no operation matches in {GRAPH}; near: op"),
        ("sin", "buf0", "sin and buf0: both are computed by op0; name two operations: show"),
        (
            "op0",
            "cos",
            f"op0 and cos: only operations of one graph can be fused; op0 in {GRAPH}, cos in {GRAPH}/true_graph_0",
        ),
    ],
)
def test_what_can_not_be_meant_is_told(dump: Dump, a: str, b: str, told: str) -> None:
    with pytest.raises(CommandError) as raised:
        only(find_pair(CompiledGraph(dump, GRAPH), a, b))

    assert told in str(raised.value)


def test_where_two_stand(dump: Dump) -> None:
    fused = standing(dump, only(find_pair(CompiledGraph(dump, GRAPH), "op0", "op1")))
    assert (fused.is_fused, fused.a, fused.kernels_a) == (True, ("op0_op1",), ("cpp_fused_0",))
    beside = standing(dump, only(find_pair(CompiledGraph(dump, GRAPH), "op0", "op2")))
    assert (beside.is_fused, beside.is_one_kernel) == (False, True)
    assert is_one_before(dump, Pair(GRAPH, ("op4",), ("op5",)))
    assert not is_one_before(dump, Pair(GRAPH, ("op0",), ("op1",)))
