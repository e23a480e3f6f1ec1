"""Programs that take turns: one runs, the others wait."""

import fcntl
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspect_compile.launch.logged import Running, end, start
from inspect_compile.launch.tune import turns
from inspect_compile.launch.tune.turns import Player, take_turns

PROGRAM = """
import os, sys
fd, name, turns = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if name == "c":
    sys.exit(3)
for turn in range(turns):
    os.write(fd, b".")
    os.read(fd, 1)
    with open("order", "a") as file:
        file.write(name)
if name == "d":
    import time; time.sleep(60)
if name in "ef":
    os.write(fd, b"!")
    os.read(fd, 1)
    with open("order", "a") as file:
        file.write(name.upper())
"""


@pytest.fixture(autouse=True)
def _own_devices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other tests that search meanwhile have other devices."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", tmp_path.name)


def order(folder: Path, monkeypatch: pytest.MonkeyPatch, many: Sequence[tuple[str, int]], seconds: float) -> str:
    """The names of the programs, in the order in which they had their turns."""
    monkeypatch.chdir(folder)
    players = [Player() for _ in many]
    programs: list[Running] = []
    try:
        for (name, turns), player in zip(many, players, strict=True):
            argv = [sys.executable, "-c", PROGRAM, str(player.descriptor), name, str(turns)]
            start(sys.executable, argv, {}, folder / f"{name}.log", programs, [player.descriptor])
            player.started(programs[-1])
        take_turns(players, time.monotonic() + seconds)
        for program, player in zip(programs, players, strict=True):
            if player.is_timed:
                program.wait(60)
    finally:
        end(programs)
        for player in players:
            player.close()
    return Path("order").read_text()


def test_each_runs_in_its_turn_and_every_other_round_the_last_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert order(tmp_path, monkeypatch, [("a", 3), ("b", 3)], 60) == "abbaab"


def test_one_that_ends_early_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(tmp_path, monkeypatch, [("a", 3), ("c", 0), ("b", 1)], 60) == "abaa"


def test_one_that_never_comes_back_is_waited_for_no_longer_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert order(tmp_path, monkeypatch, [("d", 1), ("a", 1)], 5) in ("d", "da")


def test_one_that_was_timed_ends_when_all_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(tmp_path, monkeypatch, [("e", 1), ("a", 3)], 60) == "eaaaE"


def test_two_searches_have_no_turn_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(turns._lock_path(), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(2.0, fcntl.flock, (lock, fcntl.LOCK_UN)).start()
        began = time.monotonic()
        assert order(tmp_path, monkeypatch, [("a", 1)], 60) == "a"
        assert time.monotonic() - began >= 2.0
