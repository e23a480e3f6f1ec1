"""What Triton made of the kernels of a small model, for GPUs that are not here, held against the vendors' own tools."""

import importlib.util
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.analysis.kernels.debug_lines import assembly_lines, machine_lines
from inspect_compile.analysis.kernels.stage_lines import KernelStages, coverage
from inspect_compile.analysis.kernels.tiling import shape
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Binary, Choice, Hook, Kernel, Tiling
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.binaries import Configuration, configurations
from inspect_compile.graph.kernels.occupancy import occupancy
from inspect_compile.knowledge.kernels.resources import of_amdgcn, of_cubin
from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.tables.kernels.tiling_text import tiling_lines
from tests.conftest import run_once
from tests.private_names import astray, version
from tests.running import inspected, plain

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")

PROGRAMS = Path(__file__).parents[1] / "programs"
CUDA, HIP = ("ttir", "ttgir", "llir", "ptx", "cubin"), ("ttir", "ttgir", "llir", "amdgcn", "hsaco")
TORCH = version(torch.__version__)
MOST_PADS = 16 if TORCH >= (2, 13) else 32
MOST_MERGED = 2 if TORCH < (2, 15) else 3
"""What the LLVM of each torch's Triton leaves without a line, and merges into instructions of other lines."""
BOTH = pytest.mark.parametrize(("target", "stages"), [("sm_90", CUDA), ("gfx942", HIP)])

Compiled = Callable[..., Dump]


