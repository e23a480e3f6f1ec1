"""What a program that a watched process starts sees of us: nothing, unless it may start a Python.

The environment of the process tells all that it starts where the dump is. For a compiler, `env` or `git` it is taken
out on the way. Light: loaded at interpreter start.
"""

import _posixsubprocess  # `subprocess` and `multiprocessing` start programs with it
import os
import posix
import sys

from inspect_compile.child.imports import IMPORT_SYSTEM, FoundAsAtStart
from inspect_compile.child.setting import PYTHON_PATH, VARIABLE, python_path_without_bootstrap
from inspect_compile.outermost import guarded, leave_traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from inspect_compile.child.process import Process

replaced: "list[Callable[..., Any]]" = []
"""Our functions in the place of Python's."""

_ARGUMENTS, _EXECUTABLES, _FOLDER, _ENVIRONMENT = 0, 1, 4, 5
"""Where these stand among the arguments of `fork_exec`."""


def hide_ours(process: "Process") -> None:
    """Take what is ours out of the environment of programs that this process starts from now on."""
    plain_fork, plain_exec, exec_with = _posixsubprocess.fork_exec, posix.execv, posix.execve
    hide, find_other, touch, tell = _hide, _find_other, process.stretches.touch, process.life.tell

    def fork_exec(*given: "Any") -> "Any":
        changed = [*given]
        guarded(hide, process, changed)
        touch()
        guarded(tell)
        try:
            return plain_fork(*changed)
        except BaseException as error:
            leave_traceback(error)
            raise

    def execv(path: "Any", argv: "Any", /) -> "Any":
        other: list[dict[bytes, bytes]] = []
        guarded(find_other, process, path, argv, other)
        try:
            return exec_with(path, argv, other[0]) if other else plain_exec(path, argv)
        except BaseException as error:
            leave_traceback(error)
            raise

    for function, plain in ((fork_exec, plain_fork), (execv, plain_exec)):
        function.__module__, function.__qualname__, function.__doc__ = plain.__module__, plain.__name__, plain.__doc__
        # As frames of the import system they are passed over by what looks for the line that something comes from.
        function.__code__ = function.__code__.replace(co_filename=IMPORT_SYSTEM)
    replaced[:] = fork_exec, execv
    _posixsubprocess.fork_exec = fork_exec
    posix.execv = os.execv = execv
    subprocess = sys.modules.get("subprocess")
    if getattr(subprocess, "_fork_exec", None) is plain_fork:
        subprocess._fork_exec = fork_exec  # type: ignore[union-attr]


def _hide(process: "Process", given: "list[Any]") -> None:
    """Change the environment among the arguments of `fork_exec`, where a program starts no Python."""
    with FoundAsAtStart(process.path, process.finders):
        from inspect_compile.child.unseen.commands_of_python import may_start_python

        block = given[_ENVIRONMENT]
        plain = _without_ours(_own_block() if block is None else block, process.setting.own)
    if plain is None:
        return
    first, *others = map(os.fsdecode, given[_EXECUTABLES])
    words = [os.path.basename(first) if others else first, *map(os.fsdecode, given[_ARGUMENTS][1:])]
    if not may_start_python(words, os.fsdecode(given[_FOLDER] or os.curdir)):
        given[_ENVIRONMENT] = plain


def _find_other(process: "Process", path: "Any", argv: "Any", other: "list[dict[bytes, bytes]]") -> None:
    """Append the environment for `execv`, where it is not the process's own."""
    given = [argv, (path,), False, (), None, None]
    _hide(process, given)
    if given[_ENVIRONMENT] is not None:
        other.append(dict(entry.split(b"=", 1) for entry in given[_ENVIRONMENT]))


def _own_block() -> "list[bytes]":
    """The environment that a program is started with if no other is given: `os.environ` may lack parts of it."""
    import ctypes

    block = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found: list[bytes] = []
    while (entry := block[len(found)]) is not None:
        found.append(entry)
    return found


def _without_ours(block: "Iterable[bytes]", own: str | None) -> "list[bytes] | None":
    """The entries as they were before our run, with the user's `own` value of our variable; None if none is ours."""
    entries = list(block)
    there = {
        name: os.fsdecode(value)
        for name, found, value in (entry.partition(b"=") for entry in entries)
        if found and name in _NAMES
    }
    values = {_NAMES[name]: value for name, value in there.items()}
    before = {PYTHON_PATH: python_path_without_bootstrap(values), VARIABLE: values.get(VARIABLE)}
    if (values.get(VARIABLE) or "").startswith("{"):
        before[VARIABLE] = own
    if before == {PYTHON_PATH: values.get(PYTHON_PATH), VARIABLE: values.get(VARIABLE)}:
        return None
    kept = []
    for entry in entries:
        name = _NAMES.get(entry.partition(b"=")[0])
        if name is None:
            kept.append(entry)
        elif (value := before[name]) is not None:
            kept.append(os.fsencode(f"{name}={value}"))
    return kept


_NAMES = {os.fsencode(name): name for name in (PYTHON_PATH, VARIABLE)}
