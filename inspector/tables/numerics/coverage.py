"""What a check of numerics compared at no level: the lines of a report."""

from collections.abc import Iterable, Iterator
from typing import Final

from inspect_compile.analysis.numerics.coverage import Uncompared
from inspect_compile.graph import gathered
from inspect_compile.tables.styled_text import StyledLine, styled

_SHOWN: Final = 8
"""Maximum number of reasons that are printed."""
_PLACES: Final = 3
"""Maximum number of places that are named for one of them."""


def uncompared_lines(rows: Iterable[Uncompared]) -> Iterator[StyledLine]:
    """One line for each reason."""
    grouped = gathered(((row.step, row.reason), row) for row in rows)
    for found in list(grouped.values())[:_SHOWN]:
        yield styled(f"compared at no level: {_text(found)}", "warn")
    if len(grouped) > _SHOWN:
        rest = sum(len(found) for found in list(grouped.values())[_SHOWN:])
        yield styled(f"compared at no level: {rest:,} more, for other reasons", "warn")


def _text(rows: list[Uncompared]) -> str:
    """`result 0, result 1 of model__0_forward_1.0 with Dynamo's graph: a level above it could not be run`."""
    first = rows[0]
    if not first.graph:
        return first.reason
    places = list(dict.fromkeys(map(_place, rows)))
    named = ", ".join(places[:_PLACES])
    more = f" and {len(places) - _PLACES:,} more" if len(places) > _PLACES else ""
    step = f", with {first.step}" if first.step else ""
    return f"{named}{more}{step}: {first.reason}"


def _place(row: Uncompared) -> str:
    call = f", call {row.call:,}" if row.call > 1 else ""
    return f"{row.what} of {row.graph}{call}" if row.what else f"{row.graph}{call}"
