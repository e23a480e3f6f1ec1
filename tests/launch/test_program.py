"""A program on a pty: its output, its keys, its size, its end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from inspect_compile.launch.program import NOT_STARTED, PtyProgram
from inspect_compile.launch.ready import Spotter

# Python 3.12 warns of any fork beside threads; only here do threads of an earlier program live on.
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")

Start = Callable[[str], PtyProgram]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def start(code: str) -> PtyProgram:
        argv = [sys.executable, "-c", code]
        variables = {**os.environ, "PYTHONUNBUFFERED": "1"}
        return PtyProgram(sys.executable, argv, lambda pid: variables, tmp_path / "script.log", rows=30, columns=90)

    return start


def wait_for(program: PtyProgram, text: bytes) -> bytes:
    """What it printed, once `text` is in it."""
    deadline = time.monotonic() + 30
    while text not in (output := program.output(0)):
        assert time.monotonic() < deadline, output
        time.sleep(0.01)
    return output


def ended(program: PtyProgram) -> int:
    deadline = time.monotonic() + 30
    while (status := program.status()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return status


def test_what_it_prints_is_kept(start: Start, tmp_path: Path) -> None:
    program = start("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert ended(program) == 7
    assert program.end() == 7
    assert program.output(0) == b"out\r\nerr\r\n" == (tmp_path / "script.log").read_bytes()
    assert program.output(5) == b"err\r\n"
    assert program.output(99) == b""


def test_what_it_prints_is_looked_through(tmp_path: Path) -> None:
    moments: list[float] = []
    argv = [sys.executable, "-c", "print('starting'); print('READY')"]
    spotter, log = Spotter("READY", moments.append), tmp_path / "script.log"
    program = PtyProgram(sys.executable, argv, lambda pid: dict(os.environ), log, rows=30, columns=90, spotter=spotter)
    assert ended(program) == 0
    assert program.end() == 0
    assert len(moments) == 1


def test_it_has_a_terminal_of_the_size_that_was_asked_for(start: Start) -> None:
    program = start(
        "import os, signal, sys\n"
        "def show(*_): print(os.get_terminal_size(), os.isatty(0), os.isatty(2))\n"
        "signal.signal(signal.SIGWINCH, show); show(); input()"
    )
    wait_for(program, b"columns=90, lines=30) True True")
    program.resize(10, 40)
    wait_for(program, b"columns=40, lines=10) True True")
    program.write(b"\r")
    assert ended(program) == 0


def test_keys_reach_it_and_do_not_wait_for_it(start: Start) -> None:
    program = start("import time; time.sleep(0.3); print(len(input()), input())")
    began = time.monotonic()
    program.write(b"a" * 3000 + b"\r")
    program.write("grüße\r".encode())
    assert time.monotonic() - began < 0.2
    assert "3000 grüße".encode() in wait_for(program, "3000 grüße".encode())
    assert ended(program) == 0


def test_ctrl_c_interrupts_it(start: Start) -> None:
    program = start(
        "import time\ntry:\n    print('ready'); time.sleep(60)\nexcept KeyboardInterrupt:\n    print('caught')"
    )
    wait_for(program, b"ready")
    program.write(b"\x03")
    wait_for(program, b"caught")
    assert ended(program) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_is_its_end(number: signal.Signals, start: Start) -> None:
    program = start("import time; print('ready'); time.sleep(60)")
    wait_for(program, b"ready")
    os.kill(program.pid, number)
    assert ended(program) == -number
    program.terminate()
    assert program.end() == -number


def test_terminate_asks_and_end_insists(start: Start) -> None:
    polite = start("import time; print('ready'); time.sleep(60)")
    wait_for(polite, b"ready")
    polite.terminate()
    assert ended(polite) == -signal.SIGTERM
    stubborn = start(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf'); time.sleep(60)"
    )
    wait_for(stubborn, b"deaf")
    assert stubborn.status() is None
    assert stubborn.end(patience=0.2) == -signal.SIGKILL


def test_signals_are_as_a_shell_starts_it(start: Start) -> None:
    code = "print([line for line in open('/proc/self/status') if line.startswith(('SigBlk', 'SigIgn'))])"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.strip()
    program = start(code)
    ended(program)
    assert plain in program.output(0)


def test_a_grandchild_that_holds_the_terminal_does_not_hold_us(start: Start) -> None:
    program = start("import os, time\nif os.fork() == 0:\n    time.sleep(20)\n    os._exit(0)\nprint('gone')")
    assert ended(program) == 0
    began = time.monotonic()
    assert program.end() == 0
    assert time.monotonic() - began < 5
    assert program.output(0) == b"gone\r\n"


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    def no_environment(pid: int) -> dict[str, str]:
        raise ValueError("no room")

    program = PtyProgram("/bin/true", ["true"], no_environment, tmp_path / "log", rows=24, columns=80)
    assert ended(program) == NOT_STARTED
    program.end()
    assert program.output(0) == b"inspect-compile: /bin/true: can't be started (no room)\r\n"
