"""`run` on a terminal: the program on a pty of its own, the TUI beside it, the program's end as ours."""

import contextlib
import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from tests.running import COMMAND

# Python 3.12 warns of any fork beside threads; pytest's own process has some.
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")

SECONDS = 60


class Terminal:
    """`inspect-compile run` as a person starts it, in a terminal of 100×30."""

    def __init__(self, words: list[str], cwd: Path) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="30")
                os.execv(sys.executable, [*COMMAND, "run", "--dump", "dump", *words])
            finally:
                os._exit(99)
        self.screen = b""
        self._deadline = time.monotonic() + SECONDS

    def until(self, happened: Callable[[], bool]) -> None:
        """Let it run until something has happened; the screen must be read for it to go on."""
        while not happened():
            assert time.monotonic() < self._deadline, self.screen[-3000:]
            self.read()

    def read(self) -> bool:
        """Take what it has drawn; False once it has let go of its terminal."""
        ready, _, _ = select.select([self._master], [], [], 0.05)
        if not ready:
            return True
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self.screen += data
        return bool(data)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Its exit status, or the negative number of the signal that ended it."""
        while self.read():
            assert time.monotonic() < self._deadline, self.screen[-3000:]
        os.close(self._master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


Start = Callable[[str], Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Terminal] = []

    def start(code: str) -> Terminal:
        (tmp_path / "script.py").write_text(code)
        started.append(Terminal(["script.py", "a b"], tmp_path))
        return started[-1]

    yield start
    for terminal in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(terminal.pid, signal.SIGKILL)


def printed(folder: Path) -> str:
    try:
        return (folder / "dump" / "script.log").read_bytes().decode()
    except OSError:
        return ""


def has_ended(folder: Path) -> bool:
    """Has the program's process ended? Until then the app asks before it quits, though the dump may be finished."""
    try:
        pid = Dump(folder / "dump").run.pid
        stat = Path(f"/proc/{pid}/stat").read_text()
    except CommandError:  # it has not begun
        return False
    except OSError:
        return pid != 0
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_the_exit_status_is_the_programs(start: Start, tmp_path: Path) -> None:
    terminal = start("import os, sys\nprint(sys.argv, os.isatty(0), 'INSPECT_COMPILE' in os.environ)\nsys.exit(3)")
    terminal.until(lambda: has_ended(tmp_path))
    terminal.until(lambda: b"script.py" in terminal.screen)
    terminal.type("q")
    assert terminal.end() == 3
    assert printed(tmp_path) == "['script.py', 'a b'] True False\r\n"
    run = Dump(tmp_path / "dump").run
    assert (run.exit_code, run.argv) == (3, ("script.py", "a b"))
    assert b"script.log" in terminal.screen.rpartition(b"inspect-compile: ")[2]


def test_a_signal_that_ends_the_program_ends_us(start: Start, tmp_path: Path) -> None:
    terminal = start("import os, signal\nprint('up', flush=True)\nos.kill(os.getpid(), signal.SIGUSR1)")
    terminal.until(lambda: printed(tmp_path) == "up\r\n" and has_ended(tmp_path))
    terminal.until(lambda: b"script.py" in terminal.screen)
    terminal.type("q")
    assert terminal.end() == -signal.SIGUSR1
    run = Dump(tmp_path / "dump").run
    assert (run.status, run.exit_code) == ("killed", 128 + signal.SIGUSR1)


def test_quitting_while_it_runs_asks_and_then_ends_it(start: Start, tmp_path: Path) -> None:
    terminal = start("import time\nprint('up', flush=True)\ntime.sleep(600)")
    terminal.until(lambda: printed(tmp_path) == "up\r\n")
    terminal.until(lambda: b"script.py" in terminal.screen)
    terminal.type("q")
    terminal.until(lambda: b"still runs" in terminal.screen)
    terminal.type("y")
    assert terminal.end() == -signal.SIGTERM
    assert Dump(tmp_path / "dump").run.exit_code == 128 + signal.SIGTERM
