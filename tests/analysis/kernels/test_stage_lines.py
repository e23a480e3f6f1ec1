"""The stages of a kernel joined to its source, its nodes and the user's lines."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.kernels.stage_lines import (
    STAGES,
    KernelStages,
    Stage,
    annotated_lines,
    coverage,
    of_assembly,
)
from inspect_compile.analysis.lookup.kernels import find_configuration
from inspect_compile.analysis.lookup.lines import find_source_lines
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel, Location
from inspect_compile.facts import Stage as Stage_
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.lookup_text import only
from tests.handmade import FILE, GRAPH
from tests.stages import KERNEL, LABELS, LAUNCHER, RECORDED, staged_dump


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    return staged_dump(tmp_path / "d")


def of(dump: Dump, name: str = KERNEL) -> KernelStages:
    return KernelStages(dump, next(row for row in dump.rows(Kernel) if row.name == name))


@pytest.mark.parametrize("name", ["ttir", "ttgir", "llir", "ptx", "sass"])
def test_from_the_source_and_back(dump: Dump, name: str) -> None:
    stages = of(dump)
    stage = stages.stage(stages.compiled[0], name)
    assert stage.note == ""
    ranges = stage.ranges()
    assert set(ranges) <= set(range(17, 27)), "of the function alone"
    assert {23, 25, 26} <= set(ranges)
    for line, runs in ranges.items():
        for first, last in runs:
            assert 0 < first <= last
            assert stage.sources[first - 1].count(line) == stage.sources[last - 1].count(line) == 1
            assert all(line in found for found in stage.sources[first - 1 : last] if found)
    assert sum(map(bool, stage.sources)) == len(
        {i for runs in ranges.values() for a, b in runs for i in range(a, b + 1)}
        & {i for i, found in enumerate(stage.sources, 1) if found}
    )


def test_each_line_has_its_nodes(dump: Dump) -> None:
    stages, statements = of(dump), CompiledGraph(dump, GRAPH).statements
    rows = annotated_lines(statements, stages.kernel, stages.stage(stages.compiled[0], "ptx"))
    (store,) = (row for row in rows if "st.global" in row.text)
    assert (store.source, store.nodes, store.line) == ((26,), ("relu",), 62)
    assert [(where.file, where.line) for where in store.lines] == [(FILE, 7)]
    assert [row.source for row in rows if "setp.lt" in row.text] == [(25,)] * 2, "inlined from triton_helpers"
    (program,) = (row for row in rows if "%ctaid.x" in row.text)
    assert (program.source, program.nodes) == ((19,), ())
    assert all(row.source == () for row in rows if row.text.lstrip().startswith((".loc", "//", "$")))


def test_what_is_left_of_the_statements(dump: Dump) -> None:
    stages = of(dump)
    found = coverage(
        stages.stage(stages.compiled[0], "ptx"), CompiledGraph(dump, GRAPH).statements.all_annotated(stages.kernel)
    )
    assert (found.instructions, found.mapped, found.statements, found.folded) == (20, 20, 4, (24,))


def test_a_configuration_by_its_label(dump: Dump) -> None:
    stages = of(dump)
    assert stages.labels() == list(LABELS)
    assert only(find_configuration(dump, stages, None)).label == LABELS[0]
    assert only(find_configuration(dump, stages, "XBLOCK128")).label == LABELS[1]
    with pytest.raises(CommandError, match=r"--config w8: no such configuration of .*; there are: XBLOCK"):
        only(find_configuration(dump, stages, "w8"))
    told = [stages.stage(row, "ptx").text for row in stages.compiled]
    assert len(set(told)) == 2


def test_why_there_is_nothing(dump: Dump) -> None:
    stages, folder = of(dump), dump.folder(GRAPH) / "kernels" / KERNEL
    first, second = stages.compiled
    for row, name, why in (
        (first, "amdgcn", "no amdgcn: it has ttir ttgir llir ptx sass"),
        (second, "sass", "no sass of this configuration: of several the one that runs, or the first, is disassembled"),
    ):
        assert stages.stage(row, name) == Stage(name, row.label, "", note=why)
    launcher = of(dump, LAUNCHER)
    assert launcher.stage(launcher.compiled[0], "ptx").note == "no ptx: torch kept its launcher alone"
    sass = folder / LABELS[0] / f"{KERNEL}.sass"
    sass.write_text("// not made: there is no nvdisasm here\n")
    assert of(dump).stage(first, "sass").note == "no sass: there is no nvdisasm here"
    sass.unlink()
    assert "is not made (yet)" in of(dump).stage(first, "sass").note


def test_without_locations(dump: Dump) -> None:
    """As with TRITON_DISABLE_LINE_INFO: all of them say so in one line."""
    place = dump.folder(GRAPH) / "kernels" / KERNEL / LABELS[0]
    for path in place.iterdir():
        bare = [line for line in path.read_text().splitlines() if ".loc" not in line and not line.startswith("\t//")]
        path.write_text("\n".join(line.partition(" !dbg")[0].partition(" loc(")[0] for line in bare))
    stages = KernelStages(dump, replace(of(dump).kernel, path="/cache/dr/k.py"))
    for name in stages.names(stages.compiled[0]):
        stage = stages.stage(stages.compiled[0], name)
        assert stage.text
        assert not any(stage.sources)
        assert stage.note == f"no line of {name} is mapped: the compiler wrote no locations (TRITON_DISABLE_LINE_INFO?)"


def test_a_kernel_of_another_name(dump: Dump) -> None:
    """Torch may call all of them `triton_`: the function is the one that was compiled."""
    for path in (dump.folder(GRAPH) / "kernels" / KERNEL).rglob("*.*"):
        path.write_text(("\n" if path.suffix == ".py" else "") + path.read_text().replace(f"{KERNEL}(", "triton_("))
    stages = of(dump)
    moved = stages.stage(stages.compiled[0], "ttir").ranges()
    assert {24, 26, 27} <= set(moved)


def test_damaged_stages_are_told(dump: Dump) -> None:
    stages = KernelStages(dump, replace(of(dump).kernel, source="kernels/none.py"))
    stage = stages.stage(stages.compiled[0], "ptx")
    assert stage.note == "nothing is mapped: the kernel's source is not in the dump"
    (dump.folder(GRAPH) / "kernels" / KERNEL / LABELS[0] / f"{KERNEL}.ttir").write_bytes(b"\xff\x00tt.func public @x(")
    for name in STAGES:
        found = of(dump).stage(stages.compiled[0], name)
        assert len(found.sources) == len(found.text.splitlines())


def test_assembly_of_a_cpu() -> None:
    told = "0000 <kernel>:\nkernel():\n/w/<stdin>:2\n   0:\tret\n/w/<stdin>:9\n   1:\tnop"
    stage = of_assembly(told, ["void kernel()", "{}"], "<stdin>")
    assert stage.sources == ((), (2,), ())


def test_machine_code_that_was_kept_alone(dump: Dump) -> None:
    """Which file is the kernel's is known from where torch keeps it; what was inlined is of no line then."""
    place = dump.folder(GRAPH) / "kernels" / KERNEL / LABELS[0]
    for path in place.iterdir():
        if path.suffix != ".sass":
            path.unlink()
    kernel = replace(of(dump).kernel, path="/cache/dr/cdrzvvfkj5daxwlr6isy4ptic2bcb5awes7dvxf7m6z2he6s33r3.py")
    stages = KernelStages(dump, kernel)
    stage = stages.stage(stages.compiled[0], "sass")
    assert {17, 23, 26} <= set(stage.ranges())
    assert 25 not in stage.ranges()


