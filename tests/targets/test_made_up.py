"""A program for a target goes on behind what a GPU has and the CPU has not, and says which numbers are made up."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Remark
from tests.running import inspected, plain

pytestmark = pytest.mark.targets

PROGRAM = Path(__file__).parent / "programs" / "made_up.py"
FORWARD = "aten::_scaled_dot_product_flash_attention"


def _told(dump: Dump, code: str) -> list[Remark]:
    return [row for row in dump.rows(Remark) if row.code == code]


def _compiled(tmp_path: Path) -> Dump:
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
    assert not _told(dump, "target-failed")
    return dump


def test_attention_of_a_gpu_called_by_its_name(tmp_path: Path) -> None:
    done = inspected([PROGRAM, "attention"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    eager, compiled, read = done.stdout.splitlines()
    assert eager == compiled == "(2, 4, 64, 32) torch.bfloat16 (8192, 2048, 32, 1)"
    assert read == "none"
    assert done.stderr.count("made up") == 1
    assert f"the CPU can't compute {FORWARD}, {FORWARD}_backward: numbers after it are made up" in done.stderr
    dump = _compiled(tmp_path)
    assert [row.ids for row in _told(dump, "target-made-up")] == [(FORWARD,), (f"{FORWARD}_backward",)]
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    (read_at,) = _told(dump, "target-reads-made-up")
    assert ".item()" in lines[int(str(read_at.where).rpartition(":")[2]) - 1]
    assert {graph.kind for graph in dump.outermost()} == {"forward", "backward"}


def test_grouped_products_of_float8(tmp_path: Path) -> None:
    done = inspected([PROGRAM, "experts"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    assert done.stdout == "torch.Size([64, 96])\n"
    dump = _compiled(tmp_path)
    assert [row.ids for row in _told(dump, "target-made-up")] == [("aten::_scaled_grouped_mm",)]
    assert not _told(dump, "target-reads-made-up")


def test_products_of_float8_with_scales_for_blocks(tmp_path: Path) -> None:
    """What the CPU's kernel refuses, and a GPU's does not; what a GPU refuses, too, stays refused."""
    done = inspected([PROGRAM, "blocks"], tmp_path, options=["--target", "sm_90"])

    assert done.stdout == "torch.Size([256, 512])\n", done.stderr
    assert done.returncode == 1
    assert "_scaled_mm(rows, columns, torch.rand(3, 1)" in done.stderr
    assert done.stderr.count("Traceback") == 1
    assert [row.ids for row in _told(_compiled(tmp_path), "target-made-up")] == [("aten::_scaled_mm",)]


def test_an_operator_of_the_programs_own(tmp_path: Path) -> None:
    """What it writes to is made up, too; one that a GPU lacks as well ends the program."""
    done = inspected([PROGRAM, "own"], tmp_path, options=["--target", "sm_90"])

    assert done.stdout == "(2, 5) [0.0, 0.0, 0.0]\n", done.stderr
    assert done.returncode == 1
    assert "Could not run 'of_a_gpu::halved' with arguments from the 'CPU' backend" in done.stderr


def test_flex_attention_is_trained_with_its_own_numbers(tmp_path: Path) -> None:
    done = inspected([PROGRAM, "flex"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True\ntorch.Size([2, 4, 64])\n"
    assert "made up" not in done.stderr
    assert {graph.kind for graph in _compiled(tmp_path).outermost()} == {"forward", "backward"}


def test_a_program_that_names_no_gpu_ends_as_without_a_target(tmp_path: Path) -> None:
    alone = plain([PROGRAM, "cpu"], tmp_path)
    done = inspected([PROGRAM, "cpu"], tmp_path, options=["--target", "sm_90"])

    assert alone.returncode == done.returncode == 1
    assert f"Could not run '{FORWARD}' with arguments from the 'CPU' backend" in alone.stderr
    assert alone.stderr in done.stderr
