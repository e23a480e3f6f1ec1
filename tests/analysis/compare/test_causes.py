"""Causes of differences: one planted change each, and the level, line, setting and kernels that are told of it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_compile.analysis.compare.causes.find import causes
from inspect_compile.analysis.compare.causes.records import LEVELS, Cause
from inspect_compile.analysis.compare.causes.texts import plain
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.analysis.compare.upgrade import upgrade
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode
from inspect_compile.graph import short
from tests.conftest import TESTS, run_once
from tests.handmade import GRAPH, ended, graph, kernel, made, node, operation
from tests.stages import KERNEL, LABELS, staged_dump

PROGRAM = Path(__file__).parent / "programs" / "planted.py"
SECONDS = 900
"""For all of the compiles, on a machine with other work."""
STAGES = ("ttir", "ttgir", "llir", "ptx", "sass")
AMD = TESTS / "data" / "stages" / "gfx942" / "XBLOCK128-w2-s1" / "triton_poi_fused_relu_0.amdgcn"
TUNED = TESTS / "data" / "h200-torch-2.11" / "tuned"


class Planted(NamedTuple):
    """What has to be told of a change."""

    level: str
    line: str
    says: str
    setting: str = ""
    than: str = "base"
    """The dump that it is compared with."""


PLANTED = {
    "edited": Planted("source", "model.py:12", "another line"),
    "edited_and_taken_back": Planted("source", "model.py:12", "another line"),
    "added": Planted("source", "model.py:14", "one more line"),
    "removed": Planted("source", "model.py:12", "one line fewer"),
    "in_helper": Planted("source", "model.py:6", "another line"),
    "broken": Planted("source", "model.py:14", "the graph breaks here: Call to `torch._dynamo.graph_break()`"),
    "dtype": Planted("dynamo", "model.py:10", "input L_x_ is bfloat16[128, 64], was float32[128, 64]"),
    "decomposition": Planted("aot", "model.py:12", "gelu"),
    "joint_pass": Planted("pass", "model.py:15", "joint_custom_post_pass changed this in joint_pass only"),
    "pass": Planted("pass", "model.py:15", "post_grad_custom_post_pass changed this in pass only"),
    "less_memory": Planted(
        "partition",
        "model.py:10",
        "the partitioner splits the graph differently",
        "activation_memory_budget",
        "training",
    ),
    "realized": Planted("realize", "model.py:10", "gets a buffer", "realize_opcount_threshold: "),
    "max_fusion_size": Planted("fusion", "model.py:10", "more operations than the limit", "max_fusion_size: "),
    "no_vectors": Planted("tiling", "model.py:10", "iterate differently", "cpp.simdlen: "),
    "other_code": Planted("codegen", "model.py:12", "generate different code", "relu_bug_TESTING_ONLY: ", "edited"),
}
"""Change → what is told of it. Each must be told once, with nothing beside it."""

TWO = {
    "edited_and_fusion": {("source", "model.py:12"), ("fusion", "model.py:10")},
    "helper_and_pass": {("source", "model.py:6"), ("pass", "model.py:15")},
    "added_and_vectors": {("source", "model.py:14"), ("tiling", "model.py:10")},
    "helper_and_fusion": {("source", "model.py:6"), ("fusion", "model.py:10")},
    "broken_and_edited": {("source", "model.py:14"), ("source", "model.py:12")},
    "broken_and_later": {("source", "model.py:14"), ("source", "model.py:6")},
}
"""Two changes in one program → the causes that are told, and no other."""

SAME = ("again", "moved", "reordered")
ALL = ("base", "training", *SAME, *PLANTED, *TWO)


@pytest.fixture(scope="module")
def recorded(shared_folder: Path, inductor_cache: Path) -> Path:
    """The program with each of the changes, compiled one after the other in one process."""
    folder = shared_folder / "planted_differences"
    words = [sys.executable, str(PROGRAM), str(folder), *ALL]

    def record(folder: Path) -> subprocess.CompletedProcess[str]:
        own = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
        own.pop("CI", None)  # where it is set, torch refuses to call an operator whose decomposition was taken out
        return subprocess.run(words, env=own, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)

    done = run_once(folder, record)
    assert done.returncode == 0, done.stderr
    return folder


def between(folder: Path, one: str, other: str) -> list[Cause]:
    return causes(paired(Dump(folder / one), Dump(folder / other)), (one, other))


@pytest.mark.parametrize("change", PLANTED)
def test_a_planted_change_is_told_at_its_level(recorded: Path, change: str) -> None:
    planted = PLANTED[change]
    (cause,) = between(recorded, planted.than, change)
    assert cause.level == planted.level, cause
    assert cause.where is not None
    assert short(cause.where) == planted.line
    assert planted.says in cause.message
    assert any(planted.setting in setting for setting in cause.settings) or not planted.setting
    assert planted.setting or not cause.settings
    assert cause.level in LEVELS


def test_a_changed_copy_of_the_program_has_another_name(recorded: Path, tmp_path: Path) -> None:
    for name, script in (("base", "model.py"), ("edited", "copy.py")):
        shutil.copytree(recorded / name, tmp_path / name)
        for table in (tmp_path / name).rglob("*.json*"):
            table.write_text(table.read_text("utf-8").replace("model.py", script), "utf-8")
        run = json.loads((tmp_path / name / "run.json").read_text("utf-8"))
        (tmp_path / name / "run.json").write_text(json.dumps(run | {"argv": [f"/somewhere/{script}"]}), "utf-8")

    (cause,) = between(tmp_path, "base", "edited")

    assert (cause.level, cause.message) == ("source", "the program has another line")
    assert cause.where is not None
    assert cause.old_where is not None
    assert (short(cause.where), short(cause.old_where)) == ("copy.py:12", "model.py:12")


@pytest.mark.parametrize("change", SAME)
def test_what_compiles_the_same_has_no_cause(recorded: Path, change: str) -> None:
    assert between(recorded, "base", change) == []


@pytest.mark.parametrize("change", TWO)
def test_two_changes_are_two_causes(recorded: Path, change: str) -> None:
    found = between(recorded, "base", change)
    told = [(cause.level, short(cause.where)) for cause in found if cause.where is not None]
    assert sorted(told) == sorted(TWO[change]), found
    settings = [setting for cause in found for setting in cause.settings]
    assert len(settings) == len(set(settings)), "a setting is told with the cause that it decides"
    for setting in settings:
        (cause,) = (one for one in found if setting in one.settings)
        assert cause.level in ("fusion", "tiling", "pass")
    launches = [sum(getattr(cause, side).launches for cause in found) for side in ("cost_a", "cost_b")]
    whole = upgrade([Dump(recorded / "base")], [Dump(recorded / change)], ("old", "new")).whole
    assert all(one <= most for one, most in zip(launches, whole.launches, strict=True)), "no kernel is counted twice"


def test_causes_of_the_same_kernels_say_so(recorded: Path) -> None:
    first, second = between(recorded, "base", "helper_and_pass")
    assert (first.shared_with, first.counted_with) == (("pass at model.py:15",), "")
    assert (second.shared_with, second.counted_with) == (("source at model.py:6",), "source at model.py:6")
    assert (second.kernels_a, second.kernels_b) == (first.kernels_a, first.kernels_b)
    assert (second.cost_a.launches, second.cost_b.launches) == (0, 0)
    assert (first.cost_a.launches, first.cost_b.launches) == (1, 1)
    alone = between(recorded, "base", "edited_and_fusion")
    assert [cause.shared_with for cause in alone] == [(), ()], "other kernels"


def test_costs_are_those_of_the_kernels_that_differ(recorded: Path) -> None:
    (fusion,) = between(recorded, "base", "max_fusion_size")
    assert fusion.cost_b.bytes > fusion.cost_a.bytes
    assert "score" in fusion.a[0]
    assert fusion.b == ("refused in round 2, memory score 512: exceeds max fusion",)
    (less,) = between(recorded, "base", "removed")
    assert (less.kernels_a, less.kernels_b) == (("extern_kernels.addmm", "cpp_fused_gelu_1"), ("extern_kernels.mm",))
    assert (less.cost_a.launches, less.cost_b.launches) == (2, 1)
    (dtype,) = between(recorded, "base", "dtype")
    assert dtype.places == 5, "every launch moves half as much"
    assert dtype.cost_b.bytes < 0.6 * dtype.cost_a.bytes


def test_both_ways_round(recorded: Path) -> None:
    """The other direction has the same levels, with the sides exchanged."""
    for change in ("edited", "removed", "pass", "max_fusion_size", "broken"):
        (there,), (back,) = between(recorded, "base", change), between(recorded, change, "base")
        assert (there.level, there.a, there.b) == (back.level, back.b, back.a)
        assert (there.cost_a, there.cost_b) == (back.cost_b, back.cost_a)


def test_as_a_user_reads_it(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(recorded)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["diff", "base", "edited"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 cause of differences between base and edited"
    assert lines[2] == " ▲ model.py:12  h = F.relu(h + b)"
    assert lines[3].split() == ["source", "the", "program", "has", "another", "line"]
    assert main(["diff", "base", "edited", "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["fact"] for row in rows if row["fact"] != "difference"] == ["difference_cause"]
    assert (rows[0]["level"], rows[0]["where"]["line"]) == ("source", 12)
    assert main(["diff", "base", "again"]) == 0
    assert capsys.readouterr().out.startswith("No difference: base and again compiled the same")


def test_another_winner_of_autotuning(tmp_path: Path) -> None:
    for name in ("one", "other"):
        shutil.copytree(TUNED, tmp_path / name)
    table = tmp_path / "other" / "torchinductor" / GRAPH.replace("forward_1.0", "inference_0.0") / "autotuning.jsonl"
    text = table.read_text()
    assert text.count('"label":"XBLOCK512-w2-s1","by"') == 1
    table.write_text(text.replace('"label":"XBLOCK512-w2-s1","by"', '"label":"XBLOCK512-w8-s1","by"'))
    (cause,) = between(tmp_path, "one", "other")
    assert (cause.level, cause.what) == ("autotune", "XBLOCK512-w8-s1")
    assert cause.kernels_a == ("triton_poi_fused_relu_1",)
    assert cause.a[0].startswith("XBLOCK512-w2-s1 0.0")


@pytest.mark.parametrize("stage", STAGES)
def test_another_stage_of_triton(tmp_path: Path, stage: str) -> None:
    """Every later stage differs, too: the first one is told."""
    one, other = (staged_dump(tmp_path / name) for name in ("one", "other"))
    assert causes(paired(one, other)) == []
    for later in STAGES[STAGES.index(stage) :]:
        (path,) = other.root.rglob(f"{LABELS[0]}/{KERNEL}.{later}")
        first, _, rest = path.read_text().partition("ret")
        path.write_text(f"{first}another\n ret{rest}" if rest else f"{first}\nanother\n")
    (cause,) = causes(paired(one, other))
    assert (cause.level, cause.what, cause.kernels_a) == (stage, LABELS[0], (KERNEL,))


def test_names_and_places_are_no_difference(tmp_path: Path) -> None:
    """Stages of a kernel that has another name, in a file that is longer, at another place."""
    one, other = (staged_dump(tmp_path / name) for name in ("one", "other"))
    changed = 0
    for path in other.root.rglob(f"{KERNEL}.*"):
        text = path.read_text()
        text = re.sub(r"\.loc\t(\d+) (\d+)", lambda found: f".loc\t{found[1]} {int(found[2]) + 3}", text)
        text = re.sub(r"\.py\":(\d+):", lambda found: f'.py":{int(found[1]) + 3}:', text)
        text = re.sub(r"DILocation\(line: (\d+)", lambda found: f"DILocation(line: {int(found[1]) + 3}", text)
        changed += text != path.read_text()
        path.write_text(text.replace("cab", "bac"))
    assert changed >= 3
    assert causes(paired(one, other)) == []


def test_one_text_of_a_kernel(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(recorded)
    assert main(["diff", "base", "edited", "--stage", "source", "cpp_fused_gelu_1"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("--- base cpp_fused_gelu_1 source\n+++ edited cpp_fused_relu_1 source\n@@ ")
    assert "erf" in "".join(line for line in out.splitlines() if line.startswith("-"))
    assert not any("KERNEL" in line for line in out.splitlines() if line[:1] in "+-")
    assert main(["diff", "base", "edited", "--stage", "source", "cpp_fused_relu_1"]) == 1, "a name of the other side"
    assert capsys.readouterr().out == out
    assert main(["diff", "base", "edited", "--stage", "source", "cpp_fused_native_layer_norm_0"]) == 0
    assert main(["diff", "base", "edited", "--stage", "ptx", "cpp_fused_gelu_1"]) == 2
    assert "a C++ kernel has no ptx" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    _, other = (staged_dump(tmp_path / name) for name in ("one", "other"))
    (path,) = other.root.rglob(f"{LABELS[0]}/{KERNEL}.ptx")
    path.write_text(path.read_text().replace("\tret;", "\ttrap;\n\tret;"))
    assert main(["diff", "one", "other", "--stage", "ptx", KERNEL, "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["text"].strip() for row in rows if row["sign"] in "+-"] == ["trap;"]
    assert main(["diff", "one", "other", "--stage", "sass", KERNEL]) == 0


def test_the_assembly_of_an_amd_gpu_has_no_places() -> None:
    """Of a kernel that drawn elsewhere in another file nothing differs; of another instruction that line."""
    text = AMD.read_text()
    moved = re.sub(r"(\.loc\s+\d+ )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 3}", text)
    moved = re.sub(r'(\.file\s+1 )"[^"]*" "[^"]*"', r'\1"/elsewhere" "other.py"', moved).replace(
        AMD.stem, "triton_other"
    )
    assert moved.count("triton_other") > 3
    old, new = (plain(one, "amdgcn", name) for one, name in ((text, AMD.stem), (moved, "triton_other")))
    assert old == new
    assert "s_endpgm" in old
    assert not re.search(r"\.loc|\.file|debug_|\.py", old)
    other = plain(moved.replace("s_endpgm", "s_nop 0\n\ts_endpgm"), "amdgcn", "triton_other")
    assert set(other.splitlines()) - set(old.splitlines()) == {"\ts_nop 0"}


def test_another_argument(tmp_path: Path) -> None:
    """Both sides call the same: what differs is told, not the same text twice."""
    one, other = (
        made(
            tmp_path / f"with_{number}",
            graph(),
            DynamoNode(graph="0/0", stage="dynamo", index=0, name="x", op="placeholder", target="x"),
            DynamoNode(
                graph="0/0",
                stage="dynamo",
                index=1,
                name="pow_1",
                op="call_function",
                target="operator.pow",
                inputs=("x",),
                arguments=f"%x, {number}",
            ),
            node("x", origins=("x",)),
            node(
                "pow_1", "aten.pow.Tensor_Scalar", arguments=f"%x, {number}", inputs=("x",), origins=("pow_1",), index=1
            ),
            operation("op0", nodes=("pow_1",), reads={}, writes={"buf0": 16}),
            kernel(f"k{number}", "op0", nodes=("pow_1",)),
            ended(),
        )
        for number in (2, 3)
    )
    (cause,) = causes(paired(one, other))
    assert (cause.level, cause.message) == ("dynamo", "the same line was traced to operator.pow with other arguments")
    assert (cause.a, cause.b) == (("operator.pow, of %x, 2",), ("operator.pow, of %x, 3",))


def test_another_function_of_a_library(tmp_path: Path) -> None:
    one, other = (
        made(
            tmp_path / name,
            graph(),
            node("x", op="placeholder"),
            node("mm", "aten.mm.default", arguments="%x, %x", inputs=("x",), index=1),
            operation("op0", kind="extern", nodes=("mm",), reads={"x": 16}, writes={"buf0": 16}),
            kernel(called, "op0", kind="extern", nodes=("mm",)),
            ended(),
        )
        for name, called in (("one", "extern_kernels.mm"), ("other", "extern_kernels.other_mm"))
    )
    (cause,) = causes(paired(one, other))
    assert (cause.level, cause.message) == ("library", "extern_kernels.other_mm is called, was extern_kernels.mm")


def test_an_upgrade_assigns_the_whole_difference(recorded: Path) -> None:
    base = [Dump(recorded / "base")]
    same = upgrade(base, [Dump(recorded / "again")], ("old", "new"))
    assert same.causes == ()
    assert same.whole.bytes[0] == same.whole.bytes[1] > 0
    assert {row.kind for row in same.shares} == {"library functions", "same code, different time"}
    assert all((row.bytes, row.launches, row.causes) == (0, 0, 0) for row in same.shares)
    lost = upgrade(base, [Dump(recorded / "max_fusion_size")], ("old", "new"))
    added = {row.kind: row.bytes for row in lost.shares}
    assert added["fusion"] == sum(added.values()) == lost.whole.bytes[1] - lost.whole.bytes[0] > 0
