"""Creates the directory of a new dump."""

import os
from datetime import datetime
from pathlib import Path

import msgspec

from inspect_compile.dump import paths
from inspect_compile.errors import DumpError
from inspect_compile.facts import Run
from inspect_compile.interrupts import let_pass


def default_root(cwd: Path, pid: int, now: datetime) -> Path:
    """Where torch itself would put the debug output of this process."""
    return cwd / paths.BASE / f"run_{now:%Y_%m_%d_%H_%M_%S_%f}-pid_{pid}"


def claim_part(top: Path, rank: int | None, pid: int) -> Path:
    """A new folder below `top` for a process of the run: the first process of a rank gets the rank's folder."""
    if rank is not None:
        own = top / paths.rank_folder(rank)
        try:
            own.mkdir(parents=True)
            return own
        except OSError as error:
            let_pass(error)
    for number in range(1, MOST_PROGRAMS):
        own = top / paths.process_folder(rank, pid, number)
        try:
            own.mkdir(parents=True)
            return own
        except FileExistsError:
            continue
        except OSError as error:
            let_pass(error)
            break
    return own


MOST_PROGRAMS = 1000
"""Maximum number of programs that one process can become in turn."""


def make_root(root: Path, *, is_dump: bool = True) -> None:
    """Create the directory `root`, or take it if it is empty, for this process only; it then has a run.json.

    With `is_dump=False` it is a directory for several dumps. Raises DumpError if it cannot be used.
    """
    try:
        _make(root, is_dump=is_dump)
    except OSError as error:
        raise DumpError("not writable", f"can't be written ({error.strerror or error})", str(root)) from None


def _make(root: Path, *, is_dump: bool) -> None:
    if not root.is_dir():
        try:
            root.mkdir(parents=True, exist_ok=True)  # another process may have created it just now, without claiming it
        except FileExistsError:
            raise DumpError("not empty", "it is a file; a dump needs its own directory", str(root)) from None
    entries = os.listdir(root)
    if entries and paths.RUN not in entries:
        raise DumpError("not empty", f"not empty, and not a dump ({min(entries)} is in it)", str(root))
    if not entries and not os.access(root, os.W_OK | os.X_OK):
        raise DumpError("not writable", "can't be written", str(root))
    taken = DumpError("taken", "holds a dump already", str(root))
    if entries:
        raise taken
    if is_dump and not write_first(root, Run(pid=os.getpid())):
        raise taken


def write_first(root: Path, run: Run) -> bool:
    """Write the run.json of a dump that has none; False if it has one by now. Raises OSError."""
    try:
        with open(root / paths.RUN, "xb") as file:
            file.write(msgspec.json.encode(run))
    except FileExistsError:
        return False
    return True
