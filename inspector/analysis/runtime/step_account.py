"""One account of a step's wall time, all of it: what the GPU ran and, where it was idle, what the host did meanwhile.

Without a GPU, what the main thread did. The rows add up to the step; what the profile does not tell is a row, too.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from statistics import fmean
from typing import Final, NamedTuple

from inspect_compile.analysis.runtime.attribution import Attribution
from inspect_compile.analysis.runtime.host_activity import NOTHING, Activity, Host
from inspect_compile.analysis.runtime.steps import Steps, steps_of
from inspect_compile.analysis.runtime.time_slices import Slice, disjoint, gaps, within
from inspect_compile.facts import Location, OperatorLine, StepAccount, StepTime
from inspect_compile.graph import grouped
from inspect_compile.knowledge.cost.step_kinds import (
    COLLECTIVE,
    COMPILED,
    COPIES,
    EAGER,
    IN_ANOTHER_LAYOUT,
    LAUNCH,
    LIBRARY,
    NOT_KNOWN,
    OVERHEAD,
    SYNCHRONISATION,
    WAITING,
    WRAPPER,
)
from inspect_compile.knowledge.kernels.library_kernels import changes_layout, library_of
from inspect_compile.profiles import GpuRun, Profile

Bound = Mapping[tuple[str, str, int | None], str]
"""Graph, kernel and line of a launch → what bounds it by the roofline."""

_COMMUNICATES: Final = "collective"
_TO_HOST: Final = ("HtoD", "DtoH")


class Account(NamedTuple):
    """The steps of a profile, and the parts of one, most time first."""

    step: StepAccount
    rows: list[StepTime]


class _Row(NamedTuple):
    """What a slice of time counts for."""

    kind: str
    what: str = ""
    where: str = ""
    region: str = ""
    bound: str = ""
    is_idle: bool = False
    line: Location | None = None


@dataclass(slots=True)
class _Sum:
    seconds: float = 0.0
    count: int = 0
    hidden: float = 0.0
    after: float = 0.0
    waited: float = 0.0


def step_account(
    profile: Profile,
    found: Attribution | None = None,
    bounds: Bound | None = None,
    given: str | None = None,
    lines: Iterable[OperatorLine] = (),
) -> Account | None:
    """The account of the steps in `profile`; None if it tells of no time at all.

    `found`: the same profile joined with a dump, which knows generated kernels whatever their names are. `given`: the
    line, `train.py:41`, of the function whose calls are the steps. `lines`: what the run of the profile recorded of
    operators outside of graphs.
    """
    if (not profile.spans and not profile.runs) or not profile.is_ordered:
        return None
    host = Host(profile, lines)
    steps = steps_of(profile, host.main, given)
    account = _OnGpu(profile, host, found, bounds or {}) if profile.runs else _OnCpu(host)
    ends = account.ends(steps.ends) if len(steps.ends) > 1 else _whole(profile)
    if len(ends) < 2 or ends[-1] <= ends[0]:
        return None
    account.count(ends[0], ends[-1])
    return _finished(account.sums, steps, ends, profile.device if profile.runs else "", account.busy)


def _whole(profile: Profile) -> list[float]:
    hosts = [*profile.spans, *profile.waits]
    starts = [span.start for span in hosts] + [run.start for run in profile.runs]
    ends = [span.end for span in hosts] + [run.start + run.duration for run in profile.runs]
    return [min(starts), max(ends)]


class _OnCpu:
    """Counts what the main thread does."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.sums: dict[_Row, _Sum] = {}
        self.busy = 0.0

    @staticmethod
    def ends(ends: Sequence[float]) -> list[float]:
        """The same: the host is what takes the steps."""
        return list(ends)

    def count(self, start: float, end: float) -> None:
        """Add up the time between."""
        before = NOTHING
        slices = self._host.slices(start, end)
        has_kernels = any(one.what.kind == COMPILED for one in slices)
        for one in slices:
            row = _cpu_row(one.what, has_kernels=has_kernels)
            own = self.sums.setdefault(row, _Sum())
            own.seconds += one.seconds
            own.count += one.what != before
            before = one.what


