"""The standard streams of a command, which may be closed, full, read by nobody, or the log of a CI system.

All that a command says goes through here: words of a dump neither steer a terminal nor a CI system.
"""

import os
import sys
from typing import Final, TextIO

PROGRAM: Final = "inspect-compile"
_CI: Final = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Variables that CI systems set."""


def open_closed() -> None:
    """Put an empty stream in the place of each that was closed: Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def forget(stream: TextIO) -> None:
    """Drop what could not be written: the interpreter must not try again at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def pass_on(stream: TextIO, text: str) -> None:
    """Write `text`, which was made for a terminal: in the log of a CI system without what that would carry out."""
    if not stream.isatty() and any(map(os.environ.get, _CI)):
        from inspect_compile.tables.text import log_safe

        text = log_safe(text)
    stream.write(text)


def say_own(text: str) -> None:
    """Write lines to stdout that have no word of a dump in them; loads nothing."""
    sys.stdout.write(f"{text}\n")


def say(text: str) -> None:
    """Write lines to stdout, cleaned."""
    from inspect_compile.tables.text import clean

    pass_on(sys.stdout, f"{clean(text)}\n")


def tell(text: str, *, name: str = f"{PROGRAM}: ") -> None:
    """Write one line about what is done to stderr, if that takes any, in which `text` is cleaned."""
    from inspect_compile.tables.text import unbroken

    tell_part(f"{name}{unbroken(text)}\n")


def tell_part(text: str) -> None:
    """The same for a part of a line, which is cleaned already."""
    try:
        pass_on(sys.stderr, text)
        sys.stderr.flush()
    except BrokenPipeError:
        raise
    except OSError:
        forget(sys.stderr)
