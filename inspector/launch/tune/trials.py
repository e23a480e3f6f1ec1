"""Runs a program as a trial, and reads what it answered."""

import functools
import math
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.child.setting import Setting, python_path_without_bootstrap
from inspect_compile.errors import CommandError
from inspect_compile.facts.trials import ENDING, OPTIMIZER_STEP, RESULTS, Answer, Repeated, Request, Spent, TrialRun
from inspect_compile.launch.logged import Running, end, start, status_of
from inspect_compile.launch.replace import plain_environment
from inspect_compile.launch.tune.forks import IS_POSSIBLE, ForkError, Forks
from inspect_compile.launch.tune.turns import Player, take_turns

_CACHES: Final = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
"""What the trials compile, none of it found by other runs of the program."""


class Ran(msgspec.Struct, frozen=True):
    """One run."""

    answer: Answer | None
    """None where the program gave none."""
    failure: str
    """How it ended, if not well: its last line, its status."""
    seconds: float
    log: Path


class Recorded(NamedTuple):
    """A dump of a run."""

    root: Path
    options: Mapping[str, object]
    """Those of `run`, as plain values."""
    begin: Callable[[Path, Setting], None]
    """Writes its first record."""


class Trials:
    """The runs of one program, and their files."""

    def __init__(
        self, path: str, argv: Sequence[str], folder: Path, tell: Callable[[TrialRun], None], *, limit: float
    ) -> None:
        """`folder` is for their files; `tell` gets each run; `limit`: seconds that one may take."""
        self._path, self._argv, self._folder, self._tell = path, list(argv), folder, tell
        self._limit = limit
        self._count = 0
        self._forks: Forks | None = None
        self._ahead: list[str] = []
        """Answers whose modules are still to be tried to be loaded in what runs are forked from; empty for none."""
        self._why_not_ahead = "" if IS_POSSIBLE else "this system does not tell which files a process has open"
        self._first_began = time.monotonic()

    def first(self, record: Recorded, **asked: Any) -> Ran:
        """Run the program as it is, recorded; its results are those that others are compared with."""
        trial = self._trial(is_reference=True, **asked)
        setting = self._setting({"request": str(trial.file)}, record)
        record.begin(record.root, setting)
        began = time.monotonic()
        status = status_of(self._path, self._argv, self._environment(setting), trial.log, self._limit)
        ran = self._ran(trial, status, trial, began)
        if ran.answer is not None and ran.answer.loaded is None:
            self._why_not_ahead = "the program sets environment variables after it imports torch"
        self._ahead = [trial.request.answer, ""] if not self._why_not_ahead else [""] if IS_POSSIBLE else []
        return ran

    def _begin_forks(self) -> None:
        """Start what runs are forked from, once: with what the first run has loaded of torch's compiler, or at least
        with torch.
        """
        while self._ahead and self._forks is None:
            ahead = self._ahead.pop(0)
            serving = functools.partial(self._serving, ahead)
            self._forks = Forks(self._path, self._argv, serving, self._folder / "forked.log")
            if why_not := self._forks.why_not(self._limit):
                self._end_forks(why_not)

    def _serving(self, ahead: str, descriptor: int) -> dict[str, str]:
        return self._environment(self._setting({"serves": str(descriptor), "ahead": ahead}))

    def _end_forks(self, why: str, *, is_final: bool = False) -> None:
        """Each run is a process of its own from now on, unless what is next in `_ahead` can be forked."""
        if is_final:
            self._ahead.clear()
        if self._forks is not None:
            self._forks.close()
        self._forks, self._why_not_ahead = None, self._why_not_ahead or why

    def run(
        self, trials: Sequence[Mapping[str, Any]], *, at_once: bool, until: float = math.inf, **asked: Any
    ) -> list[Ran]:
        """Run one for each of `trials`, all of `Request` that they do not share, which is `asked`.

        At once they take turns; else each runs when the one before it has ended. `until`: the time of `time.monotonic`
        at which they are ended.
        """
        if not at_once:
            return [self._run([one], asked, until)[0] for one in trials]
        return self._run(trials, asked, until)

    def _run(self, trials: Sequence[Mapping[str, Any]], asked: Mapping[str, Any], until: float) -> list[Ran]:
        """Where the program as it is fails in a fork, it may need a process of its own."""
        self._begin_forks()
        try:
            ran = self._side_by_side(trials, asked, until)
        except ForkError:
            self._end_forks("the process that it is forked from has ended", is_final=True)
            return self._side_by_side(trials, asked, until)
        failed = [one.failure for own, one in zip(trials, ran, strict=True) if one.failure and not own["changes"]]
        if self._forks is None or not failed or time.monotonic() >= until:
            return ran
        self._end_forks(f"a fork failed: {failed[0]}", is_final=True)
        return self._side_by_side(trials, asked, until)

    def _side_by_side(self, trials: Sequence[Mapping[str, Any]], asked: Mapping[str, Any], until: float) -> list[Ran]:
        players = [Player() for _ in trials]
        made = [
            self._trial(turns=player.descriptor, **asked, **own) for own, player in zip(trials, players, strict=True)
        ]
        programs: list[Running] = []
        began = time.monotonic()
        until = min(until, began + self._limit * len(trials))
        try:
            for trial, player in zip(made, players, strict=True):
                self._start(trial, player.descriptor, programs)
                player.started(programs[-1])
            take_turns(players, until)
            return [
                self._ran(trial, _status(program, until), made[0], began)
                for trial, program in zip(made, programs, strict=True)
            ]
        finally:
            end(programs)
            for player in players:
                player.close()

    def _start(self, trial: "_Trial", turns: int, programs: list[Running]) -> None:
        if self._forks is not None:
            self._forks.start(trial.file, trial.log, turns, programs)
        else:
            environment = self._environment(self._setting({"request": str(trial.file)}))
            start(self._path, self._argv, environment, trial.log, programs, [turns])

    def _trial(self, **asked: Any) -> "_Trial":
        self._count += 1
        name = self._folder / f"{self._count:03}"
        request = Request(answer=f"{name}.json", asked=time.monotonic(), results=str(self._folder), **asked)
        file = Path(f"{name}.request.json")
        file.write_bytes(msgspec.json.encode(request))
        return _Trial(self._count, request, file, Path(f"{name}.log"))

    def _setting(self, trial: Mapping[str, str], record: Recorded | None = None) -> Setting:
        return Setting(
            root=str(self._folder if record is None else record.root),
            pid=0,
            python_path=python_path_without_bootstrap(os.environ),
            plain=True,
            quiet=True,
            run=None if record is None else record.options,
            trial={**trial, "is_recorded": "" if record is None else "yes"},
        )

    def _environment(self, setting: Setting) -> dict[str, str]:
        caches = {name: str(self._folder / folder) for name, folder in _CACHES.items()}
        return dict(setting.environment({**plain_environment(), **caches}))

    def _ran(self, trial: "_Trial", status: int | None, first: "_Trial", began: float) -> Ran:
        answer = None
        if (file := Path(trial.request.answer)).exists():
            answer = msgspec.json.decode(file.read_bytes(), type=Answer)
        now = time.monotonic()
        seconds = now - began
        self._tell(
            TrialRun(
                number=trial.number,
                beside=first.number,
                words=trial.words,
                began=trial.request.asked - self._first_began,
                seconds=now - trial.request.asked,
                stages=() if answer is None else (*answer.stages, Spent(ENDING, now - answer.answered)),
                cpu_seconds=0.0 if answer is None else answer.cpu_seconds,
                why_not_ahead=self._why_not_ahead,
            )
        )
        failure = "" if status == 0 else _last_words(trial.log, status, seconds)
        if answer is not None and answer.trouble:
            failure = answer.trouble
        return Ran(answer, failure, seconds, trial.log)

    def close(self) -> None:
        """End what runs are forked from; remove what was compiled and the results, which nothing else uses."""
        self._end_forks("")
        for folder in _CACHES.values():
            shutil.rmtree(self._folder / folder, ignore_errors=True)
        (self._folder / RESULTS).unlink(missing_ok=True)


