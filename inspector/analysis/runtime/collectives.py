"""Communication between ranks outside of compiled graphs, which no graph and no cost in the dump includes."""

from collections.abc import Sequence
from typing import Final

from inspect_compile.analysis.dumps.parts import as_compiled, is_only_parts, ranks_text
from inspect_compile.dump import Dump
from inspect_compile.facts import Collective, Remark
from inspect_compile.graph import Graphs

CODE: Final = "collectives-outside"
_CALLERS: Final = {
    "DistributedDataParallel": "DistributedDataParallel's {hook}",
    "FSDP2": "FSDP2's {hook}",
    "FSDP": "FSDP's {hook}",
    "program": "the program",
    "torch": "torch's {hook}",
}


def outside(dump: Dump) -> list[Collective]:
    """The collectives of one rank that no compiled graph called, most bytes first."""
    rows = [row for row in dump.rows(Collective) if not row.is_compiled]
    return sorted(rows, key=lambda row: (-row.bytes, row.op))


def outside_of_ranks(dump: Dump) -> list[tuple[tuple[int, ...], list[Collective]]]:
    """The same for each rank of a run; ranks with the same calls are grouped, in the order of the first of them."""
    found: dict[tuple[Collective, ...], list[int]] = {}
    for rank, part in sorted(as_compiled(dump).items()):
        if rows := outside(part.dump):
            found.setdefault(tuple(rows), []).append(rank)
    return [(tuple(ranks), list(rows)) for rows, ranks in found.items()]


def caller_text(row: Collective) -> str:
    """The caller in words: `DistributedDataParallel's reducer`."""
    return _CALLERS.get(row.by, "by an unknown rank").format(hook=row.hook)


def by_operation(rows: Sequence[Collective]) -> list[tuple[str, int, int]]:
    """Name, number of calls and bytes of each collective, most bytes first."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        own = sums.setdefault(row.op, [0, 0])
        own[0] += row.count
        own[1] += row.bytes
    return sorted(((op, count, size) for op, (count, size) in sums.items()), key=lambda one: (-one[2], one[0]))


def earlier(rows: Sequence[Collective]) -> int:
    """Number of collectives, in graphs or not, that torch, which keeps the last ones, had dropped at the end."""
    return max((row.before for row in rows), default=0)


def collective_remarks(graphs: Graphs) -> list[Remark]:
    """A remark for each place that called a collective outside of compiled graphs; none if `graph` is given."""
    if graphs.name is not None:
        return []
    if is_only_parts(graphs.dump):
        return [_remark(row, f"{ranks_text(ranks)}: ") for ranks, rows in outside_of_ranks(graphs.dump) for row in rows]
    return [_remark(row, "") for row in outside(graphs.dump)]


def _remark(row: Collective, ranks: str) -> Remark:
    times = "once" if row.count == 1 else f"{row.count:,} times"
    message = f"{ranks}{row.op} outside of compiled graphs, {times}, {row.bytes:,} B of {row.dtype}: {caller_text(row)}"
    if row.before:
        message += f"; {row.before:,} earlier collectives of the rank are not known"
    return Remark(
        kind="analysis",
        code=CODE,
        message=message,
        numbers={"count": row.count, "bytes": row.bytes, "before": row.before},
        where=None if row.where is None else f"{row.where.file}:{row.where.line}",
    )
