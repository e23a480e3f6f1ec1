"""When a program is ready, seen without a change to what it prints to."""

import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Ready
from inspect_compile.launch.ready import Spotter, port_of
from tests.running import COMMAND, SECONDS, without_last_words

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="--ready is for Linux")

PRINTS = """
import os, stat, sys
def kind(number):
    there = os.fstat(number)
    return stat.S_IFMT(there.st_mode), os.isatty(number)
try:
    children = os.wait()
except ChildProcessError:
    children = "no children"
print(kind(1), kind(2), os.path.sameopenfile(1, 2), children, sorted(os.listdir("/proc/self/fd")), flush=True)
print("starting", file=sys.stderr, flush=True)
print("server is READY now", flush=True)
print("x" * 300000, file=sys.stderr, flush=True)
print("end", flush=True)
"""
WRITES_ON = """
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
print("READY", flush=True)
while True:
    os.write(1, b"more and more " * 1000)
"""
LISTENS = """
import socket, sys, time
with socket.socket() as server:
    server.bind(("127.0.0.1", int(sys.argv[1])))
    server.listen()
    time.sleep(1)
"""


def started(folder: Path, *words: str, ready: str | None = "READY", **streams: Any) -> subprocess.CompletedProcess[str]:
    options = ["--no-tui", "--dump", "dump", *(["--ready", ready] if ready is not None else [])]
    command = [*COMMAND, "run", *options, *words] if ready is not None else [sys.executable, *words]
    return subprocess.run(command, cwd=folder, text=True, check=False, timeout=SECONDS, **streams)


def seen(folder: Path) -> list[Ready]:
    return [row for row in Dump(folder / "dump").rows(Ready) if row.at is not None]


def test_pipes_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PRINTS)
    alone = started(tmp_path, "script.py", ready=None, capture_output=True)
    watched = started(tmp_path, "script.py", capture_output=True)
    assert (watched.stdout, watched.returncode) == (alone.stdout, alone.returncode)
    assert without_last_words(watched.stderr) == alone.stderr
    assert "no children" in watched.stdout
    (found,) = seen(tmp_path)
    assert (found.text, found.where) == ("READY", "stdout")


def test_both_streams_in_one_pipe_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PRINTS)
    one_pipe: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    alone = started(tmp_path, "script.py", ready=None, **one_pipe)
    watched = started(tmp_path, "script.py", **one_pipe)
    assert without_last_words(watched.stdout) == alone.stdout
    assert seen(tmp_path)[0].where == "stdout, stderr"


def test_a_file_is_read_beside_the_program(tmp_path: Path) -> None:
    """What others wrote before is not looked at."""
    (tmp_path / "script.py").write_text(f"{PRINTS}\nimport time\ntime.sleep(1)\n")
    texts = []
    for ready in (None, "READY"):
        (tmp_path / "log").write_text("READY long ago\n")
        with (tmp_path / "log").open("a") as log:
            started(tmp_path, "script.py", ready=ready, stdout=log, stderr=log)
        texts.append(without_last_words((tmp_path / "log").read_text()))
    assert texts[0] == texts[1]
    (found,) = seen(tmp_path)
    assert found.where == "stdout, stderr"


def test_a_reader_that_ends_ends_the_program_as_without_us(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WRITES_ON)
    command = [*COMMAND, "run", "--no-tui", "--dump", "dump", "--ready", "READY", "script.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        assert program.stdout.read(6) == b"READY\n"
        program.stdout.close()
        assert program.wait(SECONDS) == -signal.SIGPIPE
    assert len(seen(tmp_path)) == 1


def test_a_port_that_is_listened_on(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LISTENS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started(tmp_path, "script.py", str(port), ready=f":{port}", capture_output=True)
    (found,) = seen(tmp_path)
    assert (found.text, found.where) == (f":{port}", "port")


def test_a_port_that_others_listen_on_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = started(tmp_path, "script.py", ready=f":{port}", capture_output=True)
    assert f"--ready: port {port} is in use already" in done.stderr
    assert seen(tmp_path) == []


def test_a_terminal_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nprint(sys.stdout.isatty(), 'READY')\n")
    ours, theirs = pty.openpty()
    try:
        done = started(tmp_path, "script.py", stdout=theirs, stderr=subprocess.PIPE)
        assert "--ready: stdout: a terminal, which cannot be watched" in done.stderr
        assert os.read(ours, 100) == b"True READY\r\n"
    finally:
        os.close(ours)
        os.close(theirs)
    assert seen(tmp_path) == []


def test_a_text_that_comes_in_pieces() -> None:
    moments: list[float] = []
    spotter = Spotter("ready ✓", moments.append)
    for piece in ("not rea", "dy\nrea", "dy \u2713"[:3], "\u2713", " ready ✓"):
        assert spotter.is_done == bool(moments)
        spotter.feed(piece.encode())
    assert len(moments) == 1


@pytest.mark.parametrize(("text", "port"), [(":8000", 8000), ("8000", None), (":99999", None), (":0", None)])
def test_what_names_a_port(text: str, port: int | None) -> None:
    assert port_of(text) == port


def test_what_cannot_be_started_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = started(tmp_path, "no_such.py", capture_output=True)
    assert done.returncode == 125
    assert not (tmp_path / "dump").exists()


def test_the_start_ends_when_it_was_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "import time, torch\nprint('READY', flush=True)\ntime.sleep(0.5)\n"
    code += "@torch.compile(backend='eager')\ndef f(x):\n    return x + 1\nf(torch.ones(2))\n"
    (tmp_path / "script.py").write_text(code)
    started(tmp_path, "script.py", capture_output=True)
    (found,) = seen(tmp_path)
    assert found.where == "stdout"
    main(["show", str(tmp_path / "dump"), "time"])
    shown = capsys.readouterr().out
    assert "ready after" in shown
    assert "(READY)" in shown
    head = shown[: shown.index("compile time")]
    assert "Dynamo" not in head
