"""The standard streams of a command: they may be closed, full, or read by nobody."""

import os
import sys
from typing import TextIO


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


def tell(text: str) -> None:
    """Write a line to stderr, if that takes any."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:
        forget(sys.stderr)
