"""A kept compile with the names and lines of this run, and its way into the dump."""

import itertools
from collections.abc import Iterator
from hashlib import sha256
from string import digits
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.facts import AotMetadata, Call, Fact, Graph, GraphEnd, Kernel, Location, Pass, Remark
from inspect_compile.kept.collected import decoded
from inspect_compile.kept.entry import Entry, EntryError, table_of
from inspect_compile.kept.lines import Moved
from inspect_compile.kept.names import Renamed
from inspect_compile.lowering.caches.dynamo_graph import DynamoGraph
from inspect_compile.lowering.core import running_calls, values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.lowering.passes import passes
from inspect_compile.probe import Probes

_MOST_DIGITS: Final = 9
"""Of the number of a compile: longer texts take Python long to convert, or are refused by it."""
_COUNTED: Final = (Graph, GraphEnd, Kernel, Remark)
"""Facts that the recorder looks at one by one."""


class Prepared(NamedTuple):
    """`number`: AOTAutograd's of the compile. `codes`: sha256 of the generated code of each graph. `rows` and `texts`
    are as the dump gets them.
    """

    when: str
    number: int
    codes: tuple[str, ...]
    rows: tuple[list[Fact], ...]
    texts: tuple[tuple[str, bytes], ...]


def prepared(entry: Entry, graph: DynamoGraph, compile_id: str, number: int) -> Prepared:
    """The entry for a compile of this run; `number` is AOTAutograd's. Raises UnplacedError, EntryError."""
    moved = Moved(entry, graph.nodes, graph.stacks, CALL_SITES.caller_of(compile_id), CALL_SITES.record)
    texts = [(name, moved.text(data)) for name, data in entry.files if table_of(name) is None]
    tables = [(table, moved.rows(data)) for name, data in entry.files if (table := table_of(name)) is not None]
    aot_id = f"{entry.aot_id.rstrip(digits)}{number}"
    names = {}
    for old in entry.graphs:
        name, _, earlier = old[len(entry.aot_id) :].rpartition(".")
        if not earlier.isdecimal() or len(earlier) > _MOST_DIGITS:
            raise EntryError(f"it has a graph of another name: {old[:200]!r}")
        names[old] = SCOPES.named(f"{aot_id}{name}", int(earlier))
    renamed = Renamed(names, (entry.compile_id, compile_id), (entry.aot_id, aot_id))
    return Prepared(
        entry.when,
        number,
        entry.codes,
        tuple(decoded(table, renamed.rows(data)) for table, data in tables),
        tuple((renamed.path(name), data) for name, data in texts),
    )


def record(probes: Probes, found: Prepared) -> None:
    """Write what is kept to the dump."""
    for name, data in found.texts:
        probes.sink.file(name, data)
    for rows in found.rows:
        for (kind, _), some in itertools.groupby(_of_this_run(rows, found), lambda row: (type(row), row.graph)):
            if issubclass(kind, _COUNTED):
                for row in some:
                    probes.sink.add(row)
            else:
                probes.sink.add_all(some)
    probes.sink.flush()


def _of_this_run(rows: list[Fact], found: Prepared) -> Iterator[Fact]:
    """The rows with the numbers that calls, passes and graphs have in this run."""
    kept = {Call: running_calls.NUMBERS, Pass: passes.NUMBERS}
    numbered = [row for row in rows if isinstance(row, (Call, Pass))]
    numbers = {row.index: next(kept[type(row)]) for row in sorted(numbered, key=lambda row: row.index)}
    outside = running_calls.RUNNING.innermost()
    for row in rows:
        more: dict[str, Any] = {}
        if isinstance(row, (Call, Pass)):
            parent = None if row.parent is None else numbers.get(row.parent, outside if type(row) is Call else None)
            more = {"index": numbers[row.index], "parent": parent}
        elif isinstance(row, Graph):
            more = {"kept": found.when}
        elif isinstance(row, AotMetadata):
            more = {"aot_id": found.number, "cached": True}
        elif isinstance(row, Remark) and isinstance(row.place, Location):
            more = {"where": values.line_text(row.place)}
        yield msgspec.structs.replace(row, **more) if more else row


def is_code(found: Prepared, text: str) -> bool:
    """Whether this is the generated code of one of its graphs."""
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest() in found.codes
