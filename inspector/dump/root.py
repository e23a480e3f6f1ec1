"""Makes the directory of a new dump."""

import os
from datetime import datetime
from pathlib import Path

from inspect_compile.dump import paths
from inspect_compile.errors import CommandError
from inspect_compile.interrupts import let_pass


def default_root(cwd: Path, pid: int, now: datetime) -> Path:
    """Where torch itself would put the debug output of this process."""
    return cwd / paths.BASE / f"run_{now:%Y_%m_%d_%H_%M_%S_%f}-pid_{pid}"


def claim_part(top: Path, rank: int | None, pid: int) -> Path:
    """A folder below `top` for a process of the run: the first that comes for a rank has the rank's own."""
    if rank is not None:
        own = top / paths.rank_folder(rank)
        try:
            own.mkdir(parents=True)
            return own
        except OSError as error:
            let_pass(error)
    return top / paths.process_folder(rank, pid)


def make_root(root: Path, *, exit_code: int = 2) -> None:
    """Make the directory `root`, or take it if it is empty. CommandError for one that can't be had."""
    try:
        problem = _made(root)
    except OSError as error:
        problem = f"can't be written ({error.strerror or error}); name another directory for the dump (--dump DIR)"
    if problem is not None:
        raise CommandError(f"{root}: {problem}", exit_code=exit_code)


def _made(root: Path) -> str | None:
    if not root.is_dir():
        if root.exists():
            return "a file; a dump needs a directory of its own, name a new one"
        root.mkdir(parents=True)
    entries = os.listdir(root)
    if paths.RUN in entries:
        return f"holds a dump already; name a new directory, or look at this one: inspect-compile show {root}"
    if entries:
        return f"not empty, and no dump ({min(entries)} is in it); name a new directory"
    if not os.access(root, os.W_OK | os.X_OK):
        return "can't be written; name another directory for the dump (--dump DIR)"
    return None
