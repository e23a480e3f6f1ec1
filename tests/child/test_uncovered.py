"""coverage.py counts the files and lines of a recorded program that it counts without us, and none of ours."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.facts import Frame
from tests.running import COMMAND, run

pytest.importorskip("coverage", reason="coverage.py is not installed here")

PROGRAM = """
import subprocess, sys, torch
import helper

@torch.compile(backend="eager")
def f(x):
    if x.sum() > 100:
        return x
    return torch.relu(x) * 2

print(f(torch.ones(8)).sum().item(), helper.g(3))
if len(sys.argv) == 1:
    subprocess.run([sys.executable, "script.py", "again"], check=True)
"""
HELPER = """
def g(n):
    if n > 2:
        return n
    return 0
"""
RECORDED = (*COMMAND, "run", "--no-tui", "--dump", "dump")


def counted(folder: Path, words: list[str], **variables: str) -> dict[str, Any]:
    """What is counted of the program that these words run: of each file the lines and branches."""
    done = run([*words, "script.py"], folder, environment={"COVERAGE_CORE": "ctrace", **variables})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "16.0 3\n16.0 3\n"
    for step in (["combine", "-q"], ["json", "-q"]):
        done = run([sys.executable, "-m", "coverage", *step], folder)
        assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "coverage.json").read_text())["files"]
    return found


@pytest.mark.harmless
@pytest.mark.parametrize("way", ["left on", "module", "command"])
@pytest.mark.parametrize("settings", ["", "branch = true\nsource = .", "patch = subprocess"])
def test_the_same_is_counted(way: str, settings: str, tmp_path: Path) -> None:
    """Also where coverage.py counts what the program starts."""
    (tmp_path / "script.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / ".coveragerc").write_text(f"[run]\nparallel = true\n{settings}\n")
    words = ["coverage", "run"]
    alone = counted(tmp_path, [sys.executable, "-m", *words])
    if way == "left on":
        watched = counted(tmp_path, [sys.executable, "-m", *words], INSPECT_COMPILE="1", INSPECT_COMPILE_DUMPS="dump")
    elif way == "module":
        watched = counted(tmp_path, [*RECORDED, "-m", *words])
    else:
        watched = counted(tmp_path, [*RECORDED, "--", sys.executable, "-m", *words])
    assert {"helper.py", "script.py"} <= set(alone)
    assert watched == alone
    assert open_dump(tmp_path / "dump").rows(Frame)
