"""Has the derived files of a dump made, by an interpreter of its own.

Nothing that they need (rich, graphviz, …) may be looked up on the program's `sys.path`, where a module of the user's
could have that name, nor take the program's memory and its interpreter lock.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspect_compile.child.setting import PYTHON_PATH, VARIABLE, python_path_without_door

SECONDS = 120.0
"""A dump that takes longer is finished by its first reader."""

_CODE = """
import sys
from pathlib import Path
from inspect_compile.dump import Dump
from inspect_compile.finish import finish
finish(Dump(Path(sys.argv[1])), is_own=True)
"""


def finish(root: Path, cwd: str) -> str | None:
    """Finish the dump at `root`, waiting for it; what went wrong, or None.

    `cwd` is where relative entries of PYTHONPATH start from.
    """
    if not sys.executable:
        return "no Python interpreter is known to make the derived files with"
    environment = {name: value for name, value in os.environ.items() if name not in (PYTHON_PATH, VARIABLE)}
    path = python_path_without_door(os.environ)
    if path is not None:
        environment[PYTHON_PATH] = path
    command = [sys.executable, "-P", "-W", "ignore", "-c", _CODE, str(root)]
    try:
        with _children_unheard():
            done = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=SECONDS,
                check=False,
            )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"derived files not made: {error}"
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"derived files not made: {lines[-1] if lines else f'exit status {done.returncode}'}"
    return None


@contextmanager
def _children_unheard() -> Iterator[None]:
    """A handler of the program's for the end of its children must not hear of ours."""
    before = signal.getsignal(signal.SIGCHLD)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)
