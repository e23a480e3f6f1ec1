"""What another environment does to a program's time and memory, and which share of that each kind of difference has."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.compare.call_times import PARTS, CallTimes, call_times, is_apart, spread
from inspect_compile.analysis.compare.causes.compiled import Call, total
from inspect_compile.analysis.compare.causes.find import comparison
from inspect_compile.analysis.compare.causes.records import Cause, Cost
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.analysis.kernels.launch_times import Key
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph

KINDS: Final = {
    "program": ("source",),
    "breaks and tracing": ("dynamo",),
    "passes and decompositions": ("aot", "partition", "pass"),
    "fusion": ("fusion",),
    "other generated code": ("lowering", "realize", "tiling", "codegen"),
    "autotuning": ("autotune",),
    "same code, compiled differently": ("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass", "isa"),
    "library functions": ("library",),
    "not explained": ("not known",),
}
"""Kind of difference → the levels of causes."""
LIBRARY: Final = "library functions"
SAME: Final = "same code, different time"
_KIND_OF: Final = {level: kind for kind, levels in KINDS.items() for level in levels}
_TOLD: Final = 6
"""Kernels and functions that are told."""


class Share(msgspec.Struct, frozen=True, tag_field="fact", tag="upgrade_share"):
    """What one kind of difference adds. `upgrade --json` prints these after the `upgrade` row."""

    kind: str
    """A key of KINDS, `same code, different time`, or a part of the calls: `allocations and frees`, `checks of sizes`,
    `Python between launches`, `guards, Dynamo and wrappers`, `from forward to backward`.
    """
    seconds: float | None
    """Added to one call of each graph; negative if it takes away. None if not measured."""
    share: float | None
    """The same as a part of the whole difference of time; None without one that is more than noise."""
    is_noise: bool | None
    """True if the runs of the two environments overlap in it; None if each ran once."""
    bytes: int
    """Added to what kernels read and write."""
    launches: int
    """Added launches."""
    causes: int
    """Number of causes."""


class UpgradePart(msgspec.Struct, frozen=True, tag_field="fact", tag="upgrade_part"):
    """The launches of one kernel or library function, in one call of each graph. `upgrade --json` prints these last."""

    kind: str
    names: tuple[str, str]
    """In either environment; empty where it has none."""
    launches: tuple[int, int]
    seconds: tuple[float, float]


class Upgrade(msgspec.Struct, frozen=True, tag_field="fact", tag="upgrade"):
    """A program in two environments. The first row of `upgrade --json`."""

    versions: dict[str, str]
    """Of what differs, by name: `2.13.0 → 2.15.0`."""
    seconds: tuple[float | None, float | None]
    """Of one call of each graph's generated code, the sum of the least that each part took; None if not measured."""
    fastest: tuple[float | None, float | None]
    """The fastest call of each graph as a whole, in any run."""
    bytes: tuple[int, int]
    launches: tuple[int, int]
    peak: tuple[int, int]
    """The largest peak of memory of a graph, in bytes, from its memory plan."""
    graphs: tuple[int, int]
    runs: int
    """How often each ran."""
    spread: tuple[float | None, float | None]
    """How far the runs of one environment are apart, in seconds; None of a single run."""
    is_noise: bool | None
    """True if the runs of the two environments overlap: their times do not differ. None if each ran once."""


class Assigned(msgspec.Struct, frozen=True):
    """All of it."""

    whole: Upgrade
    shares: tuple[Share, ...]
    """The largest first."""
    causes: tuple[Cause, ...]
    parts: tuple[UpgradePart, ...]
    """Those that add or take away most."""
    places: tuple[int, int]
    """Which run of each was compared: the fastest, from 0."""


class _Sums:
    """The launches of each kind on both sides."""

    def __init__(self) -> None:
        self.costs: dict[str, list[tuple[Cost, Cost]]] = {}
        self.keys: dict[str, tuple[list[Key], list[Key]]] = {}
        self.parts: dict[tuple[str, str, str], tuple[list[Key], list[Key]]] = {}

    def add(self, kind: str, ours: Sequence[Call], theirs: Sequence[Call]) -> None:
        """Launches that have a part of the graphs in common."""
        self.costs.setdefault(kind, []).append((total(ours), total(theirs)))
        keys = self.keys.setdefault(kind, ([], []))
        names = [next((call.name for call in calls), "") for calls in (ours, theirs)]
        part = self.parts.setdefault((kind, names[0], names[1]), ([], []))
        for place, calls in enumerate((ours, theirs)):
            found = [(call.launch.graph, call.name, call.launch.line) for call in calls]
            keys[place].extend(found)
            part[place].extend(found)


