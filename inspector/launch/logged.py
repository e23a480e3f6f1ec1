"""Runs a program with its output in a file, and nothing on stdin."""

import functools
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from inspect_compile.launch.replace import as_it_was_started, hold_interrupts, release_interrupts

_PATIENCE: Final = 10.0
"""Seconds that a program gets to end after it was asked to."""


class Running(Protocol):
    """A program that was started, as subprocess has it."""

    def poll(self) -> int | None:
        """Its exit status, or the negative number of a signal; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """The same once it has ended; raises subprocess.TimeoutExpired."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""


def status_of(
    path: str, argv: Sequence[str], environment: Mapping[str, str], log: Path, seconds: float | None = None
) -> int | None:
    """Its exit status, or the negative number of a signal; None if it was stopped after so many seconds.

    KeyboardInterrupt ends the program and propagates.
    """
    programs: list[Running] = []
    try:
        start(path, argv, environment, log, programs)
        return programs[0].wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(programs)


def start(
    path: str,
    argv: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    programs: list[Running],
    descriptors: Sequence[int] = (),
) -> None:
    """Start it, and add it to `programs`: a KeyboardInterrupt comes before or after both. It inherits `descriptors`."""
    with open(log, "wb") as output:
        mask = hold_interrupts()
        try:
            programs.append(
                subprocess.Popen(
                    argv,
                    executable=path,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=descriptors,
                    preexec_fn=functools.partial(as_it_was_started, mask),
                )
            )
        finally:
            release_interrupts(mask)


def end(programs: Sequence[Running]) -> None:
    """End those that still run; they may have received the Ctrl-C from the terminal too."""
    for program in programs:
        for ask in (program.terminate, program.kill):
            if program.poll() is not None:
                break
            ask()
            try:
                program.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                continue
