"""Runs a program to its end with its output in a file, and nothing on stdin."""

import functools
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from inspect_compile.launch.replace import as_it_was_started, hold_interrupts, release_interrupts

_PATIENCE: Final = 10.0
"""Seconds that a program gets to end after it was asked to."""


def status_of(
    path: str, argv: Sequence[str], environment: Mapping[str, str], log: Path, seconds: float | None = None
) -> int | None:
    """Its exit status, or the negative number of a signal; None if it was ended after so many seconds.

    KeyboardInterrupt ends the program and propagates.
    """
    with open(log, "wb") as output:
        mask = hold_interrupts()
        program = None
        try:
            program = subprocess.Popen(
                argv,
                executable=path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=functools.partial(as_it_was_started, mask),
            )
            release_interrupts(mask)
            return program.wait(seconds)
        except subprocess.TimeoutExpired:
            _end(program)
            return None
        except BaseException:
            release_interrupts(mask)
            _end(program)
            raise


def _end(program: "subprocess.Popen[bytes] | None") -> None:
    """End it; it may have received the Ctrl-C from the terminal too."""
    if program is None:
        return
    for ask in (program.terminate, program.kill):
        ask()
        try:
            program.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue
        return
