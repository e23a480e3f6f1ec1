"""The time of attributed kernels by the program's lines, modules, kernels or operators, and how near to the roof."""

from collections.abc import Callable, Iterator
from typing import Final, Literal

import msgspec

from inspect_compile.analysis.attribution import Attribution
from inspect_compile.analysis.flops import HEAVY, operator
from inspect_compile.analysis.launches import Launch
from inspect_compile.analysis.traffic import GraphTraffic, traffic
from inspect_compile.dump import Dump
from inspect_compile.facts import Location, Lowering, Node
from inspect_compile.knowledge.targets import Target

By = Literal["line", "module", "kernel", "op"]
BY: Final[tuple[By, ...]] = ("line", "module", "kernel", "op")


class AttributedRun(msgspec.Struct, frozen=True, tag_field="fact", tag="attributed_run"):
    """One kernel, copy or fill that ran on the GPU. `attribute --json` prints these."""

    event: int
    """Its place among the events of the profile, from 0."""
    name: str
    kind: str
    start: float
    """Microseconds of the profile's clock."""
    duration: float
    count: int
    """More than 1 where the profile has one sum for all runs of a name."""
    graph: str
    kernel: str
    """The name in the dump; empty where it was not attributed."""
    line: int | None
    """The launch in output_code.py."""
    nodes: tuple[str, ...]
    modules: tuple[str, ...]
    lines: tuple[Location, ...]
    instead: str
    """What it is of a call of the graph, where no line of the code launches it."""
    how: str
    confidence: str
    reason: str


class AttributedTime(msgspec.Struct, frozen=True, tag_field="fact", tag="attributed_time"):
    """All runs with the same lines, modules, kernel or operators. `attribute --by … --json` prints these."""

    by: By
    what: tuple[str, ...]
    """Several where one kernel computes for several: its time is not divided."""
    graph: str
    """Of a kernel."""
    runs: int
    microseconds: float
    share: float
    """Of the time of all runs of the profile."""
    bytes: int
    """Read and written by these runs, as the scheduler counts them."""
    flops: int
    """Of matmuls, convolutions and attention outside of fused kernels."""
    bandwidth_share: float | None
    """Of the device's bandwidth; None where the device is not known."""
    flops_share: float | None
    """Of its peak for the data type."""


class Unattributed(msgspec.Struct, frozen=True, tag_field="fact", tag="unattributed"):
    """Runs of one name that were not attributed, for one reason."""

    name: str
    reason: str
    runs: int
    microseconds: float


class Story(msgspec.Struct, frozen=True):
    """Where a launch comes from, and what one call of it moves and computes."""

    launch: Launch
    modules: tuple[str, ...]
    lines: tuple[Location, ...]
    operators: tuple[str, ...]
    moved: int
    flops: int
    dtype: str
    """Of what the matmul or convolution gives."""


class Stories:
    """Those of a dump's launches, each made once."""

    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._traffic: dict[str, GraphTraffic] = {}
        self._nodes: dict[str, dict[tuple[str, str], Node]] = {}
        self._flops: dict[str, dict[tuple[str, str], int]] = {}
        self._stories: dict[int, Story] = {}

    def of(self, launch: Launch) -> Story:
        """That of `launch`."""
        found = self._stories.get(id(launch))
        if found is None:
            found = self._stories[id(launch)] = self._make(launch)
        return found

    def _make(self, launch: Launch) -> Story:
        graph = launch.graph.partition("/")[0]
        if graph not in self._nodes:
            rows = [row for row in self._dump.rows(Node, graph) if row.stage == "post_grad"]
            self._nodes[graph] = {(row.graph, row.name): row for row in rows}
            self._traffic[graph] = traffic(self._dump, graph)
            lowered = self._dump.rows(Lowering, graph)
            self._flops[graph] = {(row.graph, row.node): row.flops for row in lowered if row.flops_kind in HEAVY}
        known = self._nodes[graph]
        nodes = [node for name in launch.nodes if (node := known.get((launch.graph, name))) is not None]
        computing = [node for node in nodes if node.op == "call_function"]
        heavy = [node for node in nodes if (launch.graph, node.name) in self._flops[graph]]
        is_own = launch.kernel.kind in ("extern", "template")
        return Story(
            launch,
            tuple(dict.fromkeys(node.module for node in nodes)),
            tuple({(at.file, at.line): at for node in nodes if (at := node.where) is not None}.values()),
            tuple(dict.fromkeys(operator(node.original_aten or node.target) for node in computing)),
            self._traffic[graph].of(launch).moved,
            sum(self._flops[graph][launch.graph, node.name] for node in heavy) if is_own else 0,
            heavy[0].values[0].dtype if heavy and heavy[0].values else "",
        )


