"""The symbols of each graph: what they stand for, and their ranges."""

from typing import Final

from inspect_compile.facts import Symbol
from inspect_compile.tables.columns import Column, place_cell
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import code_text, number_of

_INFINITY = ("int_oo", "oo")
_UNBOUNDED = 2**62
"""torch uses values from here on for "no upper bound"."""


def range_text(row: Symbol) -> str:
    """`2 … 512`, or `2 …` without an upper bound."""
    is_open = row.upper in _INFINITY or (row.upper.isdecimal() and len(row.upper) < 30 and int(row.upper) >= _UNBOUNDED)
    return f"{row.lower} …" if is_open else f"{row.lower} … {row.upper}"


COLUMNS: Final[tuple[Column[Symbol], ...]] = (
    Column("symbol", lambda row: row.name, role="name", most=20),
    Column("is", lambda row: row.source or "known at run time", stretch=True, least=10, most=80, middle=True),
    Column("hint", lambda row: row.hint, right=True, most=20, drop=1),
    Column("range", range_text, most=40, drop=2),
    Column("where", lambda row: place_cell(row.where), most=44, drop=3),
    Column("code", lambda row: code_text(row.where), role="dim", stretch=True, least=16, drop=4),
)

TABLE: Final = Listing[Symbol](
    "symbols",
    COLUMNS,
    lambda graph: graph.symbols,
    summary=lambda found: number_of(len(found), "symbol"),
    none="all sizes are constants",
).table()
"""One row for each symbol."""
