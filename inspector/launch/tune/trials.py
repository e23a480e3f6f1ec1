"""Runs a program as a trial, and reads what it answered."""

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.child.setting import Setting, python_path_without_bootstrap
from inspect_compile.errors import CommandError
from inspect_compile.facts.trials import OPTIMIZER_STEP, RESULTS, Answer, Change, Repeated, Request
from inspect_compile.launch.logged import status_of
from inspect_compile.launch.replace import plain_environment

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

    def __init__(self, path: str, argv: Sequence[str], folder: Path, *, limit: float) -> None:
        """`folder` is for their files; `limit`: seconds that a run may take."""
        self._path, self._argv, self._folder = path, list(argv), folder
        self._limit = limit
        self._count = 0

    def run(
        self,
        changes: Sequence[Change] = (),
        *,
        step: Repeated | None = None,
        record: "Recorded | None" = None,
        **asked: Any,
    ) -> Ran:
        """Run it with these changes. `record`: the dump that the run is recorded in; `asked`: more of `Request`."""
        self._count += 1
        name = self._folder / f"{self._count:03}"
        request = Request(answer=f"{name}.json", results=str(self._folder), changes=tuple(changes), step=step, **asked)
        asked_in = Path(f"{name}.request.json")
        asked_in.write_bytes(msgspec.json.encode(request))
        root = self._folder if record is None else record.root
        setting = Setting(
            root=str(root),
            pid=0,
            python_path=python_path_without_bootstrap(os.environ),
            plain=True,
            quiet=True,
            run=None if record is None else record.options,
            trial={"request": str(asked_in), "is_recorded": "" if record is None else "yes"},
        )
        if record is not None:
            record.begin(root, setting)
        log = Path(f"{name}.log")
        started = time.monotonic()
        caches = {name: str(self._folder / folder) for name, folder in _CACHES.items()}
        environment = setting.environment({**plain_environment(), **caches})
        status = status_of(self._path, self._argv, environment, log, self._limit)
        seconds = time.monotonic() - started
        answer = None
        if Path(request.answer).exists():
            answer = msgspec.json.decode(Path(request.answer).read_bytes(), type=Answer)
        failure = "" if status == 0 else _last_words(log, status, self._limit)
        if answer is not None and answer.trouble:
            failure = answer.trouble
        return Ran(answer, failure, seconds, log)

    def clean(self) -> None:
        """Remove what was compiled and the results, which nothing else uses: a GB of a large model."""
        for folder in _CACHES.values():
            shutil.rmtree(self._folder / folder, ignore_errors=True)
        (self._folder / RESULTS).unlink(missing_ok=True)


def _last_words(log: Path, status: int | None, limit: float) -> str:
    if status is None:
        return f"it was ended after {limit:.0f} s"
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
            "this program has no steps: no compiled call and no optimizer step repeats after the last compile"
        )
    found = [one for one in found if one.what == OPTIMIZER_STEP] or found
    most = max(one.since_compile * one.seconds for one in found)
    return min((one for one in found if one.since_compile * one.seconds >= most / 2), key=lambda one: one.since_compile)