@pytest.fixture(scope="session")
def compiled(shared_folder: Path, inductor_cache: Path) -> Compiled:
    """`compiled("sm_90", OPTION …)`: the dump of the small model; with OPTIONs of Inductor that `run` would not set."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    def recorded(folder: Path) -> subprocess.CompletedProcess[str]:
        options = ["--target", "sm_90", "--target", "gfx942"]
        return inspected([PROGRAMS / "small.py"], folder, options=options, environment=environment)

    def run(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        done = plain([PROGRAMS / f"{program}.py", *words], folder, environment=environment)
        assert done.returncode == 0, done.stderr
        return done

    def compiled(target: str, *options: str) -> Dump:
        if not options:
            done = run_once(shared_folder / "compiled", recorded)
            assert done.returncode == 0, done.stderr
            return Dump(shared_folder / "compiled" / "dump" / f"target_{target}")
        packed, folder = shared_folder / "packed", shared_folder / "_".join(("compiled", target, *options))
        run_once(packed, lambda folder: run(folder, "pack", "graph"))
        run_once(folder, lambda folder: run(folder, "compile", str(packed / "graph"), target, "dump", *options))
        return Dump(folder / "dump")

    return compiled


def tool(name: str) -> str:
    """One that the triton wheel carries."""
    found = importlib.util.find_spec("triton")
    assert found is not None
    assert found.submodule_search_locations is not None
    path = os.path.join(found.submodule_search_locations[0], "backends", "nvidia", "bin", name)
    if not os.access(path, os.X_OK):
        pytest.skip(f"this triton has no {name}")
    return path


def rows_of(dump: Dump) -> list[Configuration]:
    (graph,) = dump.graphs()
    return configurations(CompiledGraph(dump, graph.graph))


def text(dump: Dump, row: Binary, stage: str) -> str:
    path = next(found.path for found in row.stages if found.name == stage)
    return dump.text(row.graph, path) or ""


@BOTH
def test_every_triton_kernel_has_every_stage(compiled: Compiled, target: str, stages: tuple[str, ...]) -> None:
    dump = compiled(target)

    rows = rows_of(dump)
    assert {row.kernel for row in rows} == {kernel.name for kernel in dump.rows(Kernel) if kernel.kind == "triton"}
    assert len({row.label for row in rows if row.kernel == rows[0].kernel}) > 1
    for row in rows:
        assert row.target == target
        assert row.label.endswith(f"-w{row.num_warps}-s{row.num_stages}")
        assert tuple(stage.name for stage in row.stages) == stages
        for stage in row.stages:
            path = dump.folder(row.graph) / stage.path
            assert path.is_file()
            assert path.stat().st_size == stage.bytes > 0
        assert "tt.func" in text(dump, row, "ttir")
        assert "#ttg." in text(dump, row, "ttgir")
        assert f"define {'amdgpu' if target == 'gfx942' else 'ptx'}_kernel void @{row.kernel}" in text(
            dump, row, "llir"
        )
        assert re.search(rf"\.(?:target sm_90|amdgcn_target.*{target})", text(dump, row, stages[3]))
        assert row.seconds is not None
        assert not row.left_out
    assert astray(dump.rows(Hook)) == {}


@BOTH
def test_axes_and_forms_are_those_of_the_source(compiled: Compiled, target: str, stages: tuple[str, ...]) -> None:
    dump = compiled(target)

    kernels = {kernel.name: kernel for kernel in dump.rows(Kernel) if kernel.kind == "triton"}
    assert {row.kernel for row in dump.rows(Tiling)} == kernels.keys()
    for kernel in kernels.values():
        source = dump.text(kernel.graph, kernel.source) or ""
        found = shape(dump, kernel)
        assert found.written is not None
        for row in found.tilings:
            told = {axis: re.search(rf"^ +{axis}numel = (\d+)$", source, re.MULTILINE) for axis in row.sizes}
            assert {axis: match[1] for axis, match in told.items() if match} == {
                axis: length for axis, length in row.sizes.items() if told[axis]
            }
            assert set(found.written.size_hints) <= set(row.sizes)
            assert row.scores == found.written.scores
            assert row.persistent == (found.written.persistent if "reduction" in kernel.form else None)
            assert row.hint == found.written.reduction_hint
        assert kernel.form.replace(" ", "_") == found.written.name
        assert all(tiling_lines(kernel, found))


@BOTH
def test_nothing_says_which_of_several_runs(compiled: Compiled, target: str, stages: tuple[str, ...]) -> None:
    rows = rows_of(compiled(target))

    counts = {row.kernel: sum(other.kernel == row.kernel for other in rows) for row in rows}
    assert {row.choice for row in rows if counts[row.kernel] > 1} == {"not measured"}
    assert {row.choice for row in rows if counts[row.kernel] == 1} <= {"only"}


def test_what_a_cubin_asks_for_is_what_cuobjdump_says(compiled: Compiled) -> None:
    dump = compiled("sm_90")
    for row in rows_of(dump):
        path = dump.folder(row.graph) / row.stages[-1].path
        told = plain_tool(tool("cuobjdump"), "--dump-resource-usage", str(path)).stdout
        assert f"REG:{row.registers} STACK:{row.spills} " in told
        assert " LOCAL:0 " in told


@pytest.mark.parametrize("target", [name for name in TARGETS if name.startswith("sm_") and name != "sm_75"])
def test_spilled_registers_are_what_ptxas_says(compiled: Compiled, tmp_path: Path, target: str) -> None:
    """The largest kernel's assembly, assembled with few registers; it has instructions that sm_75 lacks."""
    dump = compiled("sm_90")
    row = max(rows_of(dump), key=lambda row: row.registers or 0)
    assembly = re.sub(r"(?m)^\.target sm_90a?", f".target {target}", text(dump, row, "ptx"))
    # Triton's two ptxas are of different ages.
    assembly = re.sub(r"(?m)^\.version .*", ".version 8.7", assembly)
    # A size of the block goes before the option.
    (tmp_path / "kernel.ptx").write_text(re.sub(r"(?m)^\.reqntid .*\n", "", assembly))
    ptxas = tool("ptxas-blackwell" if TARGETS[target].capability >= (10, 0) else "ptxas")

    source, made = str(tmp_path / "kernel.ptx"), str(tmp_path / "kernel.cubin")
    done = plain_tool(ptxas, "-v", "--maxrregcount=24", f"-arch={target}", source, "-o", made)

    stack = re.search(r"(\d+) bytes stack frame", done.stderr)
    registers = re.search(r"Used (\d+) registers", done.stderr)
    assert stack is not None, done.stderr
    assert registers is not None
    found = of_cubin(Path(made).read_bytes())
    assert (found.registers, found.stack) == (int(registers[1]), int(stack[1]))
    assert found.stack


def test_occupancy_of_an_amd_kernel_is_what_llvm_says(compiled: Compiled) -> None:
    """LLVM leaves out shared memory, which Triton asks for at the launch."""
    target = "gfx942"
    dump = compiled(target)
    for row in rows_of(dump):
        assembly = text(dump, row, "amdgcn")
        told = re.search(r"; NumVgprs: \d+\n(?:.*\n)*?; TotalNumVgprs: (\d+)\n(?:.*\n)*?; Occupancy: (\d+)\n", assembly)
        assert told is not None
        assert row.registers == int(told[1])
        asked = of_amdgcn(assembly)
        full = occupancy(
            TARGETS[target],
            warps=1,
            registers=asked.allocated_registers or asked.registers or 0,
            shared=0,
            scalar_registers=asked.scalar_registers,
        )
        assert full.warps == 4 * int(told[2])
        assert row.occupancy is not None
        assert row.occupancy <= full.share


