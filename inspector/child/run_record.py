"""A process's run.json: what it is, and how it ended."""

import os
import sys
import traceback
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from inspect_compile.at_start import AtStart
from inspect_compile.child import life, surroundings
from inspect_compile.facts import Run
from inspect_compile.knowledge.overview.compiler_errors import brief

INTERRUPTED = 130
"""Exit status, in a shell's convention, of a program that Ctrl-C ended."""


class Ended(NamedTuple):
    """How a program ended, as far as that can be seen at exit."""

    status: str
    exception: str | None = None
    exit_code: int | None = None
    """None if it is not known: the argument of sys.exit is gone by then, and there is no harmless way to get it."""


def how_it_ended() -> Ended:
    """To be called in an exit handler: the interpreter keeps the exception that it has just printed."""
    value = uncaught()
    return Ended("finished") if value is None else raised(value)


def uncaught() -> BaseException | None:
    """The exception that ended the program."""
    value = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if value is None or value.__traceback__ is None or value.__traceback__.tb_frame.f_back is None:
        return value
    return None  # a caller has caught it, and the program keeps it itself, as pytest does for a debugger


def lacked(package: str) -> bool:
    """Whether the program ended because `package` is not installed."""
    value = uncaught()
    return isinstance(value, ModuleNotFoundError) and value.name == package


def raised(value: BaseException) -> Ended:
    """The end of a program that `value` ended."""
    text = brief(traceback.format_exception_only(value)[-1].strip())
    return Ended("raised", text, INTERRUPTED if isinstance(value, KeyboardInterrupt) else 1)


def running(*, argv: Sequence[str], cwd: str, started: float, cache: str, notes: tuple[str, ...] = ()) -> Run:
    """run.json while the program runs; `started` in seconds since the epoch."""
    return Run(
        argv=tuple(surroundings.printable(word) for word in argv),
        cwd=surroundings.printable(cwd),
        pid=os.getpid(),
        parent_pid=os.getppid(),
        rank=surroundings.rank(),
        started=datetime.fromtimestamp(started).astimezone().isoformat(timespec="milliseconds"),
        born=life.born(),
        versions=surroundings.versions(),
        cache=cache,
        environment=surroundings.environment(),
        notes=notes,
    )


def of_no_process(run: Run, pid: int = 0) -> Run:
    """`run` without what only the process that wrote it has: of a run whose first process is another one, `pid`, or is
    not recorded.
    """
    return msgspec.structs.replace(run, pid=pid, parent_pid=0, rank=None, born=None, environment={})


def ended(run: Run, end: Ended, *, started: float, notes: tuple[str, ...]) -> Run:
    """`run` updated at its end."""
    return msgspec.structs.replace(
        run,
        status=end.status,
        exception=None if end.exception is None else surroundings.printable(end.exception),
        exit_code=end.exit_code,
        seconds=round(AtStart.time() - started, 3),
        versions=surroundings.versions(),
        device=surroundings.device(),
        host=surroundings.host(),
        environment=surroundings.environment(),
        notes=notes,
    )
