"""Makes the directory of a new dump."""

import os
import time
from datetime import datetime
from pathlib import Path

from inspect_compile.dump import Writer, paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import Run


def default_root(cwd: Path, pid: int, now: datetime) -> Path:
    """Where torch itself would put the debug output of this process."""
    return cwd / paths.BASE / f"run_{now:%Y_%m_%d_%H_%M_%S_%f}-pid_{pid}"


def make_root(root: Path, *, exit_code: int) -> None:
    """Make the directory `root`, or take it if it is empty. CommandError for one that can't be had."""
    try:
        if root.is_dir():
            entries = os.listdir(root)
            if paths.RUN in entries:
                raise CommandError(
                    f"{root}: holds a dump already; name a new directory, or look at this one: inspect-compile show {root}",
                    exit_code=exit_code,
                )
            if entries:
                raise CommandError(
                    f"{root}: not empty, and no dump ({entries[0]} is in it); name a new directory", exit_code=exit_code
                )
        elif root.exists():
            raise CommandError(
                f"{root}: a file; a dump needs a directory of its own, name a new one", exit_code=exit_code
            )
        else:
            root.mkdir(parents=True)
        if not os.access(root, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise CommandError(
            f"{root}: can't be written ({error.strerror or error}); name another directory with --dump DIR",
            exit_code=exit_code,
        ) from None


def first_account(root: Path, run: Run, *, exit_code: int) -> None:
    """Write the run.json that stands until the program's own process replaces it."""
    writer = Writer(root)
    writer.run(run)
    if writer.trouble is not None:
        raise CommandError(f"{writer.trouble}; name another directory with --dump DIR", exit_code=exit_code)


def started() -> str:
    """Now, as run.json has it."""
    return datetime.fromtimestamp(time.time()).astimezone().isoformat(timespec="milliseconds")
