"""The symbols of each graph: what they stand for, and their ranges."""

from inspect_compile.analysis.dumps.symbols import symbols as symbols_of
from inspect_compile.facts import Symbol
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column
from inspect_compile.tables.text import number_of, one_line, place_text

_COLUMNS = (
    Column("symbol"),
    Column("is", cap=0.4),
    Column("hint", right=True),
    Column("range"),
    Column("where", cap=0.22),
    Column("", flex=True, least=100),
)
_INFINITY = ("int_oo", "oo")
_UNBOUNDED = 2**62
"""torch uses values from here on for "no upper bound"."""


def range_text(row: Symbol) -> str:
    """`2 … 512`, or `2 …` without an upper bound."""
    is_open = row.upper in _INFINITY or (row.upper.isdecimal() and len(row.upper) < 30 and int(row.upper) >= _UNBOUNDED)
    return f"{row.lower} …" if is_open else f"{row.lower} … {row.upper}"


def _cells(row: Symbol) -> list[Cell]:
    code = one_line(row.where.code) if row.where is not None else ""
    return [row.name, row.source or "known at run time", row.hint, range_text(row), place_text(row.where), code]


symbols = Listing[Symbol](
    "symbols",
    _COLUMNS,
    symbols_of,
    _cells,
    told=lambda found: number_of(len(found), "symbol"),
    none="all sizes are numbers",
)
"""One row for each symbol."""
