"""Derived files are made by another interpreter, and the program does not notice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import settle

PROGRAM = """
import os, signal, sys
from pathlib import Path
from inspect_compile.child import finishing
heard = []
signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))
failure = finishing.finish(Path("nowhere"), {cwd!r})
print(failure is not None, heard, signal.getsignal(signal.SIGCHLD).__name__)
print([name for name in sys.modules if name in ("rich", "graphviz", "inspect_compile.finish")])
"""


def test_a_failure_is_a_text_and_children_are_not_heard_of(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("print('the user\\'s own')")
    (tmp_path / "program.py").write_text(PROGRAM.format(cwd=str(tmp_path)))
    result = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == ["True [] <lambda>", "[]"]


LEAVES = """
import os, sys
from pathlib import Path
from inspect_compile.child import finishing
finishing.leave(Path(sys.argv[1]), Path(sys.argv[1]), os.getcwd())
for entry in Path("/proc").glob("[0-9]*"):
    if f"PPid:\\t{os.getpid()}\\n" in (entry / "status").read_text():
        variables = (entry / "environ").read_bytes().decode().split("\\0")
        print(os.readlink(entry / "cwd"), *[word for word in variables if word.startswith("PYTHONPATH=")])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells where another process runs")
def test_who_is_left_behind_does_not_keep_the_working_directory(tmp_path: Path) -> None:
    """Its file system can be unmounted once the program has ended. The process waits for that."""
    (tmp_path / "dump").mkdir()
    (tmp_path / "work").mkdir()
    result = subprocess.run(
        [sys.executable, "-c", LEAVES, str(tmp_path / "dump")],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": "relative"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    settle(tmp_path / "dump")

    assert result.stdout.splitlines() == [f"/ PYTHONPATH={tmp_path / 'work' / 'relative'}"]
