"""What one call of each graph's generated code is made of: the fastest call, whose parts add up to it."""

from collections.abc import Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.graphs import outermost
from inspect_compile.analysis.dumps.rows import grouped
from inspect_compile.analysis.kernels.launch_times import Key, in_fastest, latest, measuring
from inspect_compile.dump import Dump
from inspect_compile.facts import Launched

MEMORY: Final = "allocations and frees"
CHECKS: Final = "checks of inputs"
REST: Final = "Python between launches"
_PARTS: Final = {MEMORY: "memory", CHECKS: "checks"}


class CallTimes(msgspec.Struct, frozen=True):
    """Seconds of one call of each graph."""

    whole: float
    launches: dict[Key, float]
    """Graph, kernel and line → seconds."""
    parts: dict[str, float]
    """MEMORY, CHECKS, and REST: what neither these nor the launches take."""


def call_times(dump: Dump) -> CallTimes | None:
    """None if a graph was not called twice, or is not timed as a whole, as on a GPU."""
    own = {row.device: row for row in measuring(dump)}
    rows = grouped(latest(dump.rows(Launched)), lambda row: row.graph.partition("/")[0])
    whole, launches, parts = 0.0, dict[Key, float](), dict.fromkeys((*_PARTS, REST), 0.0)
    for graph in outermost(dump):
        inside = rows.get(graph.graph, [])
        call = next((row for row in inside if row.what == "call"), None)
        if call is None or call.least is None or call.device not in own:
            return None
        of = own[call.device]
        each = 1e3 * of.seconds / of.timed if of.timed else of.overhead
        timed = [row for row in inside if row.what != "call" and row.in_fastest is not None]
        took = max(0.0, call.least - of.overhead - each * sum(row.times_in_fastest for row in timed)) / 1e3
        for row in timed:
            seconds = (in_fastest(row, of.overhead) or 0.0) / 1e3
            if row.what == "launch":
                launches[row.graph, row.kernel, row.line] = seconds
            for name, what in _PARTS.items():
                parts[name] += seconds if row.what == what else 0.0
        whole += took
    parts[REST] = whole - sum(launches.values()) - sum(parts.values())
    return CallTimes(whole, launches, parts) if rows else None


def spread(seconds: Sequence[float]) -> float | None:
    """How far repeated measurements are apart; None of a single one."""
    return max(seconds) - min(seconds) if len(seconds) > 1 else None


def is_apart(old: Sequence[float], new: Sequence[float]) -> bool | None:
    """Is each measurement of one side less than each of the other one? Of three runs each, chance alone does that one
    time in ten; of five, one in 126. None where a side was measured once.
    """
    if len(old) < 2 or len(new) < 2:
        return None
    return max(old) < min(new) or max(new) < min(old)
