"""A bar beside the share of each row, which only the app has room for."""

from collections.abc import Callable, Sequence
from typing import Final

from inspect_compile.tables.columns import Column, Row, cell

_LONGEST: Final = 12
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def with_bar(
    columns: Sequence[Column[Row]], share: Callable[[Row], float], role: Callable[[Row], str] = lambda row: "bar"
) -> list[Column[Row]]:
    """`columns` with a bar for the share behind the column that tells it."""
    at = next(index for index, column in enumerate(columns) if column.title == "share") + 1
    bar: Column[Row] = Column("", lambda row: cell(_bar(share(row)), role(row)), most=_LONGEST, drop=2)
    return [*columns[:at], bar, *columns[at:]]


def _bar(share: float) -> str:
    eighths = round(_LONGEST * 8 * share)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
