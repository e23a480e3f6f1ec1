"""Derived files are made by another interpreter, and the program does not notice."""

import subprocess
import sys
from pathlib import Path

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
