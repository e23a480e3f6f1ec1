"""The answers of README.md are what its commands print."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import torch

from tests.conftest import SAMPLES
from tests.running import COMMAND, plain, run

ROOT: Final = Path(__file__).resolve().parent.parent
PROGRAMS: Final = ROOT / "tests" / "lowering" / "intervention" / "closed_issues" / "programs"
COLUMNS: Final = "96"
"""Of the terminal that the lines are from: GitHub shows them without a scroll bar."""


class Step(NamedTuple):
    """A command, and lines of what it prints."""

    words: list[str]
    prints: list[str]


def answers() -> list[list[Step]]:
    """Of each block in which commands begin with `$`."""
    found = []
    for block in re.findall(r"^```\n(\$ .*?)^```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE):
        steps = re.split(r"^\$ inspect-compile ", block, flags=re.MULTILINE)[1:]
        split = [step.splitlines() for step in steps]
        found.append([Step(shlex.split(first), prints) for first, *prints in split])
    return found


def spaced(line: str) -> str:
    return " ".join(line.split())


def test_there_are_three() -> None:
    assert [answer[0].words[0] for answer in answers()] == ["numerics", "run", "show"]
    assert all(3 <= sum(len(step.prints) for step in answer) <= 6 for answer in answers())


@pytest.mark.targets
@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the answers are those of torch 2.13")
@pytest.mark.parametrize("answer", answers(), ids=lambda answer: answer[0].words[0])
def test_its_commands_print_it(answer: list[Step], tmp_path: Path) -> None:
    pytest.importorskip("triton", reason="one answer is for a GPU that is not here")
    (tmp_path / "samples").symlink_to(SAMPLES)
    for name in ("issue_193661.py", "both_ways.py"):
        shutil.copy(PROGRAMS / name, tmp_path)
    if answer[0].words[-1] == "LOG":
        done = plain(["samples/missed_fusion.py"], tmp_path, environment={"TORCH_TRACE": "trace"})
        assert done.returncode == 0, done.stderr
        next((tmp_path / "trace").iterdir()).rename(tmp_path / "LOG")
    for step in answer:
        own = {"COLUMNS": COLUMNS, "XDG_CACHE_HOME": str(tmp_path / "cache")}  # what is read of a log is kept there
        done = run([*COMMAND, *step.words], tmp_path, environment=own)
        printed = iter([spaced(line) for line in (done.stdout + done.stderr).splitlines()])
        assert done.returncode in (0, 1), done.stderr
        for line in step.prints:
            assert spaced(line) in printed, f"{line}\nin the order of:\n{done.stdout}{done.stderr}"
