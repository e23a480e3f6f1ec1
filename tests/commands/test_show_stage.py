"""`show DUMP kernel NAME --stage STAGE`, as a person or a program calls it."""

import json
import shutil
import stat
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.kernels.stage_lines import of_assembly
from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Binary, Graph, GraphEnd, Kernel, KernelBody
from inspect_compile.launch.assembly import FILE, assembly
from tests.conftest import DumpOf
from tests.handmade import GRAPH, at, graph, kernel, made, node
from tests.stages import KERNEL, LABELS, LAUNCHER, relu_body, staged_dump

Capture = pytest.CaptureFixture[str]
CPP = """#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0)
{
    #pragma omp simd simdlen(8)
    for(int64_t x0=0; x0<16; x0+=1)
        out_ptr0[x0] = in_ptr0[x0];
}
"""


@pytest.fixture(autouse=True)
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dump:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    return staged_dump(tmp_path / "d")


def told(capsys: Capture, *words: str) -> str:
    assert main(["show", "d", "kernel", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: Capture, *words: str) -> str:
    assert main(["show", "d", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_each_line_beside_what_it_is_of(capsys: Capture) -> None:
    said = told(capsys, KERNEL, "--stage", "ptx").splitlines()
    assert " ".join(said[0].split()) == f"{KERNEL} ptx XBLOCK=256, 4 warps sm_90 1 of 2 configurations"
    assert said[1] == "  20 instructions, all mapped"
    assert said[2] == "  of 4 statements 3 have instructions; folded into others, or not needed: 24"
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in said[4:-1]}
    assert rows["52"] == "setp.lt.f32 %p1, %r1, 0f00000000; 25 relu net.py:7"
    assert rows["53"] == "setp.lt.f32 %p2, %r2, 0f00000000;", "of the same"
    assert rows["32"].endswith(" 19")
    assert said[-1].endswith(f"left out that only name source locations   show d kernel {KERNEL} --stage ptx --all")
    assert ".loc" not in "\n".join(said)
    assert ".loc" in told(capsys, KERNEL, "--stage", "ptx", "--all")


def test_for_programs(capsys: Capture) -> None:
    for stage in ("ttir", "ttgir", "llir", "ptx", "sass"):
        rows = [json.loads(line) for line in told(capsys, KERNEL, "--stage", stage, "--json").splitlines()]
        assert [row["line"] for row in rows] == list(range(1, len(rows) + 1))
        assert {(row["fact"], row["graph"], row["kernel"], row["stage"]) for row in rows} == {
            ("stage_line", GRAPH, KERNEL, stage)
        }
        assert {row["lines"][0]["line"] for row in rows if row["nodes"] == ["relu"]} == {7}


def test_another_configuration(capsys: Capture) -> None:
    first, second = (told(capsys, KERNEL, "--stage", "asm", "--config", label) for label in LABELS)
    assert "v2.b32" in first
    assert "v2.b32" not in second
    assert "XBLOCK=128" in second


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["kernel", KERNEL, "--stage", "sassy"],
            f"--stage sassy: no such stage; {KERNEL} has ttir ttgir llir ptx sass",
        ),
        (
            ["kernel", KERNEL, "--stage", "ptx", "--config", "w9"],
            f"--config w9: no such configuration of {KERNEL}; there are: XBLOCK",
        ),
        (["kernel", "--stage", "ptx"], "name a kernel"),
        (["kernel", "--line", "25"], "name a kernel"),
        (["kernels", "--stage", "ptx"], "kernels takes no --stage; it goes with: kernel"),
        (["kernels", "--config", "w4"], "kernels takes no --config; it goes with: kernel"),
        (
            ["kernel", KERNEL, "--line", "99"],
            f"--line 99: no such line in the source of {KERNEL}; it has the lines 1 to 26",
        ),
        (["kernel", KERNEL, "--line", "0", "--stage", "ptx"], "--line 0: no such line in the source of"),
        (["kernel", KERNEL, "--line", "x.py"], "--line x.py: neither a line of the kernel's source, `25`, nor one of"),
        (["kernel", KERNEL, "--line", "net.py:8"], f"no statement of {KERNEL} belongs to it; there are: net.py:7"),
        (["kernel", KERNEL, "--node", "add"], f"--node add: no statement of {KERNEL} belongs to it; there are: relu"),
        (
            ["kernel", KERNEL, "--line", "19", "--node", "relu"],
            f"19 and relu: no statement of {KERNEL} belongs to both",
        ),
        (["kernel", KERNEL, "--line", "2"], f"{KERNEL}: no stage has code of this line of its source"),
        (["kernel", KERNEL, "--line", "25", "--stage", "amdgcn"], f"{KERNEL}: no amdgcn: it has ttir"),
        (["kernel", LAUNCHER, "--stage", "all"], f"{LAUNCHER}: torch kept its launcher alone"),
        (["kernel", LAUNCHER, "--node", "relu"], f"{LAUNCHER}: its source is not in the dump"),
        (["kernel", LAUNCHER, "--stage", "ptx", "--json"], f"{LAUNCHER}: no ptx: torch kept its launcher alone"),
        (["kernel", KERNEL, "--stage", "amdgcn", "--json"], f"{KERNEL}: no amdgcn: it has ttir"),
    ],
)
def test_what_there_is_not(capsys: Capture, words: list[str], why: str) -> None:
    assert why in refused(capsys, *words)


