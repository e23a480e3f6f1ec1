"""Bytes of launches: each element once, and as the loops reach them; what fusion saved and what its misses cost."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspect_compile.analysis.fusion.graph_bytes import graph_bytes, sums_by
from inspect_compile.dump import open_dump
from inspect_compile.facts import Access, Operation
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.handmade import GRAPH, attempt, graph, kernel, line, made, node, operation


def loop(name: str, reads: tuple[Access, ...], writes: tuple[Access, ...], points: int, **more: Any) -> list[Operation]:
    """One scheduler node, before fusion and after it, with so many points."""
    found = replace(operation(name, reads={}, writes={}), reads=reads, writes=writes, numel=str(points), **more)
    found = replace(found, buffers=tuple(access.buffer for access in writes))
    return [replace(found, phase="pre_fusion"), found]


def access(buffer: str, index: str, ranges: tuple[str, ...], size: int, whole: int) -> Access:
    return Access(buffer, index, ranges, "memory", size, item=4, whole=whole)


def test_a_row_that_is_read_again_counts_once_and_each_time(tmp_path: Path) -> None:
    """x[8, 32] + b[32], half of a wider y, and rows of w that an index chooses."""
    both = ("c0=8", "c1=32")
    reads = (
        access("b", "c1", both, 128, 128),
        access("w", "32*tmp0 + c1", both, 32000, 32000),
        access("x", "32*c0 + c1", both, 1024, 1024),
        access("y", "64*c0 + c1", both, 1024, 2048),
    )
    facts = loop("op0", reads, (access("buf0", "32*c0 + c1", both, 1024, 1024),), 256)
    dump = made(
        tmp_path,
        graph(),
        *facts,
        kernel("cpp_fused_add_0", "op0", launches=(101,)),
        line(1, "launch", kernel="cpp_fused_add_0", arguments=("x", "buf0")),
    )

    (found,) = CompiledGraph(dump, GRAPH).traffic.all()

    buffers = {one.buffer: one for one in found.buffers}
    assert (buffers["b"].read, buffers["b"].read_as_generated) == (128, 1024)
    assert (buffers["y"].read, buffers["y"].read_as_generated) == (1024, 1024)
    assert (buffers["w"].read, buffers["w"].unsure) == (1024, 1024 - 128)
    assert (found.read, found.written, found.generated) == (3 * 1024 + 128, 1024, 5 * 1024)
    assert found.sure == found.least - 896


def test_shares_and_sums(tmp_path: Path) -> None:
    """x[256] → buf0, and rows of w that an index chooses → buf1: 2 kB for certain, and at most 2 kB."""
    one = ("c0=256",)
    first = loop("op0", (access("x", "c0", one, 1024, 1024),), (access("buf0", "c0", one, 1024, 1024),), 256)
    second = loop("op1", (access("w", "tmp0", one, 32000, 32000),), (access("buf1", "c0", one, 1024, 1024),), 256)
    dump = made(
        tmp_path,
        graph(),
        *first,
        *second,
        *(kernel(f"cpp_fused_{index}", f"op{index}", launches=(101 + index,)) for index in (0, 1)),
        line(1, "launch", kernel="cpp_fused_0", arguments=("x", "buf0")),
        line(2, "launch", kernel="cpp_fused_1", arguments=("w", "buf1")),
    )

    rows = CompiledGraph(dump, GRAPH).traffic.all()
    assert [(row.read, row.written, row.share) for row in rows] == [(1024, 1024, 0.5)] * 2
    assert [row.is_read_unsure for row in rows] == [False, True]
    sums = {row.what: row for row in sums_by(CompiledGraph(dump, GRAPH), "kernel")}
    assert {what: row.share for what, row in sums.items()} == {("cpp_fused_0",): 0.5, ("cpp_fused_1",): 0.5}
    assert [sums[f"cpp_fused_{index}",].is_read_unsure for index in (0, 1)] == [False, True]
    (together,) = sums_by(CompiledGraph(dump, GRAPH), "module")
    assert (together.launches, together.read, together.written, together.share) == (2, 2048, 2048, 1.0)
    assert (together.is_read_unsure, together.is_written_unsure, together.is_symbolic) == (True, False, False)


def test_what_a_refused_pair_still_costs(tmp_path: Path) -> None:
    """buf0 goes through memory between two kernels: once written and once read, for nothing."""
    one = ("c0=256",)

    def flat(buffer: str) -> Access:
        return access(buffer, "c0", one, 1024, 1024)

    dump = made(
        tmp_path,
        graph(),
        node("x"),
        *loop("op0", (flat("x"),), (flat("buf0"),), 256, users=("op1",)),
        *loop("op1", (flat("buf0"),), (flat("buf1"),), 256, order=1, users=("OUTPUT",)),
        attempt("op0", "op1", "refused", reason="numel mismatch"),
        kernel("cpp_fused_0", "op0", launches=(102,)),
        kernel("cpp_fused_1", "op1", launches=(103,)),
        line(0, "allocate", buffer="buf0"),
        line(1, "allocate", buffer="buf1"),
        line(2, "launch", kernel="cpp_fused_0", arguments=("x", "buf0")),
        line(3, "launch", kernel="cpp_fused_1", arguments=("buf0", "buf1")),
    )

    found = graph_bytes(CompiledGraph(dump, GRAPH))

    assert (found.moved, found.unfused, found.missed, found.at_calls) == (4096, 4096, 2048, 0)


def test_the_convolution_and_its_copies(dump_of: DumpOf) -> None:
    """Image, weight and result are each copied into another layout, which moves them twice."""
    dump = open_dump(dump_of("conv_bias").dump)
    image, weight, bias, result = 10 * 90 * 80 * 4, 10 * 10 * 9 * 4, 10 * 4, 10 * 88 * 78 * 4

    found = graph_bytes(CompiledGraph(dump, dump.graphs()[0].graph))

    assert found.moved == 2 * (image + weight) + 2 * result + image + weight + bias + result
    assert found.least == (image + weight + bias) + result + image


def test_what_never_reaches_memory_is_not_moved(tmp_path: Path) -> None:
    """buf0 stays inside of the first kernel; of the tuple buf2 its part buf3 is written."""
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

    found = CompiledGraph(dump, GRAPH).traffic

    assert [(row.read, row.written) for row in found.all()] == [(16, 16), (16, 24)]
    assert (found.moved, found.least, found.unknown) == (72, 16 + 16, 0)


def test_a_buffer_that_two_operations_of_a_kernel_read_counts_once(tmp_path: Path) -> None:
    """The scheduler's numbers of a fused node have one access for each index, of which each counts all it reaches."""
    both = ("c0=8", "c1=32")
    reads = (access("x", "32*c0 + c1", both, 1024, 1024), access("x", "c0 + 8*c1", both, 1024, 1024))
    facts = loop("op0", reads, (access("buf0", "32*c0 + c1", both, 1024, 1024),), 256)
    dump = made(tmp_path, graph(), *facts, kernel("triton_poi_fused_0", "op0", kind="triton", launches=(101,)))

    (found,) = CompiledGraph(dump, GRAPH).traffic.all()

    assert (found.read, found.read_as_generated, found.written) == (1024, 2048, 1024)


