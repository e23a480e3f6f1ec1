"""The words and columns that tables of costs share: bytes and FLOPs that may not be known, and what a row is about."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.tables.columns import Cell, Column, Row, cell, lines_cell
from inspect_compile.tables.text import byte_text, multiple_text, one_line, places_text

if TYPE_CHECKING:
    from inspect_compile.facts import Location
    from inspect_compile.graph.cost.kernel_traffic import KernelTraffic

UNKNOWN: Final = "?"
AT_HINTS: Final = "~"
AT_MOST: Final = "≤ "


def moved_text(count: int | None, *, is_unsure: bool = False, is_symbolic: bool = False) -> str:
    """`4.1 kB`, `≤ 4.1 kB` if values decide, `~4.1 kB` if sizes are symbolic; `?` if not known."""
    if count is None:
        return UNKNOWN
    return f"{AT_MOST * is_unsure}{AT_HINTS * is_symbolic}{byte_text(count)}"


def total_words(rows: "Sequence[KernelTraffic]") -> tuple[str, str]:
    """`reads 4.1 kB`, `writes ≤ 128 B`: what launches move in total."""
    is_known = all(row.is_known for row in rows)
    read = moved_text(
        sum(row.read for row in rows) if is_known else None, is_unsure=any(row.is_read_unsure for row in rows)
    )
    written = moved_text(
        sum(row.written for row in rows) if is_known else None, is_unsure=any(row.is_written_unsure for row in rows)
    )
    return f"reads {read}", f"writes {written}"


def exact_text(row: "KernelTraffic") -> str:
    """`reads 4,096 B, writes 128 B`, exactly."""
    if not row.is_known:
        return "its traffic is not known"
    read, written = AT_MOST * row.is_read_unsure, AT_MOST * row.is_written_unsure
    return f"reads {read}{row.read:,} B, writes {written}{row.written:,} B"


def count_text(count: int, uncounted: str) -> str:
    """`2 M` FLOPs, with a note if not everything is counted."""
    known = multiple_text(count, "")
    return known if not uncounted else f"{known} +" if count else "not counted"


TITLES: Final = {"line": "line", "module": "module", "kernel": "kernel", "op": "operators"}
"""What launches are summed up by → the title of its column."""


def origin_text(by: str, what: Sequence[str]) -> str:
    """The lines, modules, operators or kernel that a sum is for: `mixed.py:19 20`, `(top) norm`."""
    if by == "line":
        places = [place.rpartition(":") for place in what]
        if without_line := [place for _, colon, place in places if not colon]:
            return one_line(without_line[0])
        return places_text((path, one_line(number)) for path, _, number in places) or "(no line)"
    names = (one_line(name).removeprefix("aten." if by == "op" else "") for name in what)
    return " ".join(name or "(top)" if by == "module" else name for name in names) or "(none)"


def origin_column(
    title: str,
    by: Callable[[Row], str],
    what: Callable[[Row], Sequence[str]],
    lines: Callable[[Row], "Iterable[Location]"],
    *,
    least: int = 28,
) -> Column[Row]:
    """What a sum is for; lines are the user's own first."""

    def shown(row: Row) -> Cell:
        return lines_cell(lines(row)) or cell(origin_text(by(row), what(row)), "name")

    return Column(title, shown, stretch=True, least=least, most=100, middle=True)


def name_column(title: str, of: Callable[[Row], str], *, least: int = 28) -> Column[Row]:
    """A column of names that differ at their ends, `least` wide or more."""
    return Column(title, of, role="name", stretch=True, least=least, most=100, middle=True)
