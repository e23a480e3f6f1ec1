"""Has the derived files of a dump made by a separate interpreter.

What they need (rich, graphviz, …) must not be looked up on the program's `sys.path`, where a module of the user's could
have that name, nor take the program's memory and its interpreter lock.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspect_compile.child import life
from inspect_compile.child.setting import PYTHON_PATH, VARIABLE, python_path_without_bootstrap
from inspect_compile.dump import under_way

SECONDS = 120.0
"""A dump that takes longer is finished by its first reader."""

_CODE = """
import sys
from pathlib import Path
from inspect_compile.dump import Dump
from inspect_compile.finish import finish
finish(Dump(Path(sys.argv[1])), is_own=True)
"""

_CODE_LEFT_BEHIND = """
import select, sys, time
is_gone = bool(select.select([int(sys.argv[2])], [], [], float(sys.argv[3]))[0])
at = time.time()
import contextlib
from pathlib import Path
from inspect_compile.child import life
from inspect_compile.dump import Dump, under_way
from inspect_compile.finish import finish
root = Path(sys.argv[1])
try:
    with contextlib.suppress(Exception):
        if is_gone:
            life.append(sys.argv[4], {"fact": "process_end", "pid": int(sys.argv[5]), "at": at})
        finish(Dump(root), is_own=True)
finally:
    under_way.let_go(root)
"""
"""Nothing is ever written to the pipe: it is closed when the program's process ends."""

LIVES: list[int] = []
"""Our end of that pipe, kept open until this process ends."""


def leave(root: Path, top: Path, cwd: str) -> None:
    """Have the dump at `root`, of the run at `top`, finished after this process has ended, by a process that is left
    behind, and that notes when it was gone. Does not wait.

    The program's threads continue in exit handlers, and whoever waits for its process should not wait longer than
    without us. If no process can be started, or it is killed, the first reader finishes the dump.
    """
    command = _command(_CODE_LEFT_BEHIND, root, cwd)
    if command is None:
        return
    try:
        lock = under_way.hold(root)
    except OSError:
        return
    read, write = os.pipe()
    LIVES.append(write)
    try:
        with _children_unheard():
            process = subprocess.Popen(
                [*command, str(read), str(SECONDS), os.path.join(cwd, top, life.FILE), str(os.getpid())],
                **_around(cwd),
                stderr=subprocess.DEVNULL,
                pass_fds=(lock, read),
                start_new_session=True,
            )
        process.returncode = 0  # it outlives this process; Python should not warn about that
    except (OSError, ValueError, subprocess.SubprocessError):
        under_way.let_go(root)
    finally:
        os.close(lock)
        os.close(read)


def _command(code: str, root: Path, cwd: str) -> list[str] | None:
    return [sys.executable, "-P", "-W", "ignore", "-c", code, os.path.join(cwd, root)] if sys.executable else None


def _around(cwd: str) -> dict[str, Any]:
    """Where the interpreter runs: what `subprocess.Popen` takes. Not in `cwd`, whose file system could then not be
    unmounted; relative entries of PYTHONPATH are made absolute.
    """
    environment = {name: value for name, value in os.environ.items() if name not in (PYTHON_PATH, VARIABLE)}
    path = python_path_without_bootstrap(os.environ)
    if path is not None:
        environment[PYTHON_PATH] = os.pathsep.join(os.path.join(cwd, entry) for entry in path.split(os.pathsep))
    return {"cwd": os.sep, "env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}


def finish(root: Path, cwd: str) -> str | None:
    """Finish the dump at `root` and wait for it; returns what went wrong, or None.

    `cwd` is the base of relative entries of PYTHONPATH.
    """
    command = _command(_CODE, root, cwd)
    if command is None:
        return "no Python interpreter is known to make the derived files with"
    try:
        with _children_unheard():
            done = subprocess.run(
                command,
                **_around(cwd),
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
    """Prevent a handler of the program's for the end of children from seeing ours."""
    before = signal.getsignal(signal.SIGCHLD)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)