def upgrade(old: Sequence[Dump], new: Sequence[Dump], names: tuple[str, str]) -> Assigned:
    """Compare the dumps of one program in two environments, one or several runs of each, and assign the difference of
    time to kinds of differences. What was compiled is that of the fastest run of each, and the times are its times.
    """
    times = [[call_times(dump) for dump in dumps] for dumps in (old, new)]
    places = [_fastest(found) for found in times]
    a, b = old[places[0]], new[places[1]]
    found = comparison(paired(a, b), names, has_same=True)
    sums = _Sums()
    for cause, ours, theirs in found.launches:
        sums.add(_KIND_OF[cause.level], ours, theirs)
    for one, other in found.same:
        sums.add(LIBRARY if one.launch.kernel.kind == "extern" else SAME, (one,), (other,))
    counts = Counter(_KIND_OF[cause.level] for cause in found.causes)
    costs = [cost for pairs in sums.costs.values() for cost in pairs]
    measured = [[one for one in side if one is not None] for side in times]
    is_timed = all(len(side) == len(all_) for side, all_ in zip(measured, times, strict=True))
    chosen = (measured[0][places[0]], measured[1][places[1]]) if is_timed else None
    whole = _whole(a, b, measured if is_timed else [[], []], chosen, costs)
    every = {
        kind: [[_sum(one, keys) for one in side] for side, keys in zip(measured, both, strict=True)]
        for kind, both in sums.keys.items()
    }
    if is_timed:
        parts = {kind: [[one.parts[kind] for one in side] for side in measured] for kind in PARTS}
        every |= {kind: seconds for kind, seconds in parts.items() if any(map(any, seconds))}
    difference = chosen[1].whole - chosen[0].whole if chosen is not None else None
    shares = []
    for kind, seconds in every.items():
        pairs = sums.costs.get(kind, [])
        added = seconds[1][places[1]] - seconds[0][places[0]] if is_timed else None
        shares.append(
            Share(
                kind=kind,
                seconds=added,
                share=None if added is None or not difference or whole.is_noise else added / difference,
                is_noise=_overlap(*seconds) if is_timed else None,
                bytes=sum(new.bytes - old.bytes for old, new in pairs),
                launches=sum(new.launches - old.launches for old, new in pairs),
                causes=counts.get(kind, 0),
            )
        )
    shares.sort(key=lambda row: (-abs(row.seconds or 0.0), -abs(row.bytes), -abs(row.launches)))
    return Assigned(whole, tuple(shares), tuple(found.causes), tuple(_parts(sums, chosen)), (places[0], places[1]))


def _fastest(times: Sequence[CallTimes | None]) -> int:
    return min(range(len(times)), key=lambda place: one.whole if (one := times[place]) is not None else 0.0)


def _sum(times: CallTimes, keys: Iterable[Key]) -> float:
    return sum(times.launches.get(key, 0.0) for key in dict.fromkeys(keys))


def _overlap(old: Sequence[float], new: Sequence[float]) -> bool | None:
    apart = is_apart(old, new)
    return None if apart is None else not apart


def _parts(sums: _Sums, chosen: tuple[CallTimes, CallTimes] | None) -> list[UpgradePart]:
    """The kernels and functions whose time differs most."""
    if chosen is None:
        return []
    found = [
        UpgradePart(
            kind, (one, other), (len(both[0]), len(both[1])), (_sum(chosen[0], both[0]), _sum(chosen[1], both[1]))
        )
        for (kind, one, other), both in sums.parts.items()
    ]
    found.sort(key=lambda part: -abs(part.seconds[1] - part.seconds[0]))
    return found[:_TOLD]


def _whole(
    a: Dump,
    b: Dump,
    measured: Sequence[Sequence[CallTimes]],
    chosen: tuple[CallTimes, CallTimes] | None,
    costs: Sequence[tuple[Cost, Cost]],
) -> Upgrade:
    runs = [[one.whole for one in side] for side in measured]
    return Upgrade(
        versions=dict(_changed(a, b)),
        seconds=(None, None) if chosen is None else (chosen[0].whole, chosen[1].whole),
        fastest=(
            min((one.fastest for one in measured[0]), default=None),
            min((one.fastest for one in measured[1]), default=None),
        ),
        bytes=(sum(old.bytes for old, _ in costs), sum(new.bytes for _, new in costs)),
        launches=(sum(old.launches for old, _ in costs), sum(new.launches for _, new in costs)),
        peak=(_peak(a), _peak(b)),
        graphs=(len(a.outermost()), len(b.outermost())),
        runs=len(runs[0]),
        spread=(spread(runs[0]), spread(runs[1])),
        is_noise=_overlap(*runs),
    )


def _changed(a: Dump, b: Dump) -> Iterator[tuple[str, str]]:
    ours, theirs = a.run.versions, b.run.versions
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield name, f"{ours.get(name, 'none')} → {theirs.get(name, 'none')}"


def _peak(dump: Dump) -> int:
    return max((CompiledGraph(dump, graph.graph).memories[graph.graph].peak for graph in dump.outermost()), default=0)