def _cpu_row(activity: Activity, *, has_kernels: bool) -> _Row:
    kind, what, where, region, _, line = activity
    if kind == SYNCHRONISATION:
        return _Row(EAGER, what, where, region, line=line)  # nothing to wait for
    if kind == OVERHEAD and what == WRAPPER and not has_kernels:
        return _Row(COMPILED, "kernels and the wrapper around them", "")
    return _Row(
        kind, what, "" if kind == OVERHEAD else where, region if kind == EAGER else "", line=line if where else None
    )


class _OnGpu:
    """Counts what the GPU runs, and what the host does where it is idle."""

    def __init__(self, profile: Profile, host: Host, found: Attribution | None, bounds: Bound) -> None:
        self._host = host
        self._waits = profile.waits
        self._calls = {call.correlation: call.start for call in profile.calls}
        times = {device: sum(run.duration for run in own) for device, own in _by_device(profile.runs).items()}
        device = max(times, key=lambda one: times[one])
        joined = found.joined if found is not None and len(found.joined) == len(profile.runs) else ()
        self._runs: list[tuple[GpuRun, _Row]] = []
        for index, run in enumerate(profile.runs):
            if run.device == device:
                launch = joined[index].launch if joined else None
                key = None if launch is None else launch.key
                is_generated = None if launch is None else launch.kernel.kind != "extern"
                bound = "" if key is None else bounds.get(key, "")
                self._runs.append((run, _gpu_row(run, host.started(run.correlation), is_generated, bound)))
        self._runs.sort(key=lambda pair: pair[0].start)
        self.sums: dict[_Row, _Sum] = {}
        self.busy = 0.0

    def ends(self, ends: Sequence[float]) -> list[float]:
        """The moment at which the GPU has done what the host gave it in each step, if that is later."""
        started = sorted(
            (self._calls.get(run.correlation or -1, run.start), run.start + run.duration) for run, _ in self._runs
        )
        found, at, reached = [], 0, float("-inf")
        for end in ends:
            while at < len(started) and started[at][0] < end:
                reached = max(reached, started[at][1])
                at += 1
            found.append(max(end, reached))
        return found

    def count(self, start: float, end: float) -> None:
        """Add up the time between."""
        inside = [(run, row) for run, row in self._runs if run.start < end and run.start + run.duration > start]
        busy: list[Slice[_Row]] = []
        by_rank = grouped(inside, lambda pair: _rank(pair[1].kind))
        for rank in sorted(by_rank):
            own = disjoint(Slice(run.start, run.start + run.duration, row) for run, row in by_rank[rank])
            shown = within(own, gaps(busy, start, end))
            busy = sorted([*busy, *shown], key=attrgetter("start"))
            for run, row in by_rank[rank]:
                if start <= run.start < end:
                    self.sums.setdefault(row, _Sum()).count += 1
            for one in within(own, [(start, end)]):
                self.sums.setdefault(one.what, _Sum()).hidden += one.seconds
            for one in shown:
                self.sums[one.what].hidden -= one.seconds
        for one in busy:
            self.sums[one.what].seconds += one.seconds
            self.busy += one.seconds
        self._idle(gaps(busy, start, end), start, end)

    def _idle(self, spaces: list[tuple[float, float]], start: float, end: float) -> None:
        """Count idle time by what the host does, and from the launch of the next kernel on for that launch."""
        begins = [run.start for run, _ in self._runs]
        free: list[tuple[float, float]] = []
        for idle_from, idle_to in spaces:
            at = bisect_left(begins, idle_to)
            launched = idle_to
            if at < len(begins) and begins[at] == idle_to:
                run = self._runs[at][0]
                called = self._calls.get(run.correlation or -1, idle_to)
                launched = min(idle_to, max(idle_from, called))
                self._add(self._host.started(run.correlation), idle_to - launched, is_launch=True)
            if launched > idle_from:
                free.append((idle_from, launched))
        slices = self._host.slices(start, end)
        for one in within(slices, free):
            self._add(one.what, one.end - one.start)
        for one in slices:
            if one.what.kind == SYNCHRONISATION:
                own = self.sums.setdefault(_idle_row(one.what, is_launch=False), _Sum())
                own.waited += one.seconds
        self._after_waits(slices, spaces, start, end)

    def _add(self, activity: Activity, microseconds: float, *, is_launch: bool = False) -> None:
        self.sums.setdefault(_idle_row(activity, is_launch=is_launch), _Sum()).seconds += microseconds / 1e6

    def _after_waits(
        self, slices: list[Slice[Activity]], spaces: list[tuple[float, float]], start: float, end: float
    ) -> None:
        """For each wait, the idle time from its end until the GPU runs something again."""
        begins = [space[0] for space in spaces]
        moments = [one.start for one in slices]
        for wait in self._waits:
            if not start <= wait.start < end:
                continue
            doing = slices[bisect_right(moments, wait.start) - 1].what
            own = self.sums.setdefault(_idle_row(doing, is_launch=False), _Sum())
            own.count += 1
            at = bisect_right(begins, wait.end) - 1
            if at >= 0 and spaces[at][1] > wait.end:
                own.after += (spaces[at][1] - wait.end) / 1e6