def counts(capsys: Capture, *words: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in told(capsys, KERNEL, *words, "--json").splitlines()]


@pytest.mark.parametrize("words", [["--line", "25"], ["--node", "relu"], ["--line", "net.py:7"]])
@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx", "sass"])
def test_from_a_line_of_the_source_a_node_or_the_program(capsys: Capture, words: list[str], stage: str) -> None:
    """What the way there tells of one is what the way back finds, and no more."""
    every = counts(capsys, "--stage", stage)
    found = counts(capsys, "--stage", stage, *words)
    meant = {25} if words == ["--line", "25"] else {23, 24, 25, 26}
    assert found
    assert found == [row for row in every if meant & set(row["source"])]  # type: ignore[call-overload]


def test_all_stages_in_numbers(capsys: Capture) -> None:
    rows = counts(capsys, "--stage", "all")
    assert {row["fact"] for row in rows} == {"line_counts"}
    for row in rows:
        for stage, count in row["counts"].items():  # type: ignore[attr-defined]
            lines = counts(capsys, "--stage", stage)
            assert count == sum(row["line"] in line["source"] for line in lines)  # type: ignore[operator]
    assert [row["line"] for row in rows] == [17, 19, 20, 23, 24, 25, 26]
    assert [set(row["counts"].values()) for row in rows if row["line"] == 24] == [{0}]  # type: ignore[attr-defined]
    assert counts(capsys, "--node", "relu") == [row for row in rows if row["nodes"] == ["relu"]]
    assert counts(capsys, "--line", "25") == [row for row in rows if row["line"] == 25]
    other = counts(capsys, "--config", LABELS[1])
    assert {row["configuration"] for row in other} == {LABELS[1]}
    assert {stage for row in other for stage in row["counts"]} == {"ttir", "ttgir", "llir", "ptx"}  # type: ignore[attr-defined]


def test_numbers_for_people(capsys: Capture) -> None:
    said = told(capsys, KERNEL, "--stage", "all").splitlines()
    assert said[1].split() == ["line", "source", "nodes", "program", "ttir", "ttgir", "llir", "ptx", "sass"]
    (row,) = (line.split() for line in said if line.split()[0] == "25")
    assert row[-7:] == ["relu", "net.py:7", "2", "2", "4", "4", "4"]
    assert "1 more   show d kernel" not in said[-1]
    assert (
        told(capsys, KERNEL, "--stage", "all", "--limit", "2").splitlines()[-1].startswith("… 5 more   show d kernel")
    )
    said = told(capsys, KERNEL, "--config", LABELS[1]).splitlines()
    assert said[1] == "  no sass of this configuration: of several the one that runs, or the first, is disassembled"


