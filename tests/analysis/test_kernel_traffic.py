"""Bytes of launches: each element once, and as the loops reach them; what fusion saved and what its misses cost."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspect_compile.analysis.graph_bytes import graph_bytes
from inspect_compile.analysis.kernel_traffic import LaunchTraffic
from inspect_compile.dump import open_dump
from inspect_compile.facts import Access, Operation
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

    (found,) = LaunchTraffic(dump, GRAPH).all()

    buffers = {one.buffer: one for one in found.buffers}
    assert (buffers["b"].read, buffers["b"].read_as_generated) == (128, 1024)
    assert (buffers["y"].read, buffers["y"].read_as_generated) == (1024, 1024)
    assert (buffers["w"].read, buffers["w"].unsure) == (1024, 1024 - 128)
    assert (found.read, found.written, found.generated) == (3 * 1024 + 128, 1024, 5 * 1024)
    assert found.sure == found.least - 896


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

    found = graph_bytes(dump, GRAPH)

    assert (found.moved, found.unfused, found.missed, found.at_calls) == (4096, 4096, 2048, 0)


def test_the_convolution_and_its_copies(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("conv_bias").dump)
    image, weight, bias, result = 10 * 90 * 80 * 4, 10 * 10 * 9 * 4, 10 * 4, 10 * 88 * 78 * 4

    found = graph_bytes(dump, dump.graphs()[0].graph)

    assert found.moved == 2 * (image + weight) + 2 * result + image + weight + bias + result
    assert found.least == (image + weight + bias) + result + image
