"""What launches, and parts of what they move, cost in seconds: measured where the run was, else at the roofline."""

from collections.abc import Iterable
from typing import NamedTuple

from inspect_compile.analysis.cost.roofline import OVER_LINKS, Bounds, roofline
from inspect_compile.analysis.cost.roofs import LAUNCH_SECONDS, roof_of
from inspect_compile.analysis.kernels.launch_times import Key, measured
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, Graphs, outermost
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.cost.sure import ESTIMATED, MEASURED, NOT_KNOWN, TIMED, sure_of


class Cost(NamedTuple):
    """Seconds of one call of a graph."""

    seconds: float | None
    sure: str
    timed: int | None = None
    """Of how many calls a time is the median, of several launches the fewest; None if it was not timed."""


def together(costs: Iterable[Cost]) -> Cost:
    """The sum of some of one kind; not known if one of them is not."""
    every = list(costs)
    took = [one.seconds for one in every if one.seconds is not None]
    if len(took) < len(every) or not every:
        return Cost(None, NOT_KNOWN)
    sure = next(one for one in (ESTIMATED, TIMED, MEASURED) if one in {row.sure for row in every})
    timed = min((one.timed for one in every if one.timed is not None), default=None)
    return Cost(sum(took), sure, timed)


class Costs:
    """The costs of one dump's launches."""

    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._roof = roof_of(dump)
        self._times = measured(Graphs(dump))
        self._bounds: dict[str, dict[Key, Bounds]] = {}

    def of_bytes(self, moved: int, launches: Iterable[Launch]) -> Cost:
        """The time of `moved` bytes, a part of what these launches move: that part of their measured time, else the
        bytes at the device's bandwidth.
        """
        rows = {launch.key: launch for launch in launches}
        took = [one for key in rows if (one := self._times.get(key)) is not None]
        if rows and len(took) == len(rows):
            every = sum(CompiledGraph(self._dump, _outer(one)).traffic.of(one).least for one in rows.values())
            if every:
                timed = min(one.timed for one in took)
                seconds = sum(one.milliseconds for one in took) / 1e3
                return Cost(seconds * min(1.0, moved / every), sure_of(timed), timed)
        if self._roof is None:
            return Cost(None, NOT_KNOWN)
        return Cost(moved / self._roof.bandwidth, ESTIMATED)

    def of_launch(self, launch: Launch) -> Cost:
        """The time of a whole launch."""
        if (took := self._times.get(launch.key)) is not None:
            return Cost(took.milliseconds / 1e3, sure_of(took.timed), took.timed)
        bounds = self._bounds_of(_outer(launch)).get(launch.key)
        is_known = bounds is not None and bounds.uncounted != OVER_LINKS
        return Cost(bounds.least_seconds, ESTIMATED) if bounds is not None and is_known else Cost(None, NOT_KNOWN)

    def of_launching(self, launches: int) -> Cost:
        """The time of launching so many kernels one by one on a GPU."""
        return Cost(launches * LAUNCH_SECONDS, ESTIMATED)

    def _bounds_of(self, graph: str) -> dict[Key, Bounds]:
        if graph not in self._bounds:
            rows = [] if self._roof is None else roofline(CompiledGraph(self._dump, graph), self._roof)
            self._bounds[graph] = {(row.graph, row.kernel, row.line): row for row in rows}
        return self._bounds[graph]


def _outer(launch: Launch) -> str:
    return outermost(launch.graph)