def attributed_runs(dump: Dump, found: Attribution) -> Iterator[AttributedRun]:
    """One row a run, in the order of the profile."""
    stories = Stories(dump)
    for run, own in zip(found.runs, found.joined, strict=True):
        story = stories.of(own.launch) if own.launch is not None else None
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
            story.modules if story else (),
            story.lines if story else (),
            own.instead,
            own.how,
            own.confidence,
            own.reason,
        )


WHAT: Final[dict[By, Callable[[Story], tuple[str, ...]]]] = {
    "line": lambda story: tuple(f"{at.file}:{at.line}" for at in story.lines),
    "module": lambda story: story.modules,
    "kernel": lambda story: (story.launch.kernel.name,),
    "op": lambda story: story.operators,
}
"""What a launch is summed up under."""


class _Sum:
    """Runs of one launch, or of several."""

    def __init__(self) -> None:
        self.runs = self.calls = self.moved = self.flops = 0
        self.time = self.flop_roof = 0.0


class LaunchTimes:
    """The time of each launch of a profile, from which the tables are made."""

    def __init__(self, dump: Dump, found: Attribution) -> None:
        self._total = sum(run.duration for run in found.runs) or 1.0
        stories, sums = Stories(dump), dict[int, _Sum]()
        self._instead: dict[tuple[str, str], _Sum] = {}
        launches: dict[int, Launch] = {}
        first = found.first
        for place, (run, own) in enumerate(zip(found.runs, found.joined, strict=True)):
            launch = own.launch
            if own.instead:
                other = self._instead.setdefault((own.graph, own.instead), _Sum())
                other.runs += run.count
                other.time += run.duration
            if launch is not None:
                row = sums.get(id(launch))
                if row is None:
                    row = sums[id(launch)] = _Sum()
                    launches[id(launch)] = launch
                row.runs += run.count
                row.time += run.duration
                row.calls += run.count if place in first else 0
        self._sums = [(stories.of(launches[key]), row) for key, row in sums.items()]

    def by(self, by: By, device: Target | None) -> list[AttributedTime]:
        """The sums, the most time first."""
        sums: dict[tuple[str, tuple[str, ...]], _Sum] = {}
        for (graph, what), own in self._instead.items():
            row = sums.setdefault((graph if by == "kernel" else "", (f"({what})",)), _Sum())
            row.runs += own.runs
            row.time += own.time
        for story, own in self._sums:
            row = sums.setdefault((story.launch.graph if by == "kernel" else "", WHAT[by](story)), _Sum())
            row.runs += own.runs
            row.time += own.time
            row.moved += story.moved * own.calls
            row.flops += story.flops * own.calls
            peak = device.peak.get(story.dtype) if device and story.flops else None
            row.flop_roof += story.flops * own.calls / peak if peak else 0.0
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
            row.moved,
            row.flops,
            row.moved / (row.time / 1e6) / device.bandwidth if device and row.time else None,
            row.flop_roof / (row.time / 1e6) if row.flop_roof and row.time else None,
        )
        for (graph, what), row in sums.items()
    ]
    return sorted(rows, key=lambda row: -row.microseconds)


def unattributed(found: Attribution) -> list[Unattributed]:
    """What was not attributed, by name and reason, the most time first."""
    sums: dict[tuple[str, str], list[float]] = {}
    for run, own in zip(found.runs, found.joined, strict=True):
        if not own.is_joined:
            row = sums.setdefault((run.name, own.reason), [0, 0.0])
            row[0] += run.count
            row[1] += run.duration
    rows = [Unattributed(name, why, int(runs), round(time, 3)) for (name, why), (runs, time) in sums.items()]
    return sorted(rows, key=lambda row: -row.microseconds)


def notes(dump: Dump, found: Attribution) -> dict[int, dict[str, object]]:
    """Event → what is written among its args: strings that a trace viewer can show."""
    stories = Stories(dump)
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
            story = stories.of(own.launch)
            made[key] = {
                "user line": " ".join(f"{at.file}:{at.line}" for at in story.lines),
                "user code": " | ".join(dict.fromkeys(at.code for at in story.lines if at.code)),
                "module": " ".join(filter(None, story.modules)),
                "FX nodes": " ".join(own.launch.nodes),
                "ops": " ".join(story.operators),
                "kernel in dump": own.launch.kernel.name,
                "graph": own.launch.graph,
                "launched at": f"output_code.py:{own.launch.line}",
                "bytes": story.moved,
                "attributed by": f"{own.how} ({own.confidence})",
            }
        rows[run.index] = made[key]
    return rows
