"""What a GPU got and what a target for it got: the same, where the same was compiled, and otherwise what differs."""

import shutil
import tarfile
from pathlib import Path

import pytest

from inspect_compile.analysis.compare.differences import compare
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.analysis.compare.side_by_side import Side, side_by_side
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Guard, Remark, Run
from tests.analysis.compare.test_differences import FRAME, compiled, kinds
from tests.conftest import TESTS
from tests.handmade import ended, graph, made, node

DATA = TESTS / "data" / "h200-and-target"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("recorded")
    for path in DATA.glob("*.tar.xz"):
        with tarfile.open(path) as archive:
            archive.extractall(root, filter="data")
    return root


SAME = ("softmax_mlp/gpu_alone", "jagged-training/gpu", "gpt2-training/gpu_alone")
"""Compiled on an H200; benchmarks/fidelity.py found all kernels and calls the same."""


@pytest.mark.parametrize("name", SAME)
def test_the_same_on_an_h200(name: str, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    on_gpu, for_target = recorded / name, (recorded / name).parent / "program"
    assert main(["diff", str(on_gpu), str(for_target)]) == 0
    assert main(["diff", str(for_target / "target_sm_90"), str(on_gpu), "--target", "sm_90"]) == 0
    assert "No difference" in capsys.readouterr().out


@pytest.mark.parametrize("name", SAME)
def test_the_same_kernels_beside_each_other(name: str, recorded: Path) -> None:
    on_gpu = Side("gpu", Dump(recorded / name))
    for_target = Side("target", Dump((recorded / name).parent / "program" / "target_sm_90"))

    assert all(row.is_same for row in side_by_side([on_gpu, for_target]))
    assert all(row.is_same for row in side_by_side([for_target, on_gpu, for_target]))


@pytest.mark.parametrize("name", SAME)
def test_a_kernel_that_is_another_one_is_found(name: str, recorded: Path, tmp_path: Path) -> None:
    root = shutil.copytree((recorded / name).parent, tmp_path / "copy")
    source = min(root.glob("program/target_sm_90/torchinductor/*/kernels/*/source.py"))
    source.write_text(source.read_text().replace("tl.load(", "tl.load(1 + ", 1))
    found = compare(paired(Dump(root / Path(name).name), Dump(root / "program" / "target_sm_90")))
    assert [(row.kind, len(row.a), len(row.b)) for row in found] == [("kernels", 1, 1)]


def test_a_matmul_that_is_padded_on_the_gpu(recorded: Path) -> None:
    on_gpu, for_target = (recorded / "softmax_mlp" / part for part in ("gpu", "program/target_sm_90"))
    found = compare(paired(Dump(on_gpu), Dump(for_target)))
    assert [row.kind for row in found] == ["nodes", "kernels", "remarks"]
    assert [(row.a, row.b) for row in found if row.kind == "remarks"] == [
        (("padded-matmul addmm_1 is padded (n 10 + 2)",), ("padded-matmul addmm_1 is not padded (n 10 + 2)",))
    ]


@pytest.mark.parametrize("with_frames", [True, False])
def test_graphs_are_paired_by_their_compile(with_frames: bool, recorded: Path, tmp_path: Path) -> None:
    """Two backward graphs, compiled in reverse on the GPU."""
    root = shutil.copytree(recorded / "gpt2-training", tmp_path / "copy")
    for path in () if with_frames else root.rglob("dynamo.jsonl"):
        path.unlink()
    pair = [Dump(root / part) for part in ("gpu_alone", "program/target_sm_90")]
    orders = [[(one.compile_id, one.kind) for one in dump.graphs()] for dump in pair]
    assert orders[0] != orders[1]
    pairs = paired(*pair).graphs
    assert len(pairs) == 4
    assert all(a and b and (a.compile_id, a.kind) == (b.compile_id, b.kind) for a, b in pairs)


def test_of_graphs_of_one_frame_the_same_come_together(tmp_path: Path) -> None:
    def dump(name: str, *targets: str) -> Dump:
        rows = [(graph(f"{target}.0"), node("n", f"aten.{target}.default", graph=f"{target}.0")) for target in targets]
        return made(tmp_path / name, FRAME, *(fact for pair in rows for fact in pair))

    pairs = paired(dump("a", "cos", "sin", "tan"), dump("b", "exp", "sin", "cos")).graphs
    assert [(a and a.graph, b and b.graph) for a, b in pairs] == [
        ("cos.0", "cos.0"),
        ("sin.0", "sin.0"),
        ("tan.0", "exp.0"),
    ]


GPU = Run(device="cuda (NVIDIA H200, sm_90)")
TARGET = Run(device="target sm_90", target="sm_90", environment={"HIP_VISIBLE_DEVICES": ""})


def guard(kind: str, source: str, *code: str) -> Guard:
    return Guard(graph="0/0", kind=kind, source=source, code=code)


def test_what_only_a_gpu_or_only_a_target_has(tmp_path: Path) -> None:
    autocast = "G['__import_torch'].is_autocast_enabled"
    sizes = "2 <= L['x'].size()[0]"
    a = compiled(
        tmp_path / "a",
        guard("BUILTIN_MATCH", autocast, f"___check_obj_id({autocast}, 139690563087680), type=<built-in function>"),
        guard("SHAPE_ENV", "", sizes, "8*L['x'].size()[0] <= 2147483647"),
        run=GPU,
        source="DeviceProperties(type='cuda', index=0, multi_processor_count=114)",
    )
    b = compiled(
        tmp_path / "b",
        guard("CLOSURE_MATCH", autocast),
        guard("CLOSURE_MATCH", "L['x'].__class__.to"),
        guard("CLOSURE_MATCH", "L['x'].__class__.to.__closure__[1].cell_contents"),
        guard("SHAPE_ENV", "", sizes),
        Remark(graph="0/0", kind="analysis", code="target-backward", message="…"),
        run=TARGET,
        source="DeviceProperties(type='cuda', index=0, multi_processor_count=132)",
    )
    assert kinds(a, b) == kinds(b, a) == []


def test_what_is_not_the_same_for_a_target(tmp_path: Path) -> None:
    """A function of the program's own, a condition that only the target has, another GPU, another kernel."""
    a = compiled(tmp_path / "a", guard("SHAPE_ENV", "", "L['x'].size()[0] <= 4"), run=GPU)
    b = compiled(
        tmp_path / "b",
        guard("CLOSURE_MATCH", "L['fn']"),
        guard("SHAPE_ENV", "", "L['x'].size()[0] <= 8"),
        Remark(graph="0/0", kind="missed", code="fallback", message="…"),
        run=Run(device="target sm_80", target="sm_80"),
        source="other",
    )
    assert kinds(a, b) == kinds(b, a) == ["kernels", "guards", "remarks", "settings"]


def test_two_targets_keep_all_that_differs(tmp_path: Path) -> None:
    a, b = (
        made(tmp_path / target, graph(), ended(), run=Run(device=f"target {target}", target=target))
        for target in ("sm_80", "sm_90")
    )
    (found,) = compare(paired(a, b))
    assert (found.a, found.b) == (("device target sm_80",), ("device target sm_90",))