def test_what_a_launch_moves_may_not_be_known(tmp_path: Path) -> None:
    """Nothing was recorded of the groups of a kernel; and torch had no hint of the size of what another one reads."""
    dump = made(
        tmp_path,
        graph(),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}),
        replace(
            operation("op1", reads={}, writes={"buf1": 16}, kind="extern"),
            reads=(Access("buf0", kind="star"),),
            order=1,
        ),
        kernel("cpp_fused_0", "op0", launches=(101,)),
        kernel("aten.nonzero", "op1", launches=(102,), kind="extern"),
        kernel("cpp_fused_1", "op7", launches=(103,)),
        kernel("mine_0", launches=(104,), kind="user_triton"),
    )

    found = CompiledGraph(dump, GRAPH).traffic

    assert [row.is_known for row in found.all()] == [True, False, False, False]
    assert (found.unknown, found.moved) == (3, 32 + 16)
    assert graph_bytes(CompiledGraph(dump, GRAPH)).unknown == 3


def test_a_result_in_place_is_as_large_as_what_it_goes_to(tmp_path: Path) -> None:
    """torch tells of the result of a kernel that changes its argument that it has one element."""
    reads = tuple(Access(buffer, kind="star", bytes=1024) for buffer in ("out", "x"))
    mine = replace(
        operation("op0", reads={}, writes={}, kind="extern", ir_type="UserDefinedTritonKernel"),
        reads=reads,
        writes=(Access("buf0", kind="star", bytes=4, into="out"),),
        buffers=("buf0",),
    )
    after = replace(
        operation("op1", reads={}, writes={"buf1": 1024}, kind="extern"), reads=(Access("buf0", kind="star", bytes=4),)
    )
    dump = made(
        tmp_path,
        graph(),
        mine,
        after,
        kernel("mine_0", "op0", launches=(101,), kind="user_triton"),
        kernel("extern_kernels.mm", "op1", launches=(102,), kind="extern"),
    )

    first, second = CompiledGraph(dump, GRAPH).traffic.all()

    assert (first.read, first.written, first.unsure) == (2048, 1024, 3072)  # how much of it, only the kernel knows
    assert (second.read, second.written, second.unsure) == (1024, 1024, 0)


def test_launches_are_counted_once_for_all_views(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("training_step").dump)
    names = [found.graph for found in dump.graphs()]

    assert [CompiledGraph(dump, name).traffic for name in names] == [
        CompiledGraph(dump, name).traffic for name in names
    ]
    assert CompiledGraph(open_dump(dump.root), names[0]).traffic is not CompiledGraph(dump, names[0]).traffic


def test_an_optimizer_writes_its_parameters_and_their_averages(dump_of: DumpOf) -> None:
    """AdamW reads the gradient of each number too; the count of steps is one more number of each of six parameters."""
    dump = open_dump(dump_of("training_step").dump)
    numbers = (16 * 64 + 64) + (64 + 64) + (64 + 1)
    parameters, steps = 4 * numbers, 4 * 6
    update = next(graph.graph for graph in dump.graphs() if graph.kind == "inference")

    calls = CompiledGraph(dump, update).traffic.all()

    assert sum(call.written for call in calls) == 3 * parameters + steps
    assert 4 * parameters + steps <= sum(call.read for call in calls) < 4 * parameters + 2 * steps
