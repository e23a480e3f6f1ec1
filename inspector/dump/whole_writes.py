"""Writes single files of a dump so that nothing incomplete is left, whatever the disk, a limit or the program does."""

import errno
import os
import stat
from pathlib import Path

from inspect_compile.at_start import AtStart
from inspect_compile.interrupts import is_program, let_pass

try:
    import resource
except ImportError:  # on such a system dumps are only read
    resource = None  # type: ignore[assignment]


def is_folder(path: Path) -> bool:
    """Is it there? `Path.is_dir` asks the function that a program may have put in place of `os.stat`."""
    try:
        return stat.S_ISDIR(AtStart.status(path).st_mode)
    except (OSError, ValueError) as error:
        let_pass(error)
        return False


def make(folder: Path) -> None:
    """Create it with its parents. `Path.mkdir` ignores every OSError, and a TimeoutError of the program's is one."""
    if is_folder(folder):
        return
    make(folder.parent)
    try:
        AtStart.make_folder(folder)
    except FileExistsError as error:
        let_pass(error)


def _allowed() -> int | None:
    """Maximum size that a file may have. Writing more would send the process a signal, which usually kills it."""
    if resource is None:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def _opened(path: Path, how: int) -> int:
    """A descriptor to write to. A pipe that nobody reads would keep the program waiting: it is refused."""
    return AtStart.open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | how, 0o666)


def append(path: Path, data: bytearray) -> None:
    """Append `data`; if the disk takes only a part, then whole lines: an incomplete one would corrupt the next.

    `data` is emptied once it is written. If an exception of the program's interrupts it, nothing is written.
    """
    file = _opened(path, os.O_APPEND)  # a file object asks the system twice as often
    try:
        before = AtStart.seek(file, 0, os.SEEK_END)
        done, end, allowed = 0, len(data), _allowed()
        if allowed is not None and before + end > allowed:
            end = data.rfind(b"\n", 0, max(allowed - before, 0)) + 1
        try:
            while done < end:
                done += AtStart.write(file, memoryview(data)[done:end])
            if done < len(data):
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        except BaseException as error:
            AtStart.truncate(file, before if is_program(error) else before + data.rfind(b"\n", 0, done) + 1)
            raise
        data.clear()
    finally:
        AtStart.close(file)


def write(path: Path, data: bytes) -> None:
    """Write all of it, or leave no file."""
    allowed = _allowed()
    if allowed is not None and len(data) > allowed:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    try:
        file = _opened(path, os.O_TRUNC)
        try:
            done = 0
            while done < len(data):
                done += AtStart.write(file, memoryview(data)[done:])
        finally:
            AtStart.close(file)
    except BaseException:
        _remove(path)
        raise


def _remove(path: Path) -> None:
    try:
        AtStart.remove(path)
    except FileNotFoundError as error:
        let_pass(error)
