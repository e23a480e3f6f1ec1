"""How long each launch took, where the program was run with --measure."""

from collections.abc import Iterable

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Launched, Measuring
from inspect_compile.graph import Graphs

Key = tuple[str, str, int | None]
"""Graph, kernel, line in output_code.py."""


class Measured(msgspec.Struct, frozen=True):
    """One launch, over all calls that were timed."""

    calls: int
    timed: int
    """How many calls the median is of: 1 where that is the first one."""
    milliseconds: float
    """The median; the first call counts only if there was no other."""
    least: float
    in_call: float | None
    """The least in one call of its graph; None where calls were not timed as a whole."""
    is_cold: bool
    """Only the first call was timed, in which kernels are compiled and tuned and caches are cold."""
    device: str


def latest(rows: Iterable[Launched]) -> list[Launched]:
    """The last row of each launch: counts only grow."""
    return list({(row.graph, row.what, row.kernel, row.line, row.number): row for row in rows}.values())


def measured(graphs: Graphs) -> dict[Key, Measured]:
    """The timed launches, less the overhead of measuring; with `graph`, those of it and its nested graphs."""
    found = {}
    added = {row.device: row.overhead for row in measuring(graphs.dump)}
    for row in latest(graphs.rows(Launched)):
        took = row.first if row.milliseconds is None else row.milliseconds
        if row.what == "launch" and took is not None:
            least = took if row.least is None else row.least
            off = added.get(row.device, 0.0)
            is_cold = row.milliseconds is None
            found[row.graph, row.kernel, row.line] = Measured(
                calls=row.calls,
                timed=1 if is_cold else row.timed,
                milliseconds=max(0.0, took - off),
                least=max(0.0, least - off),
                in_call=least_in_call(row, off),
                is_cold=is_cold,
                device=row.device,
            )
    return found


def least_in_call(row: Launched, overhead: float) -> float | None:
    """Milliseconds in one call of the graph, less the overhead of measuring each time."""
    return None if row.least_in_call is None else max(0.0, row.least_in_call - overhead * row.times_in_call)


def measuring(dump: Dump) -> list[Measuring]:
    """How the launches were measured, and what that cost, by device."""
    return list({row.device: row for row in dump.rows(Measuring)}.values())
