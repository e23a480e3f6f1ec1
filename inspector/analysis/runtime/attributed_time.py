"""GPU time of attributed kernels by launch, source line, module or operator, and their share of the device's peak."""

from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.cost.launch_origins import WHAT, By, LaunchOrigins, lines_of
from inspect_compile.analysis.cost.roofline import CallTime
from inspect_compile.analysis.kernels.launch_times import Key
from inspect_compile.analysis.runtime.attribution import Attribution
from inspect_compile.dump import Dump
from inspect_compile.facts import Location
from inspect_compile.graph import Id
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.targets.targets import Target


class AttributedRun(msgspec.Struct, frozen=True, tag_field="fact", tag="attributed_run"):
    """One kernel, copy or memset that ran on the GPU. `attribute --json` prints these."""

    event: int
    """Index of the event in the profile, from 0."""
    name: str
    kind: str
    start: float
    """Microseconds on the profile's clock."""
    duration: float
    count: int
    """Number of runs that this row stands for: more than 1 if the profile has only a sum for each name."""
    graph: str
    kernel: str
    """The kernel's name in the dump; empty if the run was not attributed."""
    line: int | None
    """Line number of the launch in output_code.py."""
    nodes: tuple[str, ...]
    modules: tuple[str, ...]
    lines: tuple[Location, ...]
    instead: str
    """What the run does for the graph if no line of the code launches it, such as the copy of a CUDA graph's inputs."""
    how: str
    confidence: str
    reason: str


class AttributedTime(msgspec.Struct, frozen=True, tag_field="fact", tag="attributed_time"):
    """All runs with the same lines, module, kernel or operators. `attribute --by … --json` prints these."""

    by: By
    what: tuple[str, ...]
    """The lines, modules and so on; several if one kernel computes for several, whose time is not divided."""
    graph: str
    """The kernel's graph; for `--by kernel` only."""
    runs: int
    microseconds: float
    share: float
    """Share of the time of all runs in the profile, between 0 and 1."""
    bytes: int | None
    """Bytes that these runs read and write, each element of a buffer once per call; None if some are not known."""
    flops: int
    """FLOPs of matmuls, convolutions and attention outside of fused kernels."""
    bandwidth_share: float | None
    """Share of the device's memory bandwidth; None if the device is not known."""
    flops_share: float | None
    """Share of the device's peak for the data type; None if it is not known."""
    unsure: int = 0
    """The part of `bytes` that depends on the values in tensors, as an upper bound."""
    lines: tuple[Location, ...] = ()
    """Of sums by line, the lines of `what` with the calls that led to them."""


class Unattributed(msgspec.Struct, frozen=True, tag_field="fact", tag="unattributed"):
    """Runs with the same name that were not attributed, for the same reason."""

    name: str
    reason: str
    runs: int
    microseconds: float


def attributed_runs(dump: Dump, found: Attribution) -> Iterator[AttributedRun]:
    """One row for each run, in the order of the profile."""
    origins = LaunchOrigins(dump)
    for run, own in zip(found.runs, found.joined, strict=True):
        origin = origins.of(own.launch) if own.launch is not None else None
        yield AttributedRun(
            run.index,
            run.name,
            run.kind,
            run.start,
            run.duration,
            run.count,
            own.graph,
            own.launch.kernel.name if own.launch else "",
            own.launch.line if own.launch else None,
            own.launch.nodes if own.launch else (),
            origin.modules if origin else (),
            origin.lines if origin else (),
            own.instead,
            own.how,
            own.confidence,
            own.reason,
        )


class _Sum:
    """Sums over the runs of one or several launches."""

    def __init__(self) -> None:
        self.runs = self.calls = self.moved = self.unsure = self.flops = 0
        self.time = self.flop_roof = 0.0
        self.lines: tuple[Location, ...] = ()
        self.is_known = True
        """Whether the bytes are known."""


