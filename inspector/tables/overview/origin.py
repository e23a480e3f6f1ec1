"""What a log by others held, of which a dump was made."""

from typing import Final

from inspect_compile.facts import OriginRecords
from inspect_compile.tables.columns import Column
from inspect_compile.tables.parts import DeclaredTable, Request, limited
from inspect_compile.tables.styled_text import Block, heading, styled
from inspect_compile.tables.text import byte_text, number_of, one_line

COLUMNS: Final[tuple[Column[OriginRecords], ...]] = (
    Column("record", lambda row: one_line(row.what), role="name", stretch=True, least=24, most=80),
    Column("count", lambda row: f"{row.count:,}", right=True),
    Column("text", lambda row: byte_text(row.bytes) if row.bytes else "", right=True),
    Column("became", lambda row: one_line(row.became), stretch=True, least=12, most=60),
)


def origin(request: Request) -> Block:
    """Each kind of record of the log, and what it became."""
    dump = request.dump
    if not dump.run.origin:
        return styled("recorded here: nothing was read from a log", "dim")
    rows = request.kept(dump.rows(OriginRecords))
    title = heading(f"{number_of(sum(row.count for row in rows), 'record')} of a {dump.run.origin}", "")
    return limited(COLUMNS, rows, request.limit, request.every("origin"), title=title)


TABLE: Final = DeclaredTable(origin, lambda graphs: graphs.dump.rows(OriginRecords))
