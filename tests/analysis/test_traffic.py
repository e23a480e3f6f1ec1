"""Bytes that calls read and write."""

from pathlib import Path

from inspect_compile.analysis.launches import launches
from inspect_compile.analysis.traffic import Traffic, traffic
from inspect_compile.dump import open_dump
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, kernel, line, made, node, operation


def test_what_never_reaches_memory_is_not_moved(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        node("x"),
        node("relu", "aten.relu.default"),
        node("output", "output", op="output", inputs=("relu", "x"), users=()),
        operation("op0_op1", reads={"x": 16}, writes={"buf0": 16, "buf1": 16}),
        operation("op2", reads={"buf1": 16}, writes={"buf2": 0}, kind="extern"),
        operation("op3", reads={"buf2": 0}, writes={"buf3": 24}, kind="extern", ir_type="MultiOutput"),
        kernel("cpp_fused_0", "op0_op1", launches=(101,)),
        kernel("aten.sort", "op2", launches=(102,), kind="extern"),
        line(0, "allocate", buffer="buf1"),
        line(1, "launch", kernel="cpp_fused_0", arguments=("x", "buf1")),
        line(2, "extern", kernel="aten.sort", buffer="buf2"),
        line(3, "multi_output", buffer="buf3"),
    )

    found = traffic(dump, GRAPH)

    assert [found.of(launch) for launch in launches(dump, GRAPH)] == [Traffic(16, 16), Traffic(16, 24)]
    assert found.moved == 72
    assert found.least == 16 + 16


def test_the_convolution_and_its_copies(dump_of: DumpOf) -> None:
    """Image, weight and result are each copied into another layout, which moves them twice."""
    dump = open_dump(dump_of("conv_bias").dump)
    image, weight, bias, result = 10 * 90 * 80 * 4, 10 * 10 * 9 * 4, 10 * 4, 10 * 88 * 78 * 4

    found = traffic(dump, dump.graphs()[0].graph)

    copies = 2 * (image + weight) + 2 * result
    assert found.moved == copies + image + weight + bias + result
    assert found.least == (image + weight + bias) + result + image


def test_an_optimizer_writes_its_parameters_and_their_averages(dump_of: DumpOf) -> None:
    """AdamW reads the gradient of each number too; the count of steps is one more number of each of six parameters."""
    dump = open_dump(dump_of("training_step").dump)
    numbers = (16 * 64 + 64) + (64 + 64) + (64 + 1)
    parameters, steps = 4 * numbers, 4 * 6
    update = next(graph.graph for graph in dump.graphs() if graph.kind == "inference")

    found = traffic(dump, update)

    calls = [found.of(launch) for launch in launches(dump, update)]
    assert sum(call.written for call in calls) == 3 * parameters + steps
    assert 4 * parameters + steps <= sum(call.read for call in calls) < 4 * parameters + 2 * steps
