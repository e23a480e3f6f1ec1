"""The app as a person meets it: the command, a terminal, keys."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.tui.terminal import Terminal

PATIENCE = 60.0
ROWS, COLUMNS = 24, 80


class Screen:
    """A process on a terminal, and what stands on its screen."""

    def __init__(self, *words: str | Path) -> None:
        self._terminal = Terminal(ROWS, COLUMNS)
        self._pid, self._pty = pty.fork()
        if self._pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(sys.executable, [sys.executable, "-m", "inspect_compile", *map(str, words)])
        fcntl.ioctl(self._pty, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def shows(self, text: str) -> str:
        """The screen, once `text` stands on it."""
        deadline = time.monotonic() + PATIENCE
        screen = ""
        while time.monotonic() < deadline:
            if select.select([self._pty], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self._terminal.feed(os.read(self._pty, 1 << 16))
            lines = [self._terminal.plain(index) for index in range(len(self._terminal))]
            screen = "\n".join(lines[-ROWS:])
            if text in screen:
                return screen
        raise AssertionError(f"{text!r} never stood on the screen:\n{screen}")

    def types(self, keys: str) -> None:
        """Type `keys`."""
        os.write(self._pty, keys.encode())

    def ends(self) -> int:
        """The exit status."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([self._pty], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):
                    os.read(self._pty, 1 << 16)
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it never ended")


def test_open_a_dump_walk_and_quit(mixed: Dump) -> None:
    screen = Screen("open", mixed.root)
    screen.shows("Do first")
    screen.types("6")
    assert "mixed.py ▸ 0/0 ▸ forward" in screen.shows("8 kernels")
    screen.shows("cpp_fused_gelu_view_2")
    screen.types("/")
    screen.shows("\n /")
    screen.types("gelu\r")
    screen.shows("cpp_fused_gelu_view_2 · mixed.py:19 · 6 nodes · 1 operation")
    screen.types("q")
    assert screen.ends() == 0


def test_run_a_program_beside_the_app(here: Path) -> None:
    (here / "quick.py").write_text("print('hello', input('who? '))\nraise SystemExit(4)\n")
    screen = Screen("run", "--dump", "dump", "quick.py")
    screen.shows("Nothing has been compiled yet")
    screen.types("0")
    screen.shows("who?")
    screen.types("\rme\r")
    screen.shows("hello me")
    screen.shows("Program  ended with exit status 4")
    screen.types("1")
    screen.shows("No graph")
    screen.types("q")
    assert screen.ends() == 4
    assert (here / "dump" / "script.log").read_bytes().endswith(b"hello me\r\n")


def test_the_editor_gets_the_line_and_the_app_comes_back(mixed: Dump, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Path("editor.sh").absolute()
    script.write_text('#!/bin/sh\necho "$@" >edited\n')
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)
    screen = Screen("open", mixed.root)
    screen.shows("Do first")
    screen.types("1")
    screen.shows("rows, columns")
    screen.types("/")
    screen.shows("\n /")
    screen.types("rows, col")
    screen.shows("1 of 1")
    screen.types("\r")
    screen.shows("mixed.py:20")
    screen.types("e")
    deadline = time.monotonic() + PATIENCE
    while not (Path("edited").is_file() and Path("edited").read_text()):
        screen.shows("mixed.py")
        assert time.monotonic() < deadline
    assert Path("edited").read_text() == f"+20 {Path('mixed.py').absolute()}\n"
    screen.types("9")
    screen.shows("AOT ID")
    screen.types("q")
    assert screen.ends() == 0