def test_machine_code_of_what_runs_is_disassembled(compiled: Compiled) -> None:
    tool("nvdisasm")
    dump = compiled("sm_90")
    seen = set()
    for row in rows_of(dump):
        stage = row.stages[-1]
        disassembly = dump.text(row.graph, paths.disassembly(stage.path, stage.name))
        assert (disassembly is not None) == (row.kernel not in seen)
        if disassembly is not None:
            assert re.search(r"/\*[0-9a-f]{4}\*/ +.*;", disassembly)
            assert re.search(r"^\t//\w+\.py:\d+$", disassembly, re.MULTILINE)
        seen.add(row.kernel)


def test_without_a_tool_the_file_says_so(compiled: Compiled) -> None:
    dump = compiled("gfx942")
    row = rows_of(dump)[0]
    disassembly = dump.text(row.graph, paths.disassembly(row.stages[-1].path, "hsaco")) or ""
    assert "s_endpgm" in disassembly or re.fullmatch(r"// not made: .*llvm-objdump.*\n", disassembly)
    marker = (dump.root / paths.FINISHED).read_text()
    assert ("no disassembly for gfx942: " in marker) == disassembly.startswith("// not made")


@pytest.mark.targets
def test_stages_come_from_tritons_cache_where_torch_kept_a_launcher_alone(compiled: Compiled) -> None:
    """As it is with a GPU: torch's own launchers hold no stage."""
    options = ("use_static_cuda_launcher", "use_static_triton_launcher", "strict_static_triton_launcher")
    mine, other = rows_of(compiled("sm_90")), rows_of(compiled("sm_90", *options))

    def told(row: Configuration) -> tuple[object, ...]:
        return row.kernel, row.label, row.num_warps, row.registers, row.spills, row.shared, row.stages, row.occupancy

    assert list(map(told, mine)) == list(map(told, other))


