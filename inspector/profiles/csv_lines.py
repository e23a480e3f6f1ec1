"""The rows of a CSV that a tool printed among other lines, such as the program's output."""

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
            raise ValueError("it holds zero bytes, which no text does")
        is_whole = line.endswith("\n") or len(line) < LONGEST
        if is_whole and not is_rest:
            with contextlib.suppress(csv.Error):  # a field that is longer than any name
                yield from csv.reader([line])
        is_rest = not is_whole
