"""Opens files of a dump, which is untrusted: only regular files inside it, and only up to a size limit."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from inspect_compile.dump import paths

LONGEST_TEXT: Final = 64 << 20
MOST_LINES: Final = 1_000_000
"""Limits on a text, in bytes and lines: many times what Inductor writes for a graph."""

_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)


def plain_file(path: Path) -> IO[bytes] | None:
    """`path` opened for reading; None if it is missing, not readable, or no regular file, such as a pipe."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened: opening alone affects a device
            return None
        file = open(os.open(path, os.O_RDONLY | _NO_WAIT), "rb")  # noqa: SIM115 - it is the caller's
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    return None


@contextlib.contextmanager
def whole(path: Path, suffix: str = "") -> Iterator[Path]:
    """A file beside `path` that takes its place at the end, or goes where anything fails; OSError.

    Its name ends in `suffix`. Open it with "x": a link that waits there, in a stranger's folder, is not followed then.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp{suffix}")
    try:
        yield beside
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def file_inside(root: Path, path: Path) -> IO[bytes] | None:
    """The same for a file of the dump `root`; None also if a link or `..` leads out of it."""
    return plain_file(path) if paths.inside(root, path) else None


def text_inside(root: Path, path: Path) -> str | None:
    """A text of the dump `root`; its last line says so if it was cut off."""
    file = file_inside(root, path)
    if file is None:
        return None
    try:
        with file:
            data = file.read(LONGEST_TEXT + 1)
    except OSError:
        return None
    lines = MOST_LINES if data.count(b"\n") > MOST_LINES else None
    if lines is not None:
        data = b"\n".join(data.split(b"\n", MOST_LINES)[:MOST_LINES])
    text = data[:LONGEST_TEXT].decode("utf-8", "replace")
    if lines is not None or len(data) > LONGEST_TEXT:
        text += f"\n… {path.name} is longer: only its beginning is read"
    return text