def plain_tool(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def test_what_is_no_machine_code_asks_for_nothing() -> None:
    good = b"\x7fELF\x02\x01" + bytes(200)
    for data in (b"", b"\x7fELF", good, good[:40], b"\x7fELF\x02\x01" + b"\xff" * 200):
        assert of_cubin(data) == (None, None, None, None, 0)
    for words in ("", ".vgpr_count: 3", "; NumVgprs: 12"):
        assert of_amdgcn(words).allocated_registers is None


def test_each_instruction_is_of_a_line_of_the_kernel(compiled: Compiled) -> None:
    """And each statement with a node is left in the assembly, or LLVM has nothing of it either: it was folded."""
    for target, assembly in (("sm_90", "ptx"), ("gfx942", "amdgcn")):
        dump = compiled(target)
        (graph,) = dump.graphs()
        statements = CompiledGraph(dump, graph.graph).statements
        for kernel in (row for row in dump.rows(Kernel) if row.kind == "triton"):
            stages, rows = KernelStages(dump, kernel), statements.all_annotated(kernel)
            defined = next(number for number, line in enumerate(stages.source, 1) if line.startswith("def triton"))
            for configuration in stages.compiled:
                stage = stages.stage(configuration, assembly)
                lines = set(stage.ranges())
                assert lines <= set(range(defined, len(stages.source) + 1))
                found = coverage(stage, rows)
                # Not under any: the pads behind the end of a program for AMD.
                assert found.instructions - found.mapped <= (0 if assembly == "ptx" else MOST_PADS)
                stores = {row.line for row in rows if row.text.startswith("tl.store")}
                assert stores
                assert stores <= lines
                earlier = {line for line in found.folded if line in stages.stage(configuration, "llir").ranges()}
                assert len(earlier) <= MOST_MERGED, "instructions that the assembler's compiler merged into others"
                assert len(found.folded) < found.statements


def test_values_are_of_the_lines_that_assign_them(compiled: Compiled) -> None:
    """MLIR calls a value what the program does."""
    dump, checked = compiled("sm_90"), 0
    for kernel in (row for row in dump.rows(Kernel) if row.kind == "triton"):
        stages = KernelStages(dump, kernel)
        for configuration in stages.compiled:
            for name in ("ttir", "ttgir"):
                stage = stages.stage(configuration, name)
                for text_, source in zip(stage.text.splitlines(), stage.sources, strict=True):
                    named = re.match(r" +%(tmp\d+)\w* = ", text_)
                    if named and source:
                        checked += 1
                        assert any(stages.source[line - 1].strip().startswith(f"{named[1]} =") for line in source)
    assert checked > 200


def test_machine_code_leads_to_the_line_that_nvdisasm_names(compiled: Compiled) -> None:
    """And to the calls around it, where the assembler was told them: by newer releases of LLVM.

    They count the lines of inline assembly on from the one that it is of.
    """
    tool("nvdisasm")
    dump, inlined = compiled("sm_90"), 0
    for kernel in (row for row in dump.rows(Kernel) if row.kind == "triton"):
        stages = KernelStages(dump, kernel)
        row = stages.compiled[0]
        stage, ptx = stages.stage(row, "sass"), assembly_lines(stages.stage(row, "ptx").text)
        witness = lines_by_address(dump.folder(row.graph) / row.stages[-1].path)
        found = machine_lines(stage.text, ptx, {})
        within = inline_assembly(stages.stage(row, "ptx").text)
        seen = number = 0
        for line, stacks, source in zip(stage.text.splitlines(), found, stage.sources, strict=True):
            if of_ptx := re.match(r"\s+//ptx:(\d+)", line):
                number = int(of_ptx[1])
            elif code := re.match(r"\s+/\*([0-9a-f]{4,})\*/", line):
                seen += 1
                assert source
                (stack,) = stacks
                ours, told = [(place.file, place.line) for place in stack], witness[code[1]]
                told[:1] = [(told[0][0], told[0][1] - within.get(number, 0))]
                assert told == ours[: len(told)]
                assert len(told) in (1, len(ours))
                inlined += len(ours) > 1
        assert seen == len(witness)
    assert inlined > 50


def inline_assembly(ptx: str) -> dict[int, int]:
    """Lines in inline assembly, and behind it → by how much the place above them is beyond that of the assembly."""
    found: dict[int, int] = {}
    here = own = 0
    is_inline = False
    for number, line in enumerate(ptx.splitlines(), 1):
        if marker := re.match(r"\s*// (begin|end) inline asm$", line):
            is_inline = marker[1] == "begin"
        elif place := re.match(r"\s*\.loc\s+\d+ (\d+)", line):
            here = int(place[1])
            own = own if is_inline else here
        elif here != own:
            found[number] = here - own
    return found


def lines_by_address(cubin: Path) -> dict[str, list[tuple[str, int]]]:
    """Of each instruction the line; of the first of a line also the calls around it, which may change below it."""
    told = plain_tool(tool("nvdisasm"), "--print-code", "--print-line-info-inline", str(cubin)).stdout
    found: dict[str, list[tuple[str, int]]] = {}
    places: list[tuple[str, int]] = []
    is_first = False
    for line in told.splitlines():
        if named := re.search(r'File "(?:[^"]*/)?([^"/]+)", line (\d+)', line):
            places = [*(places if is_first else ()), (named[1], int(named[2]))]
            is_first = True
        elif code := re.match(r"\s+/\*([0-9a-f]{4,})\*/", line):
            found[code[1]], is_first = list(places if is_first else places[:1]), False
    return found


@pytest.mark.harmless
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_what_templates_ask_for_is_what_their_code_says(shared_folder: Path, inductor_cache: Path, target: str) -> None:
    """Of all that torch compiles to choose among, those that it does not take too."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    def run(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        done = plain([PROGRAMS / f"{program}.py", *words], folder, environment=environment)
        assert done.returncode == 0, done.stderr
        return done

    packed, folder = shared_folder / "packed", shared_folder / f"templates_{target}"
    run_once(packed, lambda folder: run(folder, "pack", "graph"))
    done = run_once(folder, lambda folder: run(folder, "templates", str(packed / "graph"), target, "dump"))
    files = json.loads(done.stdout.splitlines()[-1])
    dump = Dump(folder / "dump")
    choices = {row.label: row for row in dump.rows(Choice) if row.kind == "triton template"}

    assert len(files) > 3
    assert {name for name, row in choices.items() if row.registers is not None} == files.keys()
    assert len({(choices[name].registers, choices[name].shared) for name in files}) > 1
    for name, file in files.items():
        row = choices[name]
        if target == "gfx942":
            told = re.search(r"; TotalNumVgprs: (\d+)\n(?:.*\n)*?; ScratchSize: (\d+)\n", Path(file).read_text())
            assert told is not None
            assert (row.registers, row.spills) == (int(told[1]), int(told[2]))
        else:
            said = plain_tool(tool("cuobjdump"), "--dump-resource-usage", file).stdout
            assert f"REG:{row.registers} STACK:{row.spills} " in said
        assert (row.shared or 0) > 0
    (sheet,) = (row for row in autotuned(CompiledGraph(dump, dump.graphs()[0].graph)) if row.about == "operation")
    assert next(row.kind for row in sheet.choices if row.is_winner) == "triton template"
    assert {row.label: row.registers for row in sheet.choices if row.registers is not None} == {
        name: choices[name].registers for name in files
    }
    assert astray(dump.rows(Hook)) == {}