class _Trial(NamedTuple):
    """One run that was asked for, and its files."""

    number: int
    request: Request
    file: Path
    """The request's."""
    log: Path

    @property
    def words(self) -> str:
        """What is changed."""
        changed = [one.words for one in self.request.changes]
        return ", ".join([*changed, "parameters moved by rounding"] if self.request.is_nudged else changed)


def _status(program: Running, until: float) -> int | None:
    try:
        return program.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None


def _last_words(log: Path, status: int | None, seconds: float) -> str:
    if status is None:
        return f"it was stopped after {seconds:.0f} s"
    with open(log, "rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        lines = file.read().decode(errors="replace").splitlines()
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    return f"it ended {how}" + (f": {last[:200]}" if last else "")


def step_of(answer: Answer, given: tuple[str, int] | None) -> Repeated:
    """What bounds a step of the program: an optimizer's step, else the compiled call that covers the run least often;
    `given`: the file and line of `--step`. Raises CommandError if nothing repeats."""
    found = [one for one in answer.repeated if one.since_compile > 1]
    if given is not None:
        file, line = given
        at = [one for one in found if one.where.line == line and Path(one.where.file).name == Path(file).name]
        if not at:
            there = ", ".join(f"{Path(one.where.file).name}:{one.where.line}" for one in found) or "none"
            raise CommandError(
                f"--step {file}:{line}: no compiled call or optimizer step repeats there; lines: {there}"
            )
        return max(at, key=lambda one: one.since_compile)
    if not found:
        raise CommandError(
            "this program has no steps: no compiled call or optimizer step repeats after the last compile"
        )
    found = [one for one in found if one.what == OPTIMIZER_STEP] or found
    most = max(one.since_compile * one.seconds for one in found)
    return min((one for one in found if one.since_compile * one.seconds >= most / 2), key=lambda one: one.since_compile)
