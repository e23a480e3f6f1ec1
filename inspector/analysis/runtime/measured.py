"""Launch times of a run with --measure, beside the bytes that the launches move."""

from collections.abc import Iterable

import msgspec

from inspect_compile.analysis.cost.launch_origins import WHAT, By, LaunchOrigins, lines_of
from inspect_compile.analysis.kernels.launch_times import latest, measured
from inspect_compile.facts import Launched, Location
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic


class MeasuredTime(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="measured_time"):
    """One launch, or all launches of one call of a graph grouped by `by`. `show measured --json` prints these."""

    graph: str
    by: str
    """launch; module, op, kernel or line with `--by`."""
    what: tuple[str, ...]
    """The kernel, or what the launches have in common; several if one launch, whose time is not divided, has them."""
    line: int | None = None
    """Line number of the launch in output_code.py."""
    device: str = ""
    launches: int = 1
    calls: int = 0
    """Number of times the launch ran; 0 if it is in the code and did not run."""
    replayed: int = 0
    """How many of the timed runs were in the replay of a CUDA graph."""
    is_cold: bool = False
    """True if of at least one launch only the first call was timed."""
    milliseconds: float | None
    """The median, or the sum of medians; None if nothing was timed."""
    least: float | None
    share: float | None
    """Share of the launches of one call, between 0 and 1."""
    bytes: int | None
    """Bytes read and written, each element of a buffer once per launch; None if some are not known."""
    gb_per_second: float | None
    unsure: int = 0
    """The part of `bytes` that depends on values, as an upper bound."""
    lines: tuple[Location, ...] = ()
    """Of sums by line, the lines of `what` with the calls that led to them."""


class MeasuredGraph(msgspec.Struct, frozen=True):
    """One call of a graph."""

    launches: list[MeasuredTime]
    """In the order of the code."""
    milliseconds: float
    """Sum of the medians of all launches."""
    bytes: int | None
    """Bytes of the launches that were timed; None if some are not known."""
    call: Launched | None
    """Time of the whole generated code; None on a GPU, which runs asynchronously."""
    replays: list[Launched]
    """Times of its CUDA graphs."""

    @property
    def cold(self) -> int:
        """Number of launches of which only the first call was timed."""
        return sum(row.is_cold for row in self.launches)

    @property
    def gb_per_second(self) -> float | None:
        """Rate over all launches."""
        return _rate(self.bytes, self.milliseconds)


def measured_graph(graph: CompiledGraph) -> MeasuredGraph | None:
    """The times of one outermost graph; None if nothing in it was measured."""
    rows = latest(graph.rows(Launched))
    if not rows:
        return None
    moved = graph.traffic
    times = {(row.graph, row.kernel, row.line): row for row in rows if row.what == "launch"}
    planned = [launch for launch in moved.launches if launch.line is not None]
    medians = measured(graph)
    whole = sum(medians[key].milliseconds for key in times if key in medians)
    call = next((row for row in rows if row.what == "call"), None)
    untimed = call.calls if call is not None and not times else 0
    found = []
    for launch in planned:
        key = launch.key
        row, own, traffic = times.get(key), medians.get(key), moved.of(launch)
        size, unsure = _sum([traffic])
        took = own.milliseconds if own is not None else None
        found.append(
            MeasuredTime(
                graph=launch.graph,
                by="launch",
                what=(launch.kernel.name,),
                line=launch.line,
                device=row.device if row is not None else launch.kernel.device,
                calls=row.calls if row is not None else untimed,
                replayed=row.replayed if row is not None else 0,
                is_cold=own is not None and own.is_cold,
                milliseconds=took,
                least=own.least if own is not None else None,
                share=took / whole if took is not None and whole else None,
                bytes=size,
                gb_per_second=_rate(size, took),
                unsure=unsure,
            )
        )
    timed = [row.bytes for row in found if row.milliseconds is not None]
    return MeasuredGraph(
        found,
        whole,
        None if None in timed else sum(size or 0 for size in timed),
        call,
        sorted((row for row in rows if row.what == "replay"), key=lambda row: row.number),
    )


def measured_by(graph: CompiledGraph, by: By) -> list[MeasuredTime]:
    """The launches of one call, summed up, longest time first."""
    origins, medians = LaunchOrigins(graph.dump), measured(Graphs(graph.dump))
    every = graph.traffic.launches
    timed = ((one, own) for one in every if (own := medians.get(one.key)) is not None)
    sums = grouped(timed, lambda pair: WHAT[by](origins.of(pair[0])))
    whole = sum(own.milliseconds for found in sums.values() for _, own in found)
    rows = []
    for what, found in sums.items():
        took = sum(own.milliseconds for _, own in found)
        size, unsure = _sum([origins.of(launch).traffic for launch, _ in found])
        rows.append(
            MeasuredTime(
                graph=graph.name,
                by=by,
                what=what,
                launches=len(found),
                calls=max(own.calls for _, own in found),
                is_cold=any(own.is_cold for _, own in found),
                milliseconds=took,
                least=sum(own.least for _, own in found),
                share=took / whole if whole else None,
                bytes=size,
                gb_per_second=_rate(size, took),
                unsure=unsure,
                lines=lines_of(by, origins.of(found[0][0])),
            )
        )
    return sorted(rows, key=lambda row: -(row.milliseconds or 0.0))


def measured_rows(graphs: Graphs, by: By | None = None) -> Iterable[MeasuredTime]:
    """The rows of `show measured --json`."""
    for asked in graphs:
        if by is None:
            found = measured_graph(CompiledGraph(graphs.dump, asked.name).outermost)
            yield from found.launches if found is not None else ()
        else:
            yield from measured_by(asked, by)


def _sum(found: list[KernelTraffic]) -> tuple[int | None, int]:
    """Bytes, and how many of them depend on values."""
    if not all(row.is_known for row in found):
        return None, 0
    return sum(row.least for row in found), sum(row.unsure for row in found)


def _rate(size: int | None, milliseconds: float | None) -> float | None:
    return size / milliseconds / 1e6 if size and milliseconds else None