class LaunchTimes:
    """The time of each launch in a profile, from which the tables are computed."""

    def __init__(self, dump: Dump, found: Attribution) -> None:
        self._total = sum(run.duration for run in found.runs) or 1.0
        origins, sums = LaunchOrigins(dump), dict[int, tuple[Launch, _Sum]]()
        self._instead: dict[Id, _Sum] = {}
        for place, (run, own) in enumerate(zip(found.runs, found.joined, strict=True)):
            launch = own.launch
            if own.instead:
                other = self._instead.setdefault(Id(own.graph, own.instead), _Sum())
                other.runs += run.count
                other.time += run.duration
            if launch is not None:
                _, row = sums.setdefault(id(launch), (launch, _Sum()))
                row.runs += run.count
                row.time += run.duration
                row.calls += run.count if place in found.first else 0
        self._sums = [(origins.of(launch), row) for launch, row in sums.values()]

    def by(self, by: By, device: Target | None) -> list[AttributedTime]:
        """The sums by line, module, kernel or operator, longest time first. `device` gives the peaks, if known."""
        sums: dict[tuple[str, tuple[str, ...]], _Sum] = {}
        for (graph, what), own in self._instead.items():
            row = sums.setdefault((graph if by == "kernel" else "", (f"({what})",)), _Sum())
            row.runs += own.runs
            row.time += own.time
            row.is_known = False  # the generated code does not mention it
        for origin, own in self._sums:
            row = sums.setdefault((origin.launch.graph if by == "kernel" else "", WHAT[by](origin)), _Sum())
            row.runs += own.runs
            row.time += own.time
            row.lines = row.lines or lines_of(by, origin)
            row.moved += origin.traffic.least * own.calls
            row.unsure += origin.traffic.unsure * own.calls
            row.is_known = row.is_known and origin.traffic.is_known
            row.flops += origin.flops * own.calls
            peak = device.peak.get(origin.dtype) if device and origin.flops else None
            row.flop_roof += origin.flops * own.calls / peak if peak else 0.0
        return _rows(by, sums, self._total, device)


def _rows(
    by: By, sums: dict[tuple[str, tuple[str, ...]], _Sum], total: float, device: Target | None
) -> list[AttributedTime]:
    rows = [
        AttributedTime(
            by,
            what,
            graph,
            row.runs,
            round(row.time, 3),
            row.time / total,
            row.moved if row.is_known else None,
            row.flops,
            row.moved / (row.time / 1e6) / device.bandwidth if device and row.time and row.is_known else None,
            row.flop_roof / (row.time / 1e6) if row.flop_roof and row.time else None,
            row.unsure if row.is_known else 0,
            row.lines,
        )
        for (graph, what), row in sums.items()
    ]
    return sorted(rows, key=lambda row: -row.microseconds)


def unattributed(found: Attribution) -> list[Unattributed]:
    """Runs that were not attributed, by name and reason, longest time first."""
    sums: dict[tuple[str, str], list[float]] = {}
    for run, own in zip(found.runs, found.joined, strict=True):
        if not own.is_joined:
            row = sums.setdefault((run.name, own.reason), [0, 0.0])
            row[0] += run.count
            row[1] += run.duration
    rows = [Unattributed(name, why, int(runs), round(time, 3)) for (name, why), (runs, time) in sums.items()]
    return sorted(rows, key=lambda row: -row.microseconds)


def notes(dump: Dump, found: Attribution) -> dict[int, dict[str, object]]:
    """For each event, the notes to add to its args: strings that a trace viewer can show."""
    origins = LaunchOrigins(dump)
    made: dict[tuple[int, str], dict[str, object]] = {}
    rows: dict[int, dict[str, object]] = {}
    for run, own in zip(found.runs, found.joined, strict=True):
        if own.launch is None:
            rows[run.index] = {"inspect_compile: not attributed": own.reason}
            if own.instead:
                by = f"{own.how} ({own.confidence})"
                rows[run.index] = {"graph": own.graph, "what": own.instead, "attributed by": by}
            continue
        key = id(own.launch), own.how
        if key not in made:
            origin = origins.of(own.launch)
            moved = origin.traffic
            made[key] = {
                "user line": " ".join(f"{at.file}:{at.line}" for at in origin.lines),
                "user code": " | ".join(dict.fromkeys(at.code for at in origin.lines if at.code)),
                "module": " ".join(filter(None, origin.modules)),
                "FX nodes": " ".join(own.launch.nodes),
                "ops": " ".join(origin.operators),
                "kernel in dump": own.launch.kernel.name,
                "graph": own.launch.graph,
                "launched at": f"output_code.py:{own.launch.line}",
                "bytes": moved.least if moved.is_known else "not known",
                **({"bytes, at most, of these": moved.unsure} if moved.unsure else {}),
                "attributed by": f"{own.how} ({own.confidence})",
            }
        rows[run.index] = made[key]
    return rows


def measured_in(found: Attribution) -> dict[Key, CallTime]:
    """The mean time of a call of each launch: the sum of everything that one call ran on the device."""
    times: dict[Key, list[float]] = {}
    for place, (run, own) in enumerate(zip(found.runs, found.joined, strict=True)):
        if own.launch is None or own.instead:
            continue
        row = times.setdefault((own.launch.graph, own.launch.kernel.name, own.launch.line), [0.0, 0])
        row[0] += run.duration
        row[1] += run.count if place in found.first else 0
    return {
        key: CallTime(microseconds / 1e6 / calls, int(calls), "trace")
        for key, (microseconds, calls) in times.items()
        if calls and microseconds
    }
