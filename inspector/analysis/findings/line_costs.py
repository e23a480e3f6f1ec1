"""What one call of each graph costs, by the user's own lines; and by the lines of libraries inside the dearest."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.cost.kernel_work import launch_work
from inspect_compile.analysis.findings.costs import Cost, Costs
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.kernels.launch_times import measured
from inspect_compile.dump import Dump
from inspect_compile.facts import Location
from inspect_compile.facts.compile_id import frame_id
from inspect_compile.graph import Graphs, any_number, grouped, outermost
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.cost.sure import ESTIMATED, MEASURED, NOT_KNOWN, TIMED
from inspect_compile.knowledge.frontend.own_code import own_line

_MOST_INNER: Final = 5


class _Row(NamedTuple):
    launch: Launch
    traffic: KernelTraffic
    flops: int
    cost: Cost
    own: tuple[Location, ...]


def line_costs(graphs: Graphs) -> list[LineCost]:
    """The costs of the lines, most expensive first, each followed by its parts where it leads into libraries.

    Those of one `graph`, or of all that are not `only_cold`.
    """
    rows = list(_rows(graphs))
    whole = _Whole(rows)
    parts = grouped(rows, lambda row: _key(row.own)).values()
    sums = [(whole.sum(part, _in_order(one for row in part for one in row.own)), part) for part in parts]
    costs: list[LineCost] = []
    for found, own in sorted(sums, key=lambda pair: -pair[0].share):
        costs += [found, *_inner(whole, own)]
    return costs


def only_cold(dump: Dump) -> frozenset[str]:
    """Graphs that ran in a first, cold call alone, where another compile of the same function was timed behind its own.

    Kernels are compiled and tuned in a first call: its time says nothing about later ones, which the other compile has.
    """
    times = grouped(measured(Graphs(dump)).items(), lambda pair: outermost(pair[0][0]))
    cold = {name: all(own.is_cold for _, own in found) for name, found in times.items()}
    timed = [one for one in dump.outermost() if one.graph in cold and one.compile_id]
    compiles = grouped(timed, lambda one: (frame_id(one.compile_id or ""), one.kind)).values()
    return frozenset(
        one.graph for same in compiles if not all(cold[one.graph] for one in same) for one in same if cold[one.graph]
    )


def _rows(graphs: Graphs) -> Iterator[_Row]:
    costs = Costs(graphs.dump)
    left_out = only_cold(graphs.dump) if graphs.name is None else frozenset()
    for found in graphs:
        if found.name in left_out:
            continue
        moved, work = (found.traffic, launch_work(found))
        for launch in moved.launches:
            if launch.line is None:
                continue
            done = work.get(launch.key)
            flops = 0 if done is None else done.heavy + done.scalar
            yield _Row(launch, moved.of(launch), flops, costs.of_launch(launch), _own(launch.lines))


def _own(lines: Iterable[Location]) -> tuple[Location, ...]:
    """The user's own lines that led to these, in order; lines of libraries if none of them is known."""
    every = list(lines)
    own = [one for line in every if (one := own_line(line)) is not None]
    return _in_order(own or every)


def _in_order(lines: Iterable[Location]) -> tuple[Location, ...]:
    """Each line of a module once."""
    found = {(one.file, one.line, one.module): one for one in lines}
    return tuple(found[place] for place in sorted(found))


def _inner(whole: "_Whole", rows: list[_Row]) -> list[LineCost]:
    """The same rows by lines of libraries; empty where all of them are the user's own."""
    parts = grouped(rows, lambda row: tuple(sorted({(one.file, one.line) for one in row.launch.lines})))
    if set(parts) <= {tuple(dict.fromkeys((one.file, one.line) for one in rows[0].own))}:
        return []
    found = [whole.sum(part, _lines(part), is_inner=True) for lines, part in parts.items() if lines]
    return sorted(found, key=lambda row: -row.share)[:_MOST_INNER]


def _lines(rows: Iterable[_Row]) -> tuple[Location, ...]:
    """The lines of some launches, of libraries' in each module that ran them."""
    found = {(one.file, one.line, one.module): one for row in rows for one in row.launch.lines}
    return tuple(found.values())


def _key(lines: Iterable[Location]) -> tuple[tuple[str, int, str], ...]:
    """What lines have in common that are one row: in equal modules of several layers, if they are a library's."""
    return tuple(dict.fromkeys((one.file, one.line, any_number(one.module)) for one in lines))


class _Whole:
    """What all launches cost."""

    def __init__(self, rows: list[_Row]) -> None:
        self._seconds = _seconds(rows)
        self._bytes = sum(row.traffic.least for row in rows)
        self._flops = sum(row.flops for row in rows)

    def sum(self, rows: list[_Row], lines: tuple[Location, ...], *, is_inner: bool = False) -> LineCost:
        """The sum of some of them."""
        seconds = _seconds(rows)
        moved, flops = sum(row.traffic.least for row in rows), sum(row.flops for row in rows)
        share = moved / self._bytes if self._bytes else flops / (self._flops or 1)
        if self._seconds is not None and seconds is not None:
            share = seconds / (self._seconds or 1.0)
        sure = {row.cost.sure for row in rows}
        return LineCost(
            lines=lines,
            is_inner=is_inner,
            graph=rows[0].launch.graph,
            launches=len(rows),
            seconds=seconds,
            sure=_all_of(sure) if seconds is not None else NOT_KNOWN,
            bytes=moved,
            unknown=sum(not row.traffic.is_known for row in rows),
            flops=flops,
            share=share,
        )


def _all_of(sure: set[str]) -> str:
    """How a sum of times is known."""
    if len(sure) == 1:
        return next(iter(sure))
    return TIMED if sure == {MEASURED, TIMED} else ESTIMATED


def _seconds(rows: list[_Row]) -> float | None:
    took = [row.cost.seconds for row in rows]
    return None if None in took else sum(one or 0.0 for one in took)
