"""Notes when a program is ready: a line that it prints has a text, or a port is listened on.

What it prints to is the same for the program: a file is read beside it, a pipe is passed on through another pipe, by a
process that is no child of the program's. A terminal is left alone.
"""

import contextlib
import os
import re
import select
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import msgspec

from inspect_compile.dump import paths, whole_writes
from inspect_compile.facts import Ready

_EACH: Final = 0.05
"""Seconds between two looks at a file or a port."""
_CHUNK: Final = 1 << 16
_LISTENS: Final = "0A"
"""The state of a socket that is listened on, in /proc/net/tcp."""
_PORT: Final = re.compile(r":(\d{1,5})")
_NAMES: Final = {1: "stdout", 2: "stderr"}


class Spotter:
    """Looks for a text in what comes in pieces."""

    def __init__(self, text: str, found: Callable[[float], None]) -> None:
        """`found` is called once, with the moment in seconds since the epoch."""
        self._wanted = text.encode("utf-8", "surrogateescape")
        self._found: Callable[[float], None] | None = found
        self._rest = b""

    @property
    def is_done(self) -> bool:
        """Was it there?"""
        return self._found is None

    def feed(self, data: bytes) -> None:
        """The next piece."""
        if self._found is None:
            return
        text = self._rest + data
        if self._wanted in text:
            self._found(time.time())
            self._found = None
        self._rest = text[-len(self._wanted) + 1 :] if len(self._wanted) > 1 else b""


class Stream(NamedTuple):
    """An open file that the program prints to, under one or two numbers."""

    descriptors: tuple[int, ...]
    mode: int

    @property
    def name(self) -> str:
        """`stdout`, `stderr` or both."""
        return ", ".join(_NAMES[number] for number in self.descriptors)


def port_of(text: str) -> int | None:
    """The port that `:8000` names; None for any other text."""
    found = _PORT.fullmatch(text)
    return int(found[1]) if found and 0 < int(found[1]) < 1 << 16 else None


def noted(root: Path, text: str, where: str) -> Callable[[float], None]:
    """What notes in the dump at `root` that it was seen there."""
    path = _file(root)
    return lambda at: _append(path, Ready(text=text, at=at, where=where))


def ask(root: Path, text: str) -> None:
    """Note what is looked for."""
    _append(_file(root), Ready(text=text))


def _file(root: Path) -> Path:
    """The file that all processes of a run append to."""
    return (root / paths.table(Ready.table, None)).absolute()


def _append(path: Path, row: Ready) -> None:
    with contextlib.suppress(OSError):
        whole_writes.append(path, bytearray(msgspec.json.encode(row) + b"\n"))


def forget(root: Path) -> None:
    """Nothing was started."""
    _file(root).unlink(missing_ok=True)


def watch(root: Path, text: str) -> list[str]:
    """Look for `text` until this process, or the program that it becomes, has ended; returns in sentences where that is
    not done.
    """
    ask(root, text)
    port = port_of(text)
    if port is not None:
        if not Path("/proc/net/tcp").exists():
            return ["only Linux says which ports are listened on"]
        if is_listened_on(port):
            return [f"port {port} is in use already"]
        _apart(lambda: _follow_port(port, noted(root, text, "port")))
        return []
    said = []
    for stream in _streams():
        note = noted(root, text, stream.name)
        if stat.S_ISREG(stream.mode):
            file = os.open(f"/dev/fd/{stream.descriptors[0]}", os.O_RDONLY | os.O_CLOEXEC)
            _apart(lambda file=file, note=note: _follow_file(file, Spotter(text, note)), keep=(file,))  # type: ignore[misc]
            os.close(file)
        elif stat.S_ISFIFO(stream.mode):
            _pass_through(stream, Spotter(text, note))
        else:
            kind = "a terminal" if os.isatty(stream.descriptors[0]) else "neither a file nor a pipe"
            said.append(f"{stream.name}: {kind}, which cannot be watched without changing it for the program")
    return said


def is_listened_on(port: int) -> bool:
    """True if any process of this machine listens on that TCP port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if len(words) > 3 and words[3] == _LISTENS and words[1].endswith(f":{port:04X}"):
                    return True
    return False


def _streams() -> Iterator[Stream]:
    found: dict[tuple[int, int], list[int]] = {}
    modes: dict[tuple[int, int], int] = {}
    for number in _NAMES:
        with contextlib.suppress(OSError):  # it is closed
            there = os.fstat(number)
            found.setdefault((there.st_dev, there.st_ino), []).append(number)
            modes[there.st_dev, there.st_ino] = there.st_mode
    for key, numbers in found.items():
        yield Stream(tuple(numbers), modes[key])


def _pass_through(stream: Stream, spotter: Spotter) -> None:
    """Put a pipe of ours in the place of the program's, whose other end a process of its own reads and passes on."""
    read, write = os.pipe()
    target = os.dup(stream.descriptors[0])
    try:
        _apart(lambda: _pass_on(read, target, spotter), keep=(read, target))
        for number in stream.descriptors:
            os.dup2(write, number)
    finally:
        for number in (read, write, target):
            os.close(number)


def _pass_on(source: int, target: int, spotter: Spotter) -> None:
    while data := os.read(source, _CHUNK):
        spotter.feed(data)
        while data:
            try:
                data = data[os.write(target, data) :]
            except BlockingIOError:
                select.select([], [target], [])
            except OSError:  # nobody reads it any more: the program finds the same, once `source` is closed
                return


def _follow_file(file: int, spotter: Spotter) -> None:
    """What is there already was written by others."""
    offset = os.fstat(file).st_size
    for _ in _while_it_runs():
        size = os.fstat(file).st_size
        offset = min(offset, size)
        while not spotter.is_done and (data := os.pread(file, _CHUNK, offset)):
            offset += len(data)
            spotter.feed(data)
        if spotter.is_done:
            return


def _follow_port(port: int, note: Callable[[float], None]) -> None:
    for _ in _while_it_runs():
        if is_listened_on(port):
            note(time.time())
            return


_PROGRAM: Final[list[int]] = []
"""A descriptor of the program's process, in a process that was set apart from it."""


def _while_it_runs() -> Iterator[None]:
    """Again and again, once more when the program has ended."""
    while not select.select(_PROGRAM, [], [], _EACH)[0]:
        yield
    yield


def _apart(work: Callable[[], None], keep: tuple[int, ...] = ()) -> None:
    """Have `work` done by a process that is no child of this one, in a session of its own, with these descriptors."""
    program = os.getpid()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        if os.fork() == 0:
            _become(work, program, keep)
    finally:
        os._exit(0)


def _become(work: Callable[[], None], program: int, keep: tuple[int, ...]) -> NoReturn:
    try:
        os.setsid()
        os.chdir(os.sep)
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        _PROGRAM.append(os.pidfd_open(program))
        kept = sorted({*keep, *_PROGRAM})
        for low, high in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(low + 1, high)
        work()
    finally:
        os._exit(0)


def can_watch() -> bool:
    """True where a process can be waited for that is no child."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")
