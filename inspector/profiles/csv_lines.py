"""The rows of a CSV that a tool printed among other lines: its own messages, what the program printed."""

import csv
from collections.abc import Iterable, Iterator


def csv_rows(lines: Iterable[str]) -> Iterator[list[str]]:
    """Each line by itself: a stray quotation mark in what a program printed takes no line after it along."""
    for line in lines:
        try:
            yield from csv.reader([line])
        except csv.Error:  # a field that is longer than any name
            continue
