"""What tools print: rows of a CSV among other lines, and numbers with units."""

import contextlib
import csv
from collections.abc import Iterator
from typing import Final, TextIO

LONGEST: Final = 1 << 20
"""Maximum length of a line; a longer one is no row."""


def csv_rows(file: TextIO) -> Iterator[list[str]]:
    """Each line separately: a stray quotation mark in a program's output does not affect later lines.

    Raises ValueError if the file is not text: a hole in it may be larger than any disk.
    """
    is_rest = False
    while line := file.readline(LONGEST):
        if "\0" in line:
            raise ValueError("it contains NUL bytes, so it is not text")
        is_whole = line.endswith("\n") or len(line) < LONGEST
        if is_whole and not is_rest:
            with contextlib.suppress(csv.Error):  # a field that is longer than any name
                yield from csv.reader([line])
        is_rest = not is_whole


_MICROSECONDS: Final = {"n": 1e-3, "u": 1.0, "µ": 1.0, "m": 1e3, "s": 1e6}
"""First letter of a time unit → microseconds; ns, nsecond, us, usecond, ms, second."""


def number(text: str) -> float:
    """`6,093` and `1.5`."""
    return float(text.replace(",", "") or 0)


def microseconds(text: str, unit: str) -> float:
    """`text` as a time in `unit`; 0 if it is none."""
    try:
        return number(text) * _MICROSECONDS[unit.strip()[:1]]
    except (ValueError, KeyError):
        return 0.0