def test_a_disassembly_without_lines_has_those_of_its_assembly(tmp_path: Path) -> None:
    """Of AMD's: found in order; where that is another program, one line says why nothing is mapped."""
    dump = staged_dump(tmp_path / "d")
    stages, label = of(dump), "XBLOCK128-w2-s1"
    folder = dump.folder(GRAPH) / "kernels" / KERNEL
    shutil.copytree(RECORDED / "gfx942" / label, folder / label)
    row = replace(
        stages.compiled[0],
        label=label,
        stages=tuple(Stage_(name, f"kernels/{KERNEL}/{label}/{KERNEL}.{name}", 9) for name in ("amdgcn", "hsaco")),
    )
    amdgcn, isa = (stages.stage(row, name) for name in ("amdgcn", "isa"))
    assert isa.note == ""
    assert [lines for lines in isa.sources if lines] == [lines for lines in amdgcn.sources if lines]
    path = folder / label / f"{KERNEL}.isa"
    path.write_text(path.read_text().replace("buffer_store", "global_store"))
    assert of(dump).stage(row, "isa").note == (
        "no line of isa is mapped: its instructions are not those of amdgcn, in order, or that has no locations"
    )


def test_a_kernel_of_the_program_is_of_its_node_as_a_whole(dump: Dump) -> None:
    stages = of(dump)
    own = replace(
        stages.kernel, name="blend", kind="user_triton", nodes=("wrapper",), lines=(Location(FILE, 3, "f", ""),)
    )
    statements = CompiledGraph(dump, GRAPH).statements
    rows = annotated_lines(statements, own, stages.stage(stages.compiled[0], "ptx"))
    stages.kernel = own
    everything = frozenset(range(1, 27))
    for line, name in (("net.py:3", None), (None, "wrapper"), ("net.py:3", "wrapper")):
        assert only(find_source_lines(dump, statements, stages, line, name)) == everything
    assert {row.nodes for row in rows if row.source} == {("wrapper",)}
    assert {row.lines for row in rows if row.source} == {own.lines}
    assert {row.nodes for row in rows if not row.source} == {()}
