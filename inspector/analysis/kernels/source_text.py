"""How a generated kernel's source is laid out: a prologue that computes nothing, and a body, indented as a whole."""

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

_LOOP: Final = re.compile(r"\s*(?:#pragma omp (?:for|single)|for\s*\()")
_DEFINED: Final = re.compile(r"def \w+\(")
_FEWEST: Final = 4
"""A shorter prologue is shown as it is."""


class SourceLayout(NamedTuple):
    """What of a source need not be read."""

    prologue: int
    """Number of lines at the beginning that set up what follows; 0 if there are hardly any."""
    indent: int
    """Number of columns by which what follows is indented; what closes or ends the function may be less."""


def source_layout(lines: Sequence[str], statements: Collection[int]) -> SourceLayout:
    """The layout of a C++ or Triton kernel; `statements` are the numbers of the lines that compute something.

    In C++ it begins at the first loop or statement; in Triton at the function, behind imports and decorators.
    """
    starts = (
        index
        for index, line in enumerate(lines)
        if index + 1 in statements or _LOOP.match(line) or _DEFINED.match(line)
    )
    first = next(starts, 0)
    prologue = first if first >= _FEWEST else 0
    body = lines[prologue] if prologue else ""
    return SourceLayout(prologue, len(body) - len(body.lstrip()))
