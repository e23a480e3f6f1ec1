"""Whole commands that start at the same time: each dump is of one of them, and holds nothing of the others."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from inspect_compile.commands.program import BEFORE_START
from inspect_compile.dump import open_dump, paths
from tests.harmless.harness import SECONDS
from tests.running import COMMAND, last_words, settle, without_clock, without_last_words

STARTING = Path(__file__).parent / "starting"
PROGRAM = Path(__file__).parent / "programs" / "says_its_number.py"
STARTS = 4
NUMBERS = range(101, 101 + STARTS)
MULTIPLIED = re.compile(r"\b10\d\.0\b")


@dataclass(frozen=True)
class Started:
    """One of several starts, when it has ended."""

    number: int
    pid: int
    status: int
    stdout: str
    stderr: str


def start(
    cwd: Path, options: Sequence[str | Path], words: Sequence[str], variables: Mapping[str, str]
) -> list[Started]:
    """Start the program so many times at once."""
    environment = {**os.environ, **variables}
    commands = {
        number: [*COMMAND, "run", "--no-tui", *map(str, options), str(PROGRAM), str(number), *words]
        for number in NUMBERS
    }
    running = {
        number: subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for number, command in commands.items()
    }
    ended = []
    for number, process in running.items():
        stdout, stderr = process.communicate(timeout=SECONDS)
        ended.append(Started(number, process.pid, process.returncode, stdout, stderr))
    return ended


@cache
def alone(words: tuple[str, ...]) -> str:
    """What torch writes to stderr where the program runs uninspected: it may warn of this machine."""
    command = [sys.executable, str(PROGRAM), str(NUMBERS[0]), *words]
    variables = {**os.environ, "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS, check=True)
    return without_clock(ended.stderr)


def check_one(root: Path, started: Started, words: tuple[str, ...]) -> None:
    """The dump at `root` is this start's, and of nothing else."""
    assert (started.status, without_last_words(started.stderr)) == (0, alone(words))
    assert started.stdout.splitlines()[-1] == f"start {started.number}"
    dump = open_dump(root)
    assert (dump.run.pid, dump.run.status, dump.damaged) == (started.pid, "finished", 0)
    assert dump.run.argv[-1 - len(words) :] == (str(started.number), *words)
    assert dump.other_processes == ()
    if words:
        assert len(dump.graphs()) == 1
        text = "".join(path.read_text() for path in root.rglob("*") if path.suffix in (".py", ".txt"))
        assert set(MULTIPLIED.findall(text)) == {f"{started.number}.0"}


def check_refused(started: Started, root: Path) -> None:
    """It began nothing, and says so."""
    assert (started.status, started.stdout) == (BEFORE_START, "")
    (line,) = started.stderr.splitlines()
    assert line.startswith(f"inspect-compile: {root}: holds a dump already; name a new directory")


def one_round(folder: Path, words: tuple[str, ...], *, there: bool, in_step: bool) -> None:
    """Starts with one `--dump`: one has the directory, the others are told so before their programs begin."""
    root, meet = folder / "some" / "dump", folder / "meet"
    meet.mkdir(parents=True)
    if there:
        root.mkdir(parents=True)
    variables = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
    if in_step:
        variables |= {
            "PYTHONPATH": str(STARTING),
            "STARTS_AT": str(root),
            "STARTS_MEET": str(meet),
            "STARTS": str(STARTS),
        }
    ended = start(folder, ("--dump", root), words, variables)
    settle(root)
    assert sorted(started.status for started in ended) == [0, *[BEFORE_START] * (STARTS - 1)]
    for started in ended:
        if started.status:
            check_refused(started, root)
        else:
            check_one(root, started, words)
    if in_step:
        met = {path.name: len(list(path.iterdir())) for path in meet.iterdir()}
        assert met == {"os.listdir": STARTS, "open": STARTS, **({} if there else {"os.mkdir": STARTS})}


def each_its_own(folder: Path, words: tuple[str, ...]) -> None:
    """Starts without `--dump`, in one directory: each has a dump of its own."""
    ended = start(folder, (), words, {})
    settle(folder / paths.BASE)
    roots = {int(path.name.rpartition("_")[2]): path for path in (folder / paths.BASE).glob("run_*")}
    assert set(roots) == {started.pid for started in ended}
    for started in ended:
        assert any(str(roots[started.pid].relative_to(folder)) in line for line in last_words(started.stderr))
        check_one(roots[started.pid], started, words)


@pytest.mark.parametrize("there", [False, True])
def test_one_has_the_directory(tmp_path: Path, there: bool) -> None:
    """Where all of them have seen that it is empty."""
    one_round(tmp_path, (), there=there, in_step=True)


def test_without_a_name_each_has_a_directory(tmp_path: Path) -> None:
    each_its_own(tmp_path, ())


@pytest.mark.harmless
@pytest.mark.parametrize("turn", range(20))
def test_one_compiles(tmp_path: Path, turn: int) -> None:
    """As they come, and in step; in a directory that is there, and in one that is not."""
    one_round(tmp_path, ("compiles",), there=turn % 2 == 1, in_step=turn % 4 >= 2)


@pytest.mark.harmless
@pytest.mark.parametrize("turn", range(2))
def test_without_a_name_all_compile(tmp_path: Path, turn: int) -> None:
    each_its_own(tmp_path, ("compiles",))
