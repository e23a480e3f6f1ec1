"""Runs a user's check repeatedly with different fusions allowed, and finds the first fusion that makes it fail."""

import os
import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.child.setting import Setting, python_path_without_bootstrap
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Counted
from inspect_compile.launch.logged import status_of
from inspect_compile.launch.replace import plain_environment

ALL: Final = "all"
NONE: Final = "none"


class ProcessFusions(NamedTuple):
    """The fusions of one process of a run, in order."""

    root: Path
    fusions: tuple[Counted, ...]


@dataclass(frozen=True)
class Run:
    """One run of the check."""

    name: str
    root: Path
    status: int
    """Exit status; negative for a signal."""
    seconds: float
    parts: tuple[ProcessFusions, ...]
    """The processes that fused anything."""
    trouble: str
    """Why its fusions were not the requested ones; empty if they were."""

    @property
    def fails(self) -> bool:
        """True if the check says that the result is wrong."""
        return self.status != 0

    @property
    def log(self) -> Path:
        """Path of its output."""
        return self.root / paths.SCRIPT_LOG


class Check:
    """The command, and where its runs are recorded."""

    def __init__(
        self, path: str, argv: Sequence[str], root: Path, *, plain: bool, numerics: Mapping[str, object] | None = None
    ) -> None:
        """`plain`: `argv` is a Python program, else a command that starts some. `numerics` is that of `Setting`."""
        self._path = path
        self._argv = list(argv)
        self._root = root
        self._plain = plain
        self._numerics = numerics

    def run(self, name: str, begin: Callable[[Path, Setting], None], **steer: object) -> Run:
        """Run the check, recorded in a folder of that name; `steer` has the arguments of
        `lowering/intervention/steer.py`.

        `begin` writes the first run.json there. KeyboardInterrupt ends the check and propagates.
        """
        root = self._root / name
        root.mkdir()
        setting = Setting(
            root=str(root),
            pid=0,
            python_path=python_path_without_bootstrap(os.environ),
            plain=self._plain,
            quiet=True,
            argv=None,
            steer={"limit": None, **steer},
            numerics=self._numerics,
        )
        begin(root, setting)
        started = time.monotonic()
        environment = setting.environment(plain_environment())
        status = status_of(self._path, self._argv, environment, root / paths.SCRIPT_LOG)
        assert status is not None  # without a limit
        seconds = time.monotonic() - started
        parts, trouble = _read(root)
        return Run(name, root, status, seconds, parts, trouble)


def first_failing(count: int, fails: Callable[[int], bool]) -> int:
    """The number of fusions from which on the check fails: it succeeds with none and fails with `count`."""
    passes = 0
    while count - passes > 1:
        middle = (passes + count) // 2
        if fails(middle):
            count = middle
        else:
            passes = middle
    return count


def is_start_of(few: Run, all_: Run, count: int, graph: str) -> bool:
    """True if `few`, which was allowed `count` fusions, did the first ones of `all_`, counted in each process."""
    return _starts(few, count, graph) == _starts(all_, count, graph)


def at(run: Run, number: int, graph: str) -> list[tuple[ProcessFusions, Counted]]:
    """The fusion with that number in each process; equal ones, as in ranks, once."""
    found: dict[tuple[str, str, str], tuple[ProcessFusions, Counted]] = {}
    for part in run.parts:
        rows = of_graph(part.fusions, graph)
        if number <= len(rows):
            row = rows[number - 1]
            found.setdefault((row.graph, row.a, row.b), (part, row))
    return list(found.values())


def most(run: Run, graph: str) -> int:
    """Maximum number of fusions that one process did."""
    return max((len(of_graph(part.fusions, graph)) for part in run.parts), default=0)


def of_graph(rows: Sequence[Counted], graph: str) -> list[Counted]:
    """The fusions of `graph` and its nested graphs; all if `graph` is empty."""
    return [row for row in rows if not graph or row.graph == graph or row.graph.startswith(f"{graph}/")]


def _starts(run: Run, count: int, graph: str) -> "Tally[tuple[tuple[str, str, str], ...]]":
    lists = ([(row.graph, row.a, row.b) for row in of_graph(part.fusions, graph)[:count]] for part in run.parts)
    return Tally(tuple(rows) for rows in lists if rows)


def _read(root: Path) -> tuple[tuple[ProcessFusions, ...], str]:
    dump = Dump(root)
    found, trouble = [], ""
    for path in (root, *dump.other_processes):
        part = Dump(path)
        trouble = trouble or next((note for note in part.run.notes if note.startswith("fusion could not")), "")
        if rows := part.rows(Counted):
            found.append(ProcessFusions(path, tuple(rows)))
    return tuple(found), trouble


def denial(row: Counted, operations: Callable[[str], Sequence[str]]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The denial that prevents this fusion, as arguments of `lowering/intervention/steer.py`."""
    return row.graph, tuple(operations(row.a)) or (row.a,), tuple(operations(row.b)) or (row.b,)
