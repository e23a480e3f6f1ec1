"""A program on its own terminal beside the TUI: its output is kept, keys are passed to it, and its end is noticed."""

import contextlib
import fcntl
import os
import pty
import queue
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from inspect_compile.launch.ready import Spotter
from inspect_compile.launch.replace import restore_signals

CHUNK = 1 << 20
"""Maximum number of bytes of output returned at once."""

NOT_STARTED = 125


class PtyProgram:
    """A program that leads a session on a new pty. Its output goes to the file `log`, and is read from there.

    `environment` is called in the new process, before it becomes the program, with its process id.
    """

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        environment: Callable[[int], Mapping[str, str]],
        log: Path,
        *,
        rows: int,
        columns: int,
        spotter: Spotter | None = None,
    ) -> None:
        """`spotter` sees what it prints."""
        self._log = log
        self._spotter = spotter
        self._file = open(log, "ab", buffering=0)  # noqa: SIM115 - closed by the thread that writes it
        self._keys: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._status: int | None = None
        self._lock = threading.Lock()
        self._sized = _winsize(rows, columns)
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            self._become(path, argv, environment)
        self._reader = threading.Thread(target=self._read, name="inspect-compile output", daemon=True)
        self._reader.start()
        threading.Thread(target=self._type, name="inspect-compile keys", daemon=True).start()

    def _become(self, path: str, argv: Sequence[str], environment: Callable[[int], Mapping[str, str]]) -> None:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, self._sized)
            variables = dict(environment(os.getpid()))
            restore_signals()
            os.execve(path, list(argv), variables)
        except BaseException as error:
            os.write(2, f"inspect-compile: {path}: can't be started ({error})\n".encode())
        finally:
            os._exit(NOT_STARTED)

    def output(self, offset: int) -> bytes:
        """Output from byte `offset` on, as far as there is any; at most CHUNK bytes."""
        try:
            with open(self._log, "rb") as file:
                file.seek(offset)
                return file.read(CHUNK)
        except OSError:
            return b""

    def write(self, keys: bytes) -> None:
        """Type `keys`. They are kept until the program reads."""
        self._keys.put(keys)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of its terminal; the program is notified by SIGWINCH."""
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, _winsize(rows, columns))

    def status(self) -> int | None:
        """None while it runs; then its exit status, or the negative number of the signal that ended it."""
        with self._lock:
            if self._status is None:
                pid, wait_status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._status = os.waitstatus_to_exitcode(wait_status)
            return self._status

    def terminate(self) -> None:
        """Ask it to end (SIGTERM)."""
        self._signal(signal.SIGTERM)

    def end(self, patience: float = 10.0) -> int:
        """Wait for its exit status: asks it to end, and kills it after `patience` seconds. The log is complete then."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.status() is not None:
                break
            self._signal(number)
            deadline = time.monotonic() + patience
            while self.status() is None and time.monotonic() < deadline:
                time.sleep(0.02)
        status = self.status()
        # A grandchild may keep the terminal open forever; its output is not waited for.
        self._reader.join(timeout=1.0)
        return -signal.SIGKILL if status is None else status

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.status() is None:
                os.kill(self.pid, number)

    def _read(self) -> None:
        with self._file as file:
            while True:
                try:
                    data = os.read(self._terminal, 1 << 16)
                except OSError:  # Linux reports this when the last process has closed the terminal
                    return
                if not data:
                    return
                if self._spotter is not None:
                    self._spotter.feed(data)
                try:
                    file.write(data)
                except OSError:  # a full disk must not stop the program, so its output is still read
                    continue

    def _type(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                keys = self._keys.get()
                while keys:
                    keys = keys[os.write(self._terminal, keys) :]


def terminal_size() -> tuple[int, int]:
    """Rows and columns of our own terminal."""
    size = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)
    return size.lines, size.columns


def _winsize(rows: int, columns: int) -> bytes:
    return struct.pack("HHHH", rows, columns, 0, 0)
