"""What another environment does to a program's time and memory, and which share of that each kind of difference has."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from inspect_compile.analysis.compare.causes.find import comparison
from inspect_compile.analysis.compare.causes.records import Cause, Cost
from inspect_compile.analysis.dumps.graphs import outermost
from inspect_compile.analysis.kernels.launch_times import latest, measuring
from inspect_compile.analysis.memory.plan import memories
from inspect_compile.dump import Dump
from inspect_compile.facts import Launched

KINDS: Final = {
    "program": ("source",),
    "breaks and tracing": ("dynamo",),
    "passes and decompositions": ("aot", "partition", "pass"),
    "fusion": ("fusion",),
    "other generated code": ("lowering", "realize", "tiling", "codegen"),
    "autotuning": ("autotune",),
    "same code, compiled to something else": ("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass", "isa"),
    "library functions": ("library",),
    "not explained": ("not known",),
}
"""Kind of difference → the levels of causes."""
LIBRARY: Final = "library functions"
SAME: Final = "same code, other time"
AROUND: Final = "between kernels"
_KIND_OF: Final = {level: kind for kind, levels in KINDS.items() for level in levels}


class Share(msgspec.Struct, frozen=True, tag_field="fact", tag="upgrade_share"):
    """What one kind of difference adds. `upgrade --json` prints these after the `upgrade` row."""

    kind: str
    """A key of KINDS, `same code, other time` or `between kernels`."""
    seconds: float | None
    """Added to one call of each graph; negative if it takes away. None if not measured."""
    share: float | None
    """The same as a part of the whole difference of time; None without one."""
    bytes: int
    """Added to what kernels read and write."""
    launches: int
    """Added launches."""
    causes: int
    """Number of causes."""


class Upgrade(msgspec.Struct, frozen=True, tag_field="fact", tag="upgrade"):
    """A program in two environments. The first row of `upgrade --json`."""

    versions: dict[str, str]
    """Of what differs, by name: `2.13.0 → 2.15.0`."""
    seconds: tuple[float | None, float | None]
    """Of one call of each graph's generated code, the least of all calls; None if not measured."""
    bytes: tuple[int, int]
    launches: tuple[int, int]
    peak: tuple[int, int]
    """The largest peak of memory of a graph, in bytes, from its memory plan."""
    graphs: tuple[int, int]


class Assigned(msgspec.Struct, frozen=True):
    """All of it."""

    whole: Upgrade
    shares: tuple[Share, ...]
    """The largest first."""
    causes: tuple[Cause, ...]


def upgrade(a: Dump, b: Dump, names: tuple[str, str]) -> Assigned:
    """Compare two dumps of one program, and assign the difference of time to kinds of differences."""
    found = comparison(a, b, names, has_same=True)
    times = call_seconds(a), call_seconds(b)
    sums: dict[str, list[tuple[Cost, Cost]]] = {}
    for cause in found.causes:
        sums.setdefault(_KIND_OF[cause.level], []).append((cause.cost_a, cause.cost_b))
    for one, other in found.same:
        kind = LIBRARY if one.launch.kernel.kind == "extern" else SAME
        sums.setdefault(kind, []).append((one.cost, other.cost))
    counts = {kind: sum(_KIND_OF[cause.level] == kind for cause in found.causes) for kind in sums}
    added = {kind: _added(costs) for kind, costs in sums.items()}
    costs = [cost for pairs in sums.values() for cost in pairs]
    whole = _whole(a, b, times, costs)
    total = None if None in times else (times[1] or 0.0) - (times[0] or 0.0)
    if total is not None and None not in added.values():
        added[AROUND] = total - sum(seconds or 0.0 for seconds in added.values())
        sums[AROUND] = []
    shares = [
        Share(
            kind=kind,
            seconds=seconds,
            share=None if seconds is None or not total else seconds / total,
            bytes=sum(new.bytes - old.bytes for old, new in sums[kind]),
            launches=sum(new.launches - old.launches for old, new in sums[kind]),
            causes=counts.get(kind, 0),
        )
        for kind, seconds in added.items()
    ]
    shares.sort(key=lambda row: (-abs(row.seconds or 0.0), -abs(row.bytes), -abs(row.launches)))
    return Assigned(whole, tuple(shares), tuple(found.causes))


def _added(costs: Iterable[tuple[Cost, Cost]]) -> float | None:
    found = [(old.measured, new.measured) for old, new in costs]
    if any(None in pair for pair in found):
        return None
    return sum((new or 0.0) - (old or 0.0) for old, new in found)


def _whole(a: Dump, b: Dump, times: tuple[float | None, float | None], costs: list[tuple[Cost, Cost]]) -> Upgrade:
    return Upgrade(
        versions=dict(_changed(a, b)),
        seconds=times,
        bytes=(sum(old.bytes for old, _ in costs), sum(new.bytes for _, new in costs)),
        launches=(sum(old.launches for old, _ in costs), sum(new.launches for _, new in costs)),
        peak=(_peak(a), _peak(b)),
        graphs=(len(outermost(a)), len(outermost(b))),
    )


def _changed(a: Dump, b: Dump) -> Iterator[tuple[str, str]]:
    ours, theirs = a.run.versions, b.run.versions
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield name, f"{ours.get(name, 'none')} → {theirs.get(name, 'none')}"


def _peak(dump: Dump) -> int:
    return max((memories(dump, graph.graph)[graph.graph].peak for graph in outermost(dump)), default=0)


def call_seconds(dump: Dump) -> float | None:
    """One call of each graph; None if one was not timed after its first call."""
    off = {row.device: row.overhead for row in measuring(dump)}
    rows = latest(dump.rows(Launched))
    calls = {row.graph: row for row in rows if row.what == "call"}
    inside = Counter(row.graph.partition("/")[0] for row in rows if row.what == "launch")  # each is measured, too
    total = 0.0
    for graph in outermost(dump):
        row = calls.get(graph.graph)
        if row is None or row.least is None:
            return None
        total += max(0.0, row.least - off.get(row.device, 0.0) * (1 + inside[graph.graph]))
    return total / 1e3 if calls else None
