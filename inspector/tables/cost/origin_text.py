"""The columns that say what a row is about: a kernel, or what several launches have in common."""

from collections.abc import Callable, Sequence
from typing import Final

from inspect_compile.tables.columns import Column, Row
from inspect_compile.tables.text import file_name, one_line

TITLES: Final = {"line": "line", "module": "module", "kernel": "kernel", "op": "operators"}
"""What launches are summed up by → the title of its column."""


def origin_text(by: str, what: Sequence[str]) -> str:
    """The lines, modules, operators or kernel that a sum is for: `mixed.py:19 20`, `(top) norm`."""
    if by == "line":
        files: dict[str, list[str]] = {}
        for place in what:
            path, colon, number = place.rpartition(":")
            if not colon:
                return one_line(place)  # without a source line
            files.setdefault(file_name(path), []).append(one_line(number))
        return "  ".join(f"{name}:{' '.join(numbers)}" for name, numbers in files.items()) or "(no line)"
    names = (one_line(name).removeprefix("aten." if by == "op" else "") for name in what)
    return " ".join(name or "(top)" if by == "module" else name for name in names) or "(none)"


def name_column(title: str, of: Callable[[Row], str], *, least: int = 28) -> Column[Row]:
    """A column of names that differ at their ends, `least` wide or more."""
    return Column(title, of, role="name", stretch=True, least=least, most=100, middle=True)
