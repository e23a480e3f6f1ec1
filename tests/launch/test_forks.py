"""Runs of `tune` that begin as forks of the program, where it has imported torch: the same as from its beginning."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.child.run_config import RunConfig
from inspect_compile.commands.run import first_record
from inspect_compile.facts import TrialRun
from inspect_compile.facts.trials import Answer, Change
from inspect_compile.launch.tune.trials import Recorded, Trials, step_of

PROGRAM = Path(__file__).parent / "programs" / "before_torch.py"


class Runs:
    """The first run of the program, and others."""

    def __init__(self, folder: Path, *words: str) -> None:
        argv = [sys.executable, str(PROGRAM), *words]
        self.told: list[TrialRun] = []
        self._trials = Trials(sys.executable, argv, folder, self.told.append, limit=60)
        recorded = Recorded(folder, RunConfig().plain(), lambda root, setting: first_record(root, argv, setting))
        first = self._trials.first(recorded, seconds=0.2)
        assert first.answer is not None
        self.first, self._step = first.answer, step_of(first.answer, None)

    def run(self, *changes: Change, count: int = 1) -> list[Answer]:
        """Two beside each other."""
        asked: list[dict[str, Any]] = [{"changes": changes}] * count
        ran = self._trials.run(asked, at_once=True, step=self._step, windows=3, steps=5)
        assert [one.failure for one in ran] == [""] * count
        return [one.answer for one in ran if one.answer is not None]

    def end(self) -> None:
        self._trials.close()


@pytest.fixture
def runs(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    found = Runs(tmp_path, *request.param)
    yield found
    found.end()


@pytest.mark.parametrize("runs", [("plain", "7")], indirect=True)
def test_a_fork_computes_and_takes_turns_as_the_program_does(runs: Runs) -> None:
    both = runs.run(count=2)

    assert [row.why_not_ahead for row in runs.told] == ["", "", ""]
    assert all(len(one.windows) == 3 for one in both)
    assert all(one.distances and max(distance.error for distance in one.distances) == 0 for one in both)
    assert runs.first.loaded is not None
    assert "torch._dynamo.eval_frame" in runs.first.loaded.modules
    spent = {one.on: one.seconds for one in runs.told[1].stages}
    whole = {one.on: one.seconds for one in runs.told[0].stages}
    assert spent["importing torch"] < whole["importing torch"]
    assert sum(spent.values()) == pytest.approx(runs.told[1].seconds, abs=0.01)

    (changed,) = runs.run(Change("call", "torch.set_num_threads", 3))
    (plain,) = runs.run()
    assert (changed.threads, plain.threads) == (3, runs.first.threads)


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        (("thread",), "it starts a thread before it imports torch"),
        (("file",), f"it holds {PROGRAM} open when torch is imported"),
        (("variable",), "the program sets environment variables after it imports torch"),
        (("process",), "a fork failed: it ended with status 1: RuntimeError: another process"),
    ],
    indirect=["runs"],
    ids=["thread", "file", "variable", "process"],
)
def test_what_cannot_be_forked_runs_from_its_beginning(runs: Runs, why: str) -> None:
    (answer,) = runs.run()
    assert len(answer.windows) == 3
    assert runs.told[-1].why_not_ahead == why


@pytest.mark.parametrize("runs", [("plain",)], indirect=True)
def test_where_what_is_forked_is_gone_runs_begin_anew(runs: Runs) -> None:
    runs.run()
    forks = runs._trials._forks
    assert forks is not None
    os.kill(forks._programs[0].pid, 9)  # type: ignore[attr-defined]
    forks._programs[0].wait()
    (answer,) = runs.run()
    assert len(answer.windows) == 3
    assert runs.told[-1].why_not_ahead == "the process that it is forked from has ended"
