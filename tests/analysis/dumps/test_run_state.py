"""What became of the recorded program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.facts import Run
from tests.handmade import made


def test_a_program_that_runs(tmp_path: Path) -> None:
    found = run_state(made(tmp_path, run=Run(status="running", pid=os.getpid())))

    assert found.is_growing
    assert str(os.getpid()) in found.text


def test_a_program_that_was_killed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    for pid in (gone.pid, 0):
        found = run_state(made(tmp_path / str(pid), run=Run(status="running", pid=pid)))
        assert not found.is_growing
        assert "killed" in found.text


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (Run(status="finished"), ""),
        (Run(status="finished", exit_code=0), ""),
        (Run(status="finished", exit_code=3), "the program ended with exit status 3"),
        (Run(status="raised", exit_code=1, exception="ValueError: no"), "the program ended with ValueError: no"),
        (Run(status="killed"), "the program was killed"),
        (Run(status="killed", exit_code=143), "the program was killed (exit status 143)"),
    ],
)
def test_a_program_that_ended(tmp_path: Path, run: Run, told: str) -> None:
    found = run_state(made(tmp_path, run=run))

    assert not found.is_growing
    assert found.text == told
