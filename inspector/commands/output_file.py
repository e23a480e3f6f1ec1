"""Writes the file given with `-o`: completely or not at all, and never through a link that somebody put in
its place.
"""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspect_compile.dump.files import whole
from inspect_compile.errors import CommandError


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """The path to write to, which replaces `path` at the end; a pipe or a device such as /dev/stdout is written
    directly.

    Raises CommandError if that fails.
    """
    try:
        if is_device(path):
            yield path
            return
        with whole(path, path.suffix) as beside:
            yield beside
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror or error}); choose a place with -o") from None


def write(path: Path, data: bytes) -> None:
    """Write `data` to `path`, creating its folders. Raises CommandError."""
    write_parts(path, (data,))


def write_parts(path: Path, parts: Iterable[bytes]) -> int:
    """The same for data in pieces; returns their size in bytes."""
    size = 0
    with written(path) as file:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "wb" if file == path else "xb") as opened:
            for part in parts:
                size += opened.write(part)
    return size


def is_device(path: Path) -> bool:
    """True for what can only be written directly; also for /dev/stdout where that is redirected to a file: the link
    must not be replaced.
    """
    if path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",)):
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
