"""Which groups each call of a kernel runs."""

from pathlib import Path

from inspect_compile.analysis.kernels.kernel_map import kernel_map
from inspect_compile.dump import open_dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.handmade import GRAPH, at, graph, kernel, line, made, node, operation


def test_calls_of_one_kernel_are_told_apart_by_their_buffers(tmp_path: Path) -> None:
    """op1 writes nothing that reaches memory: it goes with the group before it. The second call reads buf0."""
    dump = made(
        tmp_path,
        graph(),
        node("relu", "aten.relu.default", where=at(3, "relu(x)")),
        node("relu_1", "aten.relu.default", where=at(5, "relu(y)")),
        operation("op0", reads={"x": 4}, writes={"buf0": 4}, nodes=("relu",)),
        operation("op1", reads={"x": 4}, writes={"buf1": 4}, nodes=("relu",)),
        operation("op2", reads={"buf0": 4}, writes={"buf2": 4}, nodes=("relu_1",)),
        kernel(
            "cpp_fused_relu_0", "op0", "op1", "op2", launches=(101, 102), nodes=("relu", "relu_1"), lines=(at(3), at(5))
        ),
        line(1, "launch", kernel="cpp_fused_relu_0", arguments=("x", "buf0")),
        line(2, "launch", kernel="cpp_fused_relu_0", arguments=("buf0", "buf2")),
    )

    found = CompiledGraph(dump, GRAPH).launches

    assert [(launch.line, launch.groups, launch.nodes) for launch in found] == [
        (101, ("op0", "op1"), ("relu",)),
        (102, ("op2",), ("relu_1",)),
    ]
    calls = kernel_map(CompiledGraph(dump, GRAPH))["kernels"]["cpp_fused_relu_0"]["calls"]
    assert [(call["line"], call["lines"][0]["line"]) for call in calls] == [(101, 3), (102, 5)]


def test_every_group_of_a_real_program_is_run_once(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("two_models").dump)

    for name in (found.graph for found in dump.graphs()):
        run = [group for launch in CompiledGraph(dump, name).launches for group in launch.groups]
        assert sorted(run) == sorted(group for row in dump.rows(Kernel, name) for group in row.groups)
        assert len(run) == len(set(run)) > 0


def test_a_kernel_whose_call_was_not_seen_comes_last(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), kernel("a", "op0"), kernel("b", "op1", launches=(7,)))

    assert [(launch.kernel.name, launch.line) for launch in CompiledGraph(dump, GRAPH).launches] == [
        ("b", 7),
        ("a", None),
    ]