def test_a_part_of_a_stage_for_people(capsys: Capture) -> None:
    said = told(capsys, KERNEL, "--stage", "ptx", "--line", "25").splitlines()
    assert said[1] == "  4 of 20 instructions are of line 25: selp 2, setp 2"
    assert [line.split()[0] for line in said[3:]] == ["52", "53", "55", "56"]
    said = told(capsys, KERNEL, "--stage", "sass", "--node", "relu", "--line", "24").splitlines()
    assert said[1:] == ["  0 of 32 instructions are of line 24 node relu: folded into others, or not needed"]


def test_a_stage_that_is_not_there_is_told(capsys: Capture) -> None:
    said = told(capsys, LAUNCHER, "--stage", "ptx").splitlines()
    assert said[1] == "  no ptx: torch kept its launcher alone"


@pytest.fixture
def on_the_cpu(tmp_path: Path) -> Path:
    source = "kernels/cpp_fused_0/source.cpp"
    found = made(tmp_path / "cpu", graph(), kernel("cpp_fused_0", kind="cpp", source=source))
    path = found.folder(GRAPH) / source
    path.parent.mkdir(parents=True)
    path.write_text(CPP)
    return path


TRICKS = (
    '#include "/etc/passwd"',
    '#define A(x, y) x##y\nA(as, m)(".incbin \\"/etc/passwd\\"");',
    'asm(".incbin \\"/etc/passwd\\"");',
)


@pytest.mark.parametrize("more", ["", *TRICKS])
def test_only_what_torch_generated_here_is_compiled(
    capsys: Capture, on_the_cpu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """Whatever stands in it: a filter of what a source may ask for was got round by a macro."""
    cached = tmp_path / "cache" / "ab" / "cabc.main.cpp"
    cached.parent.mkdir(parents=True)
    cached.write_text(f"\n{CPP}// how Python calls it\n")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/nowhere")
    on_the_cpu.write_text(CPP + more)

    def said(*options: str) -> str:
        assert main(["show", "cpu", "kernel", "cpp_fused_0", "--stage", "asm", *options]) == 2
        return capsys.readouterr().err

    is_compiled = "no asm: objdump is not installed"
    refused = "no asm: torch's cache here does not have this kernel"
    assert (refused if more else is_compiled) in said()
    assert is_compiled in said("--compile")
    for path in (tmp_path / "cache", cached.parent, cached):
        before = path.stat().st_mode
        path.chmod(before | stat.S_IWOTH)
        assert refused in said()
        path.chmod(before)
    cached.rename(tmp_path / "elsewhere.cpp")
    cached.symlink_to(tmp_path / "elsewhere.cpp")
    assert refused in said()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "none"))
    assert refused in said()


def test_a_kernel_of_the_cpu_has_one_stage(capsys: Capture, on_the_cpu: Path) -> None:
    assert main(["show", "cpu", "kernel", "cpp_fused_0", "--stage", "ptx"]) == 2
    assert "a C++ kernel has no ptx; there is --stage asm" in capsys.readouterr().err
    assert main(["show", "cpu", "kernel", "cpp_fused_0", "--line", "6"]) == 2
    assert "a C++ kernel has one stage: --stage asm" in capsys.readouterr().err


needs_tools = pytest.mark.skipif(
    not (shutil.which("objdump") and shutil.which("g++")), reason="needs a C++ compiler and GNU binutils"
)


