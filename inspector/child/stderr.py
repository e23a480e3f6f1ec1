"""Writing on the process's stderr without changing what becomes of the program, and the stderr that lines of `--live`
go to: what was the process's when it began, or the cell of a notebook. Light: loaded at interpreter start.
"""

import fcntl
import os
import resource
import select
import signal
import stat
import sys
import threading

from inspect_compile.child.process import file_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_HIGH = 64
"""A descriptor of ours has no number that a program expects to be free."""


class Stderr:
    """Writes whole lines, at once or not at all, and raises nothing.

    It has a descriptor of its own, since pytest puts a file in the place of the program's. A fork gives that back: what
    leaves its terminal (a daemon) shall not hold on to it.
    """

    def __init__(self, heard: "Sequence[int]") -> None:
        """`heard`: device and number of the file that is stderr of the run's first process. What is read by another
        program, as a pipe from a child, gets no line.
        """
        self._file = tuple(heard)
        self._own: int | None = None
        found = file_at(2)
        if found is None:
            return
        if stat.S_ISREG(os.fstat(2).st_mode):  # a log of its own, as torchrun makes for each rank
            self._file = found
        if found == self._file:
            try:
                self._own = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, _HIGH)
            except OSError:  # no descriptor is free
                return

    def after_fork(self) -> None:
        """In the child."""
        if self._own is not None and self._is_ours(self._own):
            os.close(self._own)
        self._own = None

    def say(self, text: str) -> bool:
        """Write `text`, which ends with a line break; False if that is not possible now."""
        cell: Any = sys.stderr
        if type(cell).__module__.startswith("ipykernel."):
            cell.write(text)
            return True
        descriptor = 2 if self._own is None else self._own
        data = text.encode("utf-8", "backslashreplace")
        try:
            if not self._is_ours(descriptor) or not _is_ready(descriptor) or not has_room(descriptor, len(data)):
                return False
            with BrokenPipe() as may_write:
                return may_write and os.write(descriptor, data) == len(data)
        except (OSError, ValueError):
            return False

    def _is_ours(self, descriptor: int) -> bool:
        """The program may have closed it, and opened a file of its own in its place."""
        return file_at(descriptor) == self._file


class BrokenPipe:
    """A block in which a reader that has gone ends no program. False where this thread cannot see to that."""

    def __enter__(self) -> bool:
        self._is_default = signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL
        is_main = threading.current_thread() is threading.main_thread()
        if self._is_default and is_main:
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        return is_main or not self._is_default

    def __exit__(self, *_: object) -> None:
        if self._is_default and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def has_room(descriptor: int, size: int) -> bool:
    """True if so much may be written: beyond the limit on a file's size (RLIMIT_FSIZE) the process would get
    a signal.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    found = os.fstat(descriptor)
    if limit == resource.RLIM_INFINITY or not stat.S_ISREG(found.st_mode):
        return True
    return max(found.st_size, os.lseek(descriptor, 0, os.SEEK_CUR)) + size <= limit


def _is_ready(descriptor: int) -> bool:
    """Whether it takes a line without waiting."""
    poll = select.poll()  # other than select, it takes any number of a descriptor
    poll.register(descriptor, select.POLLOUT)
    return any(event & select.POLLOUT for _, event in poll.poll(0))
