"""`tune` on a program of which it is known what helps, what changes its numbers, and what breaks it."""

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import TriedChange, Tuned
from inspect_compile.facts.trials import Answer
from inspect_compile.graph import Graphs
from inspect_compile.knowledge import tuning
from inspect_compile.launch.tune import search

PROGRAM = Path(__file__).parent / "programs" / "steps.py"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the program in a folder of its own, which is the current one; few settings are tried."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tuning, "_SETTINGS", (("torch._inductor.config.combo_kernels", True),))
    for name, count in (("_PAIRS", 2), ("_SAME", 2), ("_WINDOWS", 6)):
        monkeypatch.setattr(search, name, count)
    return Path(shutil.copy(PROGRAM, tmp_path / "steps.py"))


def tuned(*words: str) -> dict[str, TriedChange]:
    assert main(["tune", "--yes", "--dump", "d", *words]) == 0
    return {row.words: row for row in Dump(Path("d")).rows(TriedChange)}


def test_what_helps_is_kept_and_what_changes_the_numbers_is_not(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tuned("--minutes", "10", "steps.py", "100", "compiled")
    said = capsys.readouterr().out

    fused = rows["Slow(fused=True)"]
    assert fused.outcome == "kept"
    assert fused.gain is not None
    assert fused.plus_minus is not None
    assert 0.2 < fused.gain < 0.7
    assert fused.numbers.startswith(("equal", "rounding"))
    assert rows["torch.set_num_threads(1)"].outcome == "changes the numbers"
    broken = rows["torch._inductor.config.combo_kernels = True"]
    assert broken.outcome == "failed"
    assert "RuntimeError: no combo kernels here" in broken.why
    assert "together −" in said

    (whole,) = Dump(Path("d")).rows(Tuned)
    assert whole.step.name == "Slow"
    assert whole.step.where.line == 26
    assert whole.seconds > 0.04
    assert whole.eager is not None
    subprocess.run(["git", "apply", "tune.patch"], check=True)
    assert "optimizer = Slow(model.parameters(), lr=1e-3, fused=True)" in script.read_text()

    first = findings(Graphs(Dump(Path("d"))))[0]
    assert (first.kind, first.to_do) == ("tuned", "Slow(fused=True)")
    assert first.parts[0].where is not None
    assert first.parts[0].where.line == 19


def test_only_whether_compiling_pays(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its steps sleep far longer than they compute, compiled or not."""
    assert tuned("--minutes", "20", "--beside-eager", "steps.py", "100", "compiled") == {}
    said = capsys.readouterr().out
    (whole,) = Dump(Path("d")).rows(Tuned)
    assert whole.eager is not None
    assert whole.is_baseline
    saved = 1 - whole.seconds / whole.eager
    same = "With and without torch.compile a step takes the same"
    assert (same in said) == (abs(saved) <= whole.noise)
    assert ("torch.compile saves" in said) == (saved > whole.noise)
    assert not Path("tune.patch").exists()

    assert main(["tune", "--yes", "--minutes", "20", "--beside-eager", "steps.py", "100"]) == 2
    assert "no call of torch.compile in the program's own code" in capsys.readouterr().err


def test_a_program_without_steps_is_one_clear_line(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--yes", "--minutes", "1", "steps.py", "1"]) == 2
    assert "this program has no steps" in capsys.readouterr().err


def test_the_program_that_ends_by_itself_is_known_for_the_patch(script: Path) -> None:
    """Nothing of it has a line: the patch begins behind the import of torch in the file that was run."""
    main(["tune", "--yes", "--minutes", "0.3", "--dump", "d", "steps.py", "12", "compiled"])
    first = msgspec.json.decode(Path("d/trials/001.json").read_bytes(), type=Answer)
    assert not first.is_stopped
    assert Path(first.main).name == "steps.py"


def test_too_few_steps(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--yes", "--minutes", "1", "steps.py", "5"]) == 2
    assert "4 steps after the last compile (optimizer step Slow at steps.py:26) are too few" in capsys.readouterr().err


def test_a_program_that_fails(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("import torch\nraise ValueError('no data')\n")
    assert main(["tune", "--yes", "steps.py"]) == 2
    said = capsys.readouterr().err
    assert "the program cannot be tried: it ended with status 1: ValueError: no data" in said
    assert said.count("\n") == 1


def test_nobody_is_run_again_unasked(script: Path) -> None:
    words = [sys.executable, "-m", "inspect_compile", "tune", "steps.py", "100"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "confirm with --yes" in done.stderr
    assert not Path("torch_compile_debug").exists()
