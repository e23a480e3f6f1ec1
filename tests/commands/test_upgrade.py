"""`upgrade` as a user runs it: two environments are one, whose Python is started with another variable."""

import json
import os
import sys
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from tests.running import COMMAND, run, settle

PROGRAM = """\
import os
import sys
import torch

torch._inductor.config.max_fusion_size = int(os.environ.get("MOST", "64"))

def f(x):
    y = x.relu()
    return torch.softmax(y, -1), y.sum(0)

print(sys.argv[1:])
compiled = torch.compile(f)
for _ in range(4):
    compiled(torch.ones(64, 128))
"""

Capture = pytest.CaptureFixture[str]


def environment(path: Path, variable: str) -> Path:
    """An executable that starts our Python with a variable."""
    path.write_text(f'#!/bin/sh\n{variable} exec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path


def test_a_lost_fusion_is_told_with_what_to_do(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "step.py").write_text(PROGRAM)
    new = environment(tmp_path / "python-new", "MOST=1")
    words = ["upgrade", "--old", sys.executable, "--new", str(new), "--dump", "both", "step.py", "--its", "own"]
    done = run([*COMMAND, *words], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})
    for name in ("old", "new"):
        settle(tmp_path / "both" / name)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if "['--its', 'own']" in line] == ["['--its', 'own']"] * 2
    assert len(lines) <= 42, "the program's two lines, and a page of 40"
    assert any("time of one call of each graph" in line for line in lines)
    assert any(line.startswith("fusion ") and line.endswith("1") for line in lines), done.stdout
    assert any(" ▲ step.py:9  return torch.softmax(y, -1), y.sum(0)" in line for line in lines)
    assert "max_fusion_size: 64 → 1" in done.stdout or "max_fusion_size: default → 1" in done.stdout
    assert lines[-1].endswith("inspect-compile diff both/old both/new")
    measured = [Dump(tmp_path / "both" / name) for name in ("old", "new")]
    assert [dump.run.environment.get("MOST") for dump in measured] == [None, None], "not a variable that is kept"
    said = run([*COMMAND, "diff", "both/old", "both/new", "--json"], tmp_path)
    first = json.loads(said.stdout.splitlines()[0])
    assert (first["fact"], first["level"]) == ("difference_cause", "fusion")


def test_errors_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.py").write_text(PROGRAM)
    bare = tmp_path / "bare"
    bare.write_text('#!/bin/sh\necho \'{"tag": "cpython-399", "missing": [], "versions": {"torch": ""}}\'\n')
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\n")
    other = tmp_path / "other"
    other.write_text('#!/bin/sh\necho \'{"tag": "cpython-399", "missing": ["msgspec"], "versions": {"torch": "9"}}\'\n')
    for path in (bare, silent, other):
        path.chmod(0o755)
    for old, words, told in (
        ("nowhere", ["step.py"], "nowhere: no environment"),
        ("bare", ["step.py"], "there is no torch in this environment"),
        ("silent", ["step.py"], "does not answer as a Python does"),
        ("other", ["step.py"], "other -m pip install inspect-compile"),
        (sys.executable, ["none.py"], "there is no such script"),
        (sys.executable, [], "which program?"),
        (sys.executable, ["--", "torchrun", "step.py"], "a Python of its own"),
    ):
        assert main(["upgrade", "--old", old, "--new", sys.executable, *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert told in line
    assert not os.path.exists("torch_compile_debug")
