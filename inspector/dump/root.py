"""Creates the directory of a new dump."""

import os
from datetime import datetime
from pathlib import Path

import msgspec

from inspect_compile.dump import paths
from inspect_compile.errors import CommandError
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


def make_root(root: Path, *, exit_code: int = 2, is_dump: bool = True) -> None:
    """Create the directory `root`, or take it if it is empty, for this process only; it then has a run.json.

    With `is_dump=False` it is a directory for several dumps. Raises CommandError if it cannot be used.
    """
    try:
        problem = _made(root, is_dump=is_dump)
    except OSError as error:
        problem = f"can't be written ({error.strerror or error}); name another directory for the dump (--dump DIR)"
    if problem is not None:
        raise CommandError(f"{root}: {problem}", exit_code=exit_code)


def _made(root: Path, *, is_dump: bool) -> str | None:
    if not root.is_dir():
        try:
            root.mkdir(parents=True, exist_ok=True)  # another process may have created it just now, without claiming it
        except FileExistsError:
            return "a file; a dump needs a directory of its own, name a new one"
    entries = os.listdir(root)
    if paths.RUN in entries:
        return _taken(root)
    if entries:
        return f"not empty, and no dump ({min(entries)} is in it); name a new directory"
    if not os.access(root, os.W_OK | os.X_OK):
        return "can't be written; name another directory for the dump (--dump DIR)"
    if is_dump:
        try:
            with open(root / paths.RUN, "xb") as file:
                file.write(msgspec.json.encode(Run(pid=os.getpid())))
        except FileExistsError:
            return _taken(root)
    return None


def _taken(root: Path) -> str:
    return f"holds a dump already; name a new directory, or look at this one: inspect-compile show {root}"