@pytest.mark.harmless
@needs_tools
def test_assembly_of_the_kernels_of_a_sample(dump_of: DumpOf, capsys: Capture) -> None:
    """Nothing of the source is run; each instruction of the kernel is of a line of it, and each store is somewhere."""
    dump = open_dump(dump_of("softmax_mlp").dump)
    bodies = {row.kernel: row for row in dump.rows(KernelBody)}
    checked = 0
    for found in {row.name: row for row in dump.rows(Kernel) if row.kind == "cpp"}.values():
        source = dump.text(found.graph, found.source) or ""
        stage = of_assembly(assembly(source, is_trusted=True).text, source.splitlines(), FILE)
        begins = next(number for number, line in enumerate(source.splitlines(), 1) if 'extern "C"' in line)
        mapped = [lines for lines in stage.sources if lines]
        assert all(line >= begins for lines in mapped for line in lines)
        assert len(mapped) > 0.9 * len(stage.sources)
        reached, body = {line for lines in mapped for line in lines}, bodies[found.name]
        stores = {row.line for row in body.statements if body.operators[row.operator].startswith("store")}
        assert stores
        assert stores <= reached
        checked += len(stores)
    assert checked
    name = next(iter(bodies))
    assert main(["show", str(dump.root), "kernel", name, "--stage", "asm", "--compile"]) == 0
    assert "compiled again here, with the flags of torch" in capsys.readouterr().out


@pytest.mark.harmless
@needs_tools
def test_what_the_compiler_refuses_is_told() -> None:
    with pytest.raises(CommandError, match=r"^\S+ refuses the kernel: .*error"):
        assembly(CPP.replace("out_ptr0[x0]", "nowhere[x0]"), is_trusted=True)


def test_what_is_compiled_once_is_of_all_calls_of_the_kernel(capsys: Capture, tmp_path: Path) -> None:
    """One source, called for relu and, behind a matmul, for relu_1."""
    relu = node("relu_1", "aten.relu.default", where=at(9, "y.relu()"))
    staged_dump(tmp_path / "e", relu_body("op2", "relu_1"), relu)

    def of(*words: str) -> str:
        assert main(["show", "e", "kernel", KERNEL, *words]) == 0
        return capsys.readouterr().out

    said = of("--stage", "ptx")
    assert "each line belongs to the nodes of all of them" in said
    assert "25 relu relu_1 net.py:7 9" in " ".join(said.split())
    rows = [json.loads(line) for line in of("--stage", "ptx", "--json", "--node", "relu_1").splitlines()]
    assert rows == [json.loads(line) for line in of("--stage", "ptx", "--json", "--line", "net.py:9").splitlines()]
    assert {tuple(row["nodes"]) for row in rows} == {("relu", "relu_1")}
    assert "relu relu_1" in of("--stage", "all")


def test_a_kernel_in_several_graphs_is_shown_of_each(dump: Dump, tmp_path: Path, capsys: Capture) -> None:
    other = "model__1_forward_5.2"
    facts = [row for kind in (Graph, GraphEnd, Kernel, Binary) for row in dump.rows(kind, GRAPH)]
    again = [msgspec.structs.replace(row, graph=other) for row in facts]
    both = staged_dump(tmp_path / "both", *again)
    shutil.copytree(both.folder(GRAPH) / "kernels", both.folder(other) / "kernels", dirs_exist_ok=True)

    assert main(["show", "both", "kernel", KERNEL, "--stage", "ptx", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert list(dict.fromkeys(row["graph"] for row in rows)) == [GRAPH, other]
    assert main(["show", "both", "kernel", KERNEL, "--stage", "ptx"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said if line.startswith("model__")] == [GRAPH, other]
    assert sum(line.startswith(KERNEL) for line in said) == 2


def test_kernels_without_such_a_stage_are_told_beside_the_others(capsys: Capture) -> None:
    assert main(["show", "d", "kernel", "triton", "--stage", "all"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(KERNEL)
    assert said.err == f"inspect-compile: {LAUNCHER}: torch kept its launcher alone\n"
