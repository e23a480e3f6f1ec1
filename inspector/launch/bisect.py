"""Runs a person's check over and over, each time with other fusions allowed, and finds the first one that it minds."""

import os
import subprocess
import time
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.child.setting import Setting, python_path_without_door
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Counted
from inspect_compile.launch.replace import plain_environment, restore_signals

ALL: Final = "all"
NONE: Final = "none"
_PATIENCE: Final = 10.0
"""Seconds in which a check that is to end may do so."""


class Part(NamedTuple):
    """What one process of a run fused, in order."""

    root: Path
    fusions: tuple[Counted, ...]


@dataclass(frozen=True)
class Run:
    """One run of the check."""

    name: str
    root: Path
    status: int
    """Its exit status, negative for the signal that ended it."""
    seconds: float
    parts: tuple[Part, ...]
    """Its processes that fused anything."""
    trouble: str
    """Why its fusions were not the ones that were asked for; empty where they were."""

    @property
    def fails(self) -> bool:
        """Does the check say that the result is wrong?"""
        return self.status != 0

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.root / paths.SCRIPT_LOG


class Check:
    """The command, and where its runs are recorded."""

    def __init__(self, path: str, argv: Sequence[str], root: Path, *, plain: bool) -> None:
        """`plain`: `argv` is a Python program that is run as it is, else a command that starts some."""
        self._path = path
        self._argv = list(argv)
        self._root = root
        self._plain = plain

    def run(self, name: str, begin: Callable[[Path, Setting], None], **steer: object) -> Run:
        """Run it, recorded in a folder of that name; `steer` as `lowering/steer.py` is told it.

        `begin` puts the first run.json there. KeyboardInterrupt ends it before it goes on.
        """
        root = self._root / name
        root.mkdir()
        setting = Setting(
            root=str(root),
            pid=0,
            python_path=python_path_without_door(os.environ),
            plain=self._plain,
            quiet=True,
            argv=None,
            steer={"limit": None, **steer},
        )
        begin(root, setting)
        started = time.monotonic()
        with open(root / paths.SCRIPT_LOG, "wb") as log:
            program = subprocess.Popen(
                self._argv,
                executable=self._path,
                env=setting.environment(plain_environment()),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=restore_signals,
            )
            try:
                status = program.wait()
            except BaseException:
                _end(program)
                raise
        seconds = time.monotonic() - started
        parts, trouble = _read(root)
        return Run(name, root, status, seconds, parts, trouble)


def first_failing(count: int, fails: Callable[[int], bool]) -> int:
    """The number of fusions with which the check begins to fail: it succeeds with none and fails with `count`."""
    passes = 0
    while count - passes > 1:
        middle = (passes + count) // 2
        if fails(middle):
            count = middle
        else:
            passes = middle
    return count


def is_start_of(few: Run, all_: Run, count: int, graph: str) -> bool:
    """Did `few`, which was allowed `count` fusions, do the first ones of `all_`, each process its own?"""
    return _starts(few, count, graph) == _starts(all_, count, graph)


def at(run: Run, number: int, graph: str) -> list[tuple[Part, Counted]]:
    """The fusion with that number in each process; those that are the same in several, as in ranks, once."""
    found: dict[tuple[str, str, str], tuple[Part, Counted]] = {}
    for part in run.parts:
        rows = of_graph(part.fusions, graph)
        if number <= len(rows):
            row = rows[number - 1]
            found.setdefault((row.graph, row.a, row.b), (part, row))
    return list(found.values())


def most(run: Run, graph: str) -> int:
    """How many fusions the process did that did most."""
    return max((len(of_graph(part.fusions, graph)) for part in run.parts), default=0)


def of_graph(rows: Sequence[Counted], graph: str) -> list[Counted]:
    """Those of `graph` and of the graphs nested in it; all where none is asked for."""
    return [row for row in rows if not graph or row.graph == graph or row.graph.startswith(f"{graph}/")]


def _starts(run: Run, count: int, graph: str) -> "Tally[tuple[tuple[str, str, str], ...]]":
    lists = ([(row.graph, row.a, row.b) for row in of_graph(part.fusions, graph)[:count]] for part in run.parts)
    return Tally(tuple(rows) for rows in lists if rows)


def _read(root: Path) -> tuple[tuple[Part, ...], str]:
    dump = Dump(root)
    found, trouble = [], ""
    for path in (root, *dump.other_processes):
        part = Dump(path)
        trouble = trouble or next((note for note in part.run.notes if note.startswith("fusion could not")), "")
        if rows := part.rows(Counted):
            found.append(Part(path, tuple(rows)))
    return tuple(found), trouble


def _end(program: "subprocess.Popen[bytes]") -> None:
    """It has heard the Ctrl-C too, where it came from a terminal."""
    for ask in (program.terminate, program.kill):
        ask()
        try:
            program.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue
        return


def denial(row: Counted, operations: Callable[[str], Sequence[str]]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """What keeps this fusion from being done, as `lowering/steer.py` is told it."""
    return row.graph, tuple(operations(row.a)) or (row.a,), tuple(operations(row.b)) or (row.b,)