def _by_device(runs: Iterable[GpuRun]) -> dict[int, list[GpuRun]]:
    return grouped(runs, lambda run: run.device)


def _rank(kind: str) -> int:
    """Of two things that run at once, the one whose time it is: what computes hides what communicates and copies."""
    return 2 if kind in (COPIES, SYNCHRONISATION) else 1 if kind == COLLECTIVE else 0


def _gpu_row(run: GpuRun, by: Activity, is_generated: bool | None, bound: str) -> _Row:
    """What a kernel counts for, from what the host did when it started it; `is_generated`: as the dump knows it."""
    kind, what, where, region, is_in_graph, line = by
    library = library_of(run.name)
    if library is not None and library.does == _COMMUNICATES:
        return _Row(COLLECTIVE, run.name)
    if kind == SYNCHRONISATION:
        return _Row(SYNCHRONISATION, what, where, region, line=line)
    if is_generated is None and not is_in_graph and kind in (NOT_KNOWN, OVERHEAD):
        return _Row(NOT_KNOWN, run.name)
    if is_generated is not None or is_in_graph:
        generated = run.name.startswith("triton_") if is_generated is None else is_generated
        name = run.name if generated or what in (LAUNCH, WRAPPER) else what
        if not generated and changes_layout(run.name):
            return _Row(LIBRARY, name, IN_ANOTHER_LAYOUT, bound=bound)
        return _Row(COMPILED if generated else LIBRARY, name, bound=bound)
    if run.kind == "memcpy" and any(way in run.name for way in _TO_HOST):
        return _Row(COPIES, run.name, where, region, line=line)
    return _Row(kind, what, where, region, line=line)


def _idle_row(activity: Activity, *, is_launch: bool) -> _Row:
    """What idle time counts for, from what the host does meanwhile."""
    kind, what, where, region, is_in_graph, line = activity
    if is_in_graph:
        return _Row(WAITING, what if what in (WRAPPER, LAUNCH) and not is_launch else LAUNCH, is_idle=True)
    if kind in (OVERHEAD, NOT_KNOWN):
        return _Row(WAITING, what, where if kind == NOT_KNOWN else "", is_idle=True)
    return _Row(kind, what, where, region, is_idle=True, line=line)


def _finished(sums: dict[_Row, _Sum], steps: Steps, ends: list[float], device: str, busy: float) -> Account:
    lengths = [(after - before) / 1e6 for before, after in pairwise(ends)]
    number = len(lengths)
    rows = [
        StepTime(
            kind=row.kind,
            what=row.what,
            seconds=own.seconds / number,
            is_idle=row.is_idle,
            count=own.count / number,
            hidden=round(own.hidden / number, 9),
            after=own.after / number,
            waited=own.waited / number,
            where=row.where,
            line=row.line,
            region=row.region,
            bound=row.bound,
        )
        for row, own in sums.items()
        if own.seconds or own.count or own.waited
    ]
    rows.sort(key=lambda row: (-row.seconds, row.kind, row.what))
    whole = StepAccount(
        by=steps.by if len(steps.ends) > 1 else "",
        steps=number,
        seconds=fmean(lengths),
        least=min(lengths),
        most=max(lengths),
        device=device,
        busy=busy / number,
    )
    return Account(whole, rows)
