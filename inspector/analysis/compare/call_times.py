"""What one call of each graph's generated code takes: the sum of the least that each of its parts took in any call.

On a machine with other work hardly any whole call runs undisturbed, and each part does some time.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.kernels.launch_times import Key, latest, least_in_call, measuring
from inspect_compile.dump import Dump
from inspect_compile.facts import Launched, Measuring
from inspect_compile.graph import grouped, outermost

MEMORY: Final = "allocations and frees"
CHECKS: Final = "checks of sizes"
REST: Final = "Python between launches"
ENTRY: Final = "guards, Dynamo and wrappers"
BACKWARD: Final = "from forward to backward"
PARTS: Final = (MEMORY, CHECKS, REST, ENTRY, BACKWARD)
_PARTS: Final = {MEMORY: "memory", CHECKS: "checks"}
_BEFORE: Final = "before"
_TIMED: Final = ("launch", "call", "rest", _BEFORE, *_PARTS.values())


class CallTimes(msgspec.Struct, frozen=True):
    """Seconds of one call of each graph."""

    whole: float
    """The sum of all."""
    launches: dict[Key, float]
    """Graph, kernel and line → seconds."""
    parts: dict[str, float]
    """MEMORY, CHECKS, and REST: what neither these nor the launches take; and what goes by before a call: ENTRY, and
    before one of a backward graph BACKWARD.
    """
    fastest: float
    """The fastest call of each graph as a whole, with what goes by before it."""


def call_times(dump: Dump) -> CallTimes | None:
    """None if a graph, or one of its launches, was not timed after its first call. On a GPU, of launches alone."""
    own = {row.device: row for row in measuring(dump)}
    rows = grouped(latest(dump.rows(Launched)), lambda row: outermost(row.graph))
    launches, parts, fastest = dict[Key, float](), dict.fromkeys(PARTS, 0.0), 0.0
    for graph in dump.outermost():
        inside = {what: [row for row in rows.get(graph.graph, ()) if row.what == what] for what in _TIMED}
        call, rest = (next(iter(inside[what]), None) for what in ("call", "rest"))
        took = {row: _seconds(row, own) for what in ("launch", *_PARTS.values()) for row in inside[what]}
        if call is None and (not took or None in took.values()):
            return None
        launches |= {(row.graph, row.kernel, row.line): took[row] or 0.0 for row in inside["launch"]}
        for name, what in _PARTS.items():
            parts[name] += sum(took[row] or 0.0 for row in inside[what])
        before = sum(_seconds(row, own) or 0.0 for row in inside[_BEFORE])
        parts[BACKWARD if graph.kind == "backward" else ENTRY] += before
        fastest += before
        if call is None:
            fastest += sum(seconds or 0.0 for seconds in took.values())
            continue
        if call.least is None or rest is None or rest.least is None or call.device not in own:
            return None
        of, times = own[call.device], sum(row.times_in_call for row in took)
        around = (1e3 * of.seconds / of.timed if of.timed else of.overhead) - of.overhead
        parts[REST] += max(0.0, rest.least - of.overhead - around * times) / 1e3
        fastest += max(0.0, call.least - of.overhead - (around + of.overhead) * times) / 1e3
    whole = sum(launches.values()) + sum(parts.values())
    # What measuring costs is an estimate: a call of many short launches may seem to take less than they do.
    return CallTimes(whole, launches, parts, max(fastest, whole)) if rows else None


def _seconds(row: Launched, own: Mapping[str, Measuring]) -> float | None:
    """The least in one call, or where calls are not timed as a whole of each; None if it ran in none but the first."""
    off = own[row.device].overhead if row.device in own else 0.0
    took = least_in_call(row, off)
    if took is None and row.least is not None:
        took = max(0.0, row.least - off)
    return None if took is None else took / 1e3


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
