"""Kernels of a log beside those of a second compile: known by what they compute, never by a name that counts anew."""

from pathlib import Path

import pytest

from inspect_compile.analysis.compare.second_compile import agreement
from inspect_compile.analysis.kernels.recorded_kernels import (
    KernelsJoined,
    kernel_body,
    kernels_joined,
    names_in_log,
    recorded_kernels,
)
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, Run
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.compare.second_compile import agreement_text
from tests.handmade import GRAPH, graph, kernel, line, made, node

TRITON = """
import triton
@triton_heuristics.pointwise(
    size_hints={{'x': 8}},
    triton_meta={{'device': {device}}},
    inductor_meta={{'kernel_name': '{name}'}},
)
@triton.jit
def {name}(in_ptr0, XBLOCK : tl.constexpr):
    # of {device}
    if True:
        tmp0 = {value}
"""
Described = tuple[str, tuple[str, ...], str]
"""Name, nodes and value of a kernel; a library function has no value, and of `?` the source is not known."""


def compiled(root: Path, *kernels: Described, run: Run, device: str = "80") -> CompiledGraph:
    facts: list[Fact] = [graph()]
    facts += [node(name, f"aten.{name}.default", stage="aot") for name in ("relu", "sum", "mul")]
    facts += [node(name, f"aten.{name}.default") for name in ("relu", "sum", "mul")]
    facts += [node("made", f"aten.{'mm' if device == '80' else 'addmm'}.default")]
    for index, (name, nodes, value) in enumerate(kernels):
        source = f"kernels/{index}.py" if value not in ("", "?") else ""
        kind = "triton" if value else "extern"
        facts.append(kernel(name, kind=kind, nodes=nodes, source=source, launches=(100 + index,)))
        facts.append(line(index, "launch" if value else "extern", kernel=name))
    dump = made(root, *facts, run=run)
    for index, (name, _, value) in enumerate(kernels):
        if value not in ("", "?"):
            file = dump.folder(GRAPH) / "kernels" / f"{index}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(TRITON.format(name=name, device=device, value=value))
    return CompiledGraph(Dump(root), GRAPH)


def both(tmp_path: Path, log: tuple[Described, ...], again: tuple[Described, ...]) -> tuple[CompiledGraph, ...]:
    versions = {"torch": "2.8.0"}
    recorded = compiled(tmp_path / "log", *log, run=Run(status="finished", origin="TORCH_TRACE log", versions=versions))
    run = Run(status="finished", replay_of=GRAPH, versions={"torch": "2.13.0"})
    return recorded, compiled(tmp_path / "log" / "replay_1", *again, run=run, device="90")


def joined(tmp_path: Path, log: tuple[Described, ...], again: tuple[Described, ...]) -> KernelsJoined:
    return kernels_joined(*both(tmp_path, log, again))


def names(found: KernelsJoined) -> list[tuple[str, str, bool | None]]:
    return [(one.recorded.name, one.again.name, one.is_equal) for one in found.same]


def test_what_computes_the_same_nodes_is_the_same(tmp_path: Path) -> None:
    log = (("triton_0", ("relu", "mul"), "1"), ("triton_1", ("sum",), "2"), ("mm", (), ""))
    again = (("triton_1", ("mul", "relu"), "1"), ("triton_0", ("sum",), "3"), ("mm", (), ""))

    found = joined(tmp_path, log, again)

    assert names(found) == [("triton_0", "triton_1", True), ("triton_1", "triton_0", False), ("mm", "mm", None)]
    assert (found.generated, found.grouped, found.equal, found.same_group, found.in_order) == (2, 2, 1, 2, 3)
    assert found.names == {"triton_1": "triton_0", "triton_0": "triton_1"}


def test_without_nodes_the_source_says_it(tmp_path: Path) -> None:
    log = (("triton_0", (), "1"), ("triton_1", (), "1"), ("triton_2", (), "3"), ("triton_3", (), "4"))
    again = (("triton_0", ("sum",), "3"), ("triton_1", ("relu",), "1"), ("triton_2", ("mul",), "1"))

    found = joined(tmp_path, log, again)

    assert names(found) == [
        ("triton_0", "triton_1", True), ("triton_1", "triton_2", True), ("triton_2", "triton_0", True),
    ]  # fmt: skip
    assert (found.generated, found.grouped, found.in_order) == (4, 0, 2)


