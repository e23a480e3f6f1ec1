"""Which lines are the user's own code, and which are a library's."""

import re
from typing import Final

from inspect_compile.facts import Location

_LIBRARY: Final = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]"
    r"|(?:^|[/\\])(?:lib(?:32|64)?|~env)[/\\]python\d(?:\.\d+)?t?[/\\]"
    r"|(?:^|[/\\])Python3\d+[/\\]Lib[/\\]"
    r"|(?:^|[/\\])torch[/\\](?:_[a-z]\w*(?:\.py)?|autograd|cuda|distributed|export|functional\.py|fx|nn|optim|testing|utils)(?:[/\\]|$)"
    r"|(?:^|[/\\])inspect_compile[/\\]"
    r"|^<(?!stdin>|string>|ipython-input)",
)
"""Installed packages, the standard library (in a shared dump below `~env`), torch wherever it is, this tool, and code
that has no file. What was typed at a prompt or given with `-c` is the user's."""


_INSTALLED: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]([^/\\]+)")
_TORCH: Final = re.compile(r"(?:^|[/\\])torch[/\\]")


def is_library(file: str) -> bool:
    """True for a file of a library: an installed package, the standard library or torch."""
    return _LIBRARY.search(file) is not None


def own_line(where: Location) -> Location | None:
    """The innermost of the user's own lines that led to a line: itself if it is one; None if none is known."""
    return next((one for one in where.calls() if not is_library(one.file)), None)


def library_of(file: str) -> str:
    """The library that a file is of: the package's name, `torch`, or `Python's library`."""
    installed = _INSTALLED.search(file)
    if installed is not None:
        return installed[1].removesuffix(".py")
    return "torch" if _TORCH.search(file) else "Python's library"


def own_first(where: Location | None) -> tuple[int, str, int]:
    """Sort key: the user's own code, then lines of libraries that it leads to, then other lines; by file and line."""
    if where is None:
        return 3, "", 0
    own = own_line(where)
    rank = 2 if own is None else int(own is not where)
    return rank, (own or where).file, (own or where).line
