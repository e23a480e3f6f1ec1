"""Byte counts in words: exact, at most, at the hints of symbols, or not known."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from inspect_compile.tables.text import byte_text

if TYPE_CHECKING:
    from inspect_compile.analysis.cost.kernel_traffic import KernelTraffic

UNKNOWN: Final = "?"
AT_HINTS: Final = "~"
AT_MOST: Final = "≤ "


def moved_text(count: int | None, *, is_unsure: bool = False, is_symbolic: bool = False) -> str:
    """`4.1 kB`, `≤ 4.1 kB` if values decide, `~4.1 kB` if sizes are symbolic; `?` if not known."""
    if count is None:
        return UNKNOWN
    return f"{AT_MOST * is_unsure}{AT_HINTS * is_symbolic}{byte_text(count)}"


def read_text(rows: "Iterable[KernelTraffic]") -> str:
    """What launches read in total."""
    found = list(rows)
    count = sum(row.read for row in found) if all(row.is_known for row in found) else None
    return moved_text(count, is_unsure=any(row.is_read_unsure for row in found))


def written_text(rows: "Iterable[KernelTraffic]") -> str:
    """What launches write in total."""
    found = list(rows)
    count = sum(row.written for row in found) if all(row.is_known for row in found) else None
    return moved_text(count, is_unsure=any(row.is_written_unsure for row in found))


def exact_words(row: "KernelTraffic") -> str:
    """`reads 4,096 B, writes 128 B`, exactly."""
    if not row.is_known:
        return "how much it moves is not known"
    read, written = AT_MOST * row.is_read_unsure, AT_MOST * row.is_written_unsure
    return f"reads {read}{row.read:,} B, writes {written}{row.written:,} B"