@pytest.mark.parametrize(
    ("log", "again"),
    [
        pytest.param((("triton_0", ("relu",), "1"),), (("triton_0", ("sum",), "2"),), id="a name is none"),
        pytest.param((("triton_0", ("made",), "1"),), (("triton_0", ("made",), "2"),), id="a pass makes another node"),
        pytest.param(
            (("triton_0", (), "1"),), (("triton_0", ("relu",), "1"), ("triton_1", ("mul",), "1")), id="another count"
        ),
        pytest.param((("mm", (), ""), ("mm", (), "")), (("mm", (), ""), ("mm", (), "")), id="a function called twice"),
    ],
)
def test_what_could_be_another_is_not_joined(
    log: tuple[Described, ...], again: tuple[Described, ...], tmp_path: Path
) -> None:
    assert joined(tmp_path, log, again).same == ()


def test_a_body_has_neither_its_name_nor_its_machine() -> None:
    first, second = (TRITON.format(name=name, device=device, value="1") for name, device in (("a_0", 80), ("b_1", 90)))
    assert kernel_body(first, "a_0") == kernel_body(second, "b_1")
    assert kernel_body(first, "a_0") != kernel_body(first.replace("tmp0 = 1", "tmp0 = 2"), "a_0")
    assert kernel_body(first, "a_0") != kernel_body(first.replace("        tmp0", "    tmp0"), "a_0")
    c = '#include "/tmp/{0}.h"\n// {0}\nextern "C"  void {0}(float* x)\n{{\n    #pragma omp for\n    x[0] = 1;\n}}\n'
    assert kernel_body(c.format("kernel"), "cpp_0") == kernel_body(c.format("cpp_1"), "cpp_1")
    assert "#pragma omp for" in kernel_body(c.format("cpp_1"), "cpp_1")


def test_a_replay_knows_its_log(tmp_path: Path) -> None:
    recorded, again = both(tmp_path, (("triton_5", ("relu",), "1"),), (("triton_0", ("relu",), "1"),))

    assert names_in_log(again) == {"triton_0": "triton_5"}
    assert names_in_log(recorded) == {}
    assert recorded_kernels(recorded) is None


def test_kernels_without_a_source_are_those_of_the_same_nodes(tmp_path: Path) -> None:
    log = (("triton_0", ("relu",), "?"), ("triton_1", ("mul",), "?"), ("aoti_torch_cuda_mm_out", ("sum",), ""))
    again = (("triton_0", ("mul",), "1"), ("triton_1", ("relu", "mul"), "2"), ("extern_kernels.mm", ("sum",), ""))

    both_sides = both(tmp_path, log, again)
    found = kernels_joined(*both_sides)

    assert names(found) == [("triton_1", "triton_0", None), ("aoti_torch_cuda_mm_out", "extern_kernels.mm", None)]
    assert (found.generated, found.grouped, found.same_group) == (0, 2, 1)
    assert names_in_log(both_sides[1]) == {"triton_0": "triton_1"}
    text = agreement_text(agreement(*both_sides))
    assert text.startswith("3 calls, as in the log; 1 of 2 kernels compute the same nodes; the log has no text of them")


def test_the_share_is_told(tmp_path: Path) -> None:
    log = (("triton_poi_fused_relu_0", ("relu",), "1"), ("triton_red_fused_sum_1", ("sum",), "2"))
    again = (("triton_red_fused_sum_0", ("sum",), "2"), ("triton_poi_fused_relu_1", ("relu",), "3"))

    text = agreement_text(agreement(*both(tmp_path, log, again)))

    assert text == (
        "2 calls, 1 of the log's 2 among them in the same order; 1 of 2 kernels equal after renaming, 2 of 2 of the"
        " same nodes; 1 of 2 in another order; other torch (2.8.0 → 2.13.0)"
    )
