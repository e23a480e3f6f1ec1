"""Collectives outside of compiled graphs, for the views of a distributed run."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.dumps.parts import ranks_text
from inspect_compile.analysis.runtime.collectives import by_operation, caller_text, earlier, outside, outside_of_ranks
from inspect_compile.facts import Collective
from inspect_compile.tables.columns import Column, place_cell
from inspect_compile.tables.parts import command, limited
from inspect_compile.tables.styled_text import Block, Claim, styled
from inspect_compile.tables.text import byte_text, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

COLUMNS: Final[tuple[Column[Collective], ...]] = (
    Column("collective", lambda row: one_line(row.op), role="name", stretch=True, least=16, most=40),
    Column("calls", lambda row: f"{row.count:,}", right=True),
    Column("bytes", lambda row: byte_text(row.bytes), right=True),
    Column("type", lambda row: one_line(row.dtype), role="type", drop=1),
    Column("caller", lambda row: one_line(caller_text(row)), stretch=True, least=16, most=60),
    Column("place", lambda row: place_cell(row.where), stretch=True, least=12, drop=2),
)
_ROWS = 8
_OPERATIONS = 3


def claims(dump: "Dump", dump_argument: str) -> Iterator[Claim]:
    """A line about the collectives of one rank; nothing if there are none."""
    if rows := outside(dump):
        yield Claim(styled(f" {_words(rows)}"), command(dump_argument, "remarks"))


def claims_of_ranks(dump: "Dump", dump_argument: str) -> Iterator[Claim]:
    """A line for each group of ranks with the same calls."""
    for ranks, rows in outside_of_ranks(dump):
        yield Claim(styled(f" {ranks_text(ranks)}   {_words(rows)}"), command(dump_argument, "ranks"))


def sheets(dump: "Dump", *, limit: int | None) -> Iterator[Block]:
    """A table for each group of ranks with the same calls."""
    for ranks, rows in outside_of_ranks(dump):
        note = f"{earlier(rows):,} earlier ones are not known: torch keeps only the last ones"
        notes = [styled(note, "warn")] if earlier(rows) else []
        title = styled(f"Collectives outside of compiled graphs, {ranks_text(ranks)} each", "strong")
        yield limited(COLUMNS, rows, None if limit is None else _ROWS, "--all", title=title, notes=notes)


def _words(rows: Sequence[Collective]) -> str:
    sums = by_operation(rows)
    counts = ", ".join(f"{count:,} {one_line(op)} {byte_text(size)}" for op, count, size in sums[:_OPERATIONS])
    more = f", {len(sums) - _OPERATIONS} more kinds" if len(sums) > _OPERATIONS else ""
    before = f"; {earlier(rows):,} earlier ones are not known" if earlier(rows) else ""
    return f"outside of compiled graphs: {counts}{more}{before}"
