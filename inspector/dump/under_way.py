"""A lock that says whether the derived files of a dump are being made; it ends with the process that holds it."""

import contextlib
import os
import time
from pathlib import Path

from inspect_compile.dump import paths
from inspect_compile.dump.files import file_inside

try:
    import fcntl
except ImportError:  # on a system without such locks dumps are only read
    fcntl = None  # type: ignore[assignment]

_STEP = 0.02


def hold(root: Path) -> int:
    """A descriptor that holds the lock until all copies of it are closed. Raises OSError if it cannot be locked."""
    descriptor = os.open(root / paths.FINISHING, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def let_go(root: Path) -> None:
    """Release the lock."""
    with contextlib.suppress(OSError):
        (root / paths.FINISHING).unlink()


def wait(root: Path, seconds: float) -> None:
    """Wait until the lock is free, or `seconds` have passed."""
    deadline = time.monotonic() + seconds
    while True:
        file = file_inside(root, root / paths.FINISHING) if fcntl is not None else None
        if file is None:
            return
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                pass
            except OSError:  # a file system without locks
                return
        if time.monotonic() > deadline:
            return
        time.sleep(_STEP)
