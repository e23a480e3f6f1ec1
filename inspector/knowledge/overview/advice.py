"""What to do about a compile that failed because something is missing here. Source: messages of torch 2.13."""

from typing import Final

ADVICE: Final[tuple[tuple[str, str], ...]] = (
    ("InvalidCxxCompiler", "install a C++ compiler (Debian: apt-get install g++), or name one in CXX"),
    ("No working C++ compiler", "install a C++ compiler (Debian: apt-get install g++), or name one in CXX"),
    ("Python.h", "install Python's headers (Debian: apt-get install python3-dev)"),
    ("TritonMissing", "install triton (pip install triton)"),
    ("working triton installation", "install triton (pip install triton)"),
)
"""(a part of the exception's text, what to do)."""


def advice_for(exception: str) -> str | None:
    """What to do about `exception`, or None if nothing is known."""
    return next((advice for part, advice in ADVICE if part in exception), None)
