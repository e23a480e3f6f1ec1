"""Which rows concern what a person names."""

import pytest

from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import Remark
from inspect_compile.graph import operations_in
from inspect_compile.graph.fusion.ledger import Candidate
from tests.handmade import at, kernel, lowered, operation

PAIR = Candidate(graph="g", round=1, a="op1", b="op2_op3", kind="", verdict="refused")
KERNEL = kernel("cpp_fused_relu_0", "op9_op10", nodes=("relu",), lines=(at(12),))


@pytest.mark.parametrize("name", ["cpp_fused_relu_0", "op9_op10", "op10", "relu", "net.py:12", "/home/user/net.py:12"])
def test_a_row_concerns_all_that_it_names(name: str) -> None:
    assert matches(KERNEL, (name,))
    assert matches(KERNEL, (name, "relu"))
    assert not matches(KERNEL, (name, "gelu"))


@pytest.mark.parametrize("name", ["op1", "op9_op1", "rel", "net.py:1", "net.py"])
def test_and_nothing_that_only_looks_alike(name: str) -> None:
    assert not matches(KERNEL, (name,))


def test_arguments_and_accesses_count() -> None:
    assert matches(lowered("relu", "aten.relu.default", arguments=("%x",)), ("x",))
    assert matches(operation("op1", reads={"buf0": 4}, writes={}), ("buf0",))
    assert matches(PAIR, ("op3",))


def test_a_line_in_a_text() -> None:
    assert matches(Remark(kind="missed", code="c", message="m", where="/home/user/net.py:12"), ("net.py:12",))


def test_operations_in_a_name() -> None:
    assert operations_in("op9_op10_op11") == ["op9", "op10", "op11"]
    assert operations_in("true_graph_0_op3_true_graph_0_op4") == ["true_graph_0_op3", "true_graph_0_op4"]
    assert operations_in("relu") == []
