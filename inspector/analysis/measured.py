"""What the program's launches took, where it was run with --measure, beside the bytes that they move."""

import msgspec

from inspect_compile.analysis.launches import launches
from inspect_compile.analysis.traffic import traffic
from inspect_compile.dump import Dump
from inspect_compile.facts import Launched, Measuring


class Measured(msgspec.Struct, frozen=True):
    """One launch over all calls that were timed."""

    calls: int
    milliseconds: float
    """The median."""
    least: float


class MeasuredLaunch(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="measured_launch"):
    """A row of `show measured`: one launch in the order of the code, one whole call, or one CUDA graph's replays."""

    graph: str
    what: str
    """launch, call, replay, as in `launched`."""
    kernel: str
    line: int | None
    device: str
    number: int = 0
    calls: int
    timed: int
    replayed: int
    milliseconds: float | None
    """The median; where only the first call was timed, None."""
    least: float | None
    first: float | None
    share: float | None
    """Of the sum of the medians of the graph's launches."""
    bytes: int | None
    """What one launch reads and writes, by the generated loops; None for an extern call that nobody counted."""
    gb_per_second: float | None
    groups: tuple[str, ...] = ()


def rows_of(dump: Dump, graph: str | None = None) -> list[Launched]:
    """The last row of each launch, call and replay; in the order in which they were first told."""
    last: dict[tuple[str, str, str, int | None, str, int], Launched] = {}
    for row in dump.rows(Launched, graph):
        last[row.graph, row.what, row.kernel, row.line, row.device, row.number] = row
    return list(last.values())


def measuring(dump: Dump) -> list[Measuring]:
    """What measuring cost, by device."""
    return list({row.device: row for row in dump.rows(Measuring)}.values())


def measured(dump: Dump) -> dict[tuple[str, str, int | None], Measured]:
    """(graph, kernel, line in output_code.py) → its times. Launches without a time after the first are left out."""
    return {
        (row.graph, row.kernel, row.line): Measured(row.calls, row.milliseconds, row.least)
        for row in rows_of(dump)
        if row.what == "launch" and row.milliseconds is not None and row.least is not None
    }


def measured_launches(dump: Dump, graph: str) -> list[MeasuredLaunch]:
    """The rows of one outermost graph: its launches by line, then the whole call, then its CUDA graphs."""
    rows = rows_of(dump, graph)
    if not rows:
        return []
    moved: dict[tuple[str, str, int | None], tuple[int, tuple[str, ...]]] = {}
    counted = traffic(dump, graph)
    for launch in launches(dump, graph):
        moved[launch.graph, launch.kernel.name, launch.line] = counted.of(launch).moved, launch.groups
    whole = sum(row.milliseconds or 0.0 for row in rows if row.what == "launch")
    found = []
    for row in rows:
        size, groups = moved.get((row.graph, row.kernel, row.line), (0, ()))
        if row.what != "launch":
            size = sum(bytes_ for bytes_, _ in moved.values())
        took = row.milliseconds
        found.append(
            MeasuredLaunch(
                graph=row.graph,
                what=row.what,
                kernel=row.kernel,
                line=row.line,
                device=row.device,
                number=row.number,
                calls=row.calls,
                timed=row.timed,
                replayed=row.replayed,
                milliseconds=took,
                least=row.least,
                first=row.first,
                share=took / whole if took is not None and whole and row.what == "launch" else None,
                bytes=size or None,
                gb_per_second=size / took / 1e6 if size and took else None,
                groups=groups,
            )
        )
    order = {"launch": 0, "call": 1, "replay": 2}
    return sorted(found, key=lambda row: (order.get(row.what, 3), row.line or 0, row.number))
