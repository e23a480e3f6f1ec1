"""All rows of all tables as one JSON object, a row on each line."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from inspect_compile import tables
from inspect_compile.analysis.dumps.parts import is_only_parts
from inspect_compile.errors import CommandError
from inspect_compile.facts import SCHEMA_VERSION
from inspect_compile.graph import Graphs
from inspect_compile.tables.text import terminal_safe

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def every_row(dump: "Dump", name: str, graphs: Sequence[str | None] = (None,)) -> Iterator[bytes]:
    """The object in pieces: `dump`, `schema`, `run`, `tables` with the rows of each, and why others have none.

    The rows are those that `show TABLE --json` prints, of these graphs or (None) of all.
    """
    encoder = msgspec.json.Encoder()
    yield b'{"dump":%b,\n"schema":%d,\n"run":%b,\n"tables":{' % (
        terminal_safe(encoder.encode(name)),
        SCHEMA_VERSION,
        terminal_safe(encoder.encode(dump.run)),
    )
    missing: dict[str, str] = {}
    between = b"\n"
    for table in tables.TABLES:
        if is_only_parts(dump) and table not in tables.OF_ALL_PROCESSES:
            continue
        try:
            found = (row for graph in graphs for row in tables.rows(table, Graphs(dump, graph)))
            rows = [terminal_safe(encoder.encode(row)) for row in found]
        except CommandError as error:
            missing[table] = str(error)
            continue
        yield b'%b"%b":[%b]' % (between, table.encode(), b",".join(b"\n" + row for row in rows))
        between = b",\n"
    yield b'\n},\n"not_there":%b}\n' % terminal_safe(encoder.encode(missing))
