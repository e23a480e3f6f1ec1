"""Where compile time went: its stages, and sums for each compile, pass, kernel and probe."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from inspect_compile.analysis.dumps.hooks import hooks
from inspect_compile.analysis.frontend.startup import own_place, startup_rows
from inspect_compile.analysis.frontend.times import TimerRun, ahead, compile_seconds, parts, stage_times
from inspect_compile.analysis.frontend.whole_start import whole_start, whole_start_rows
from inspect_compile.facts import Binary, Choice, Frame, Pass, Tuning
from inspect_compile.graph import Graphs, grouped

Kind = Literal["compile", "ahead", "pass", "kernel", "probe"]


class TimeSum(msgspec.Struct, frozen=True, tag_field="fact", tag="time_sum"):
    """What one compile, call that compiles ahead of time, pass, kernel or probe took in all."""

    kind: Kind
    name: str
    """The compile id, empty for what ran in no specific compile; the call, `torch.export.export`; the pass, the kernel,
    the probe.
    """
    about: str
    """The function of a compile, the stage of a call or a pass; of a kernel `compiled`, or `timed` for autotuning."""
    module: str
    """Of a compile, as of its frame: `layers.0.mlp`; else empty."""
    place: str
    """Of a compile the user's own line: that of its frame, or, if this is a library's, the one that led to it,
    `train.py:12`; of a call the line that called; else empty.
    """
    count: int
    """Calls; runs of a pass, compiled configurations or timed choices of a kernel, calls of a probe; of a compile 1."""
    seconds: float
    """Of a pass without the passes inside it; of a timed kernel one run of each choice."""


def wanted_parts(graphs: Graphs) -> list[TimerRun]:
    """The timers of all compiles, or of the one that made `graph`."""
    found = parts(graphs.dump)
    if graphs.name is None:
        return found
    compiles = {facts.compile_id for facts in graphs.facts}
    return [part for part in found if part.graph in compiles]


def time_rows(graphs: Graphs) -> Iterator[msgspec.Struct]:
    """For all graphs the processes of the run and what names its seconds, and the lanes, functions and bars from the
    start of this process; then the stages of all compiles together, the sums, and each compile: its stages and its
    timers.
    """
    whole = whole_start(graphs.dump) if graphs.name is None else None
    if whole is not None:
        yield from whole_start_rows(whole)
    found = wanted_parts(graphs)
    if not found:
        return
    if whole is not None and whole.first is not None:
        yield from startup_rows(graphs.dump, whole.first)
    yield from stage_times(found)
    yield from time_sums(graphs, found)
    for compile_id, own in grouped(found, lambda part: part.graph).items():
        yield from stage_times(own, compile_id)
        yield from own


def time_sums(graphs: Graphs, found: Sequence[TimerRun]) -> list[TimeSum]:
    """The sums of each kind, the largest first; `found` are the timers of the compiles that are asked for."""
    frames = {row.graph: row for row in graphs.dump.rows(Frame)}
    rows = [_of_compile(name, frames.get(name), took) for name, took in compile_seconds(found).items()]
    calls = grouped(ahead(found), lambda part: (part.name, part.stage, part.place))
    rows += [
        TimeSum("ahead", *of[:2], "", of[2], len(own), sum(one.seconds for one in own)) for of, own in calls.items()
    ]
    rows += [*_summed("pass", _passes(graphs)), *_summed("kernel", _kernels(graphs))]
    rows += _summed("probe", ((row.probe, "", row.calls, row.seconds) for row in hooks(graphs.dump)))
    return sorted(rows, key=lambda row: (-row.seconds, row.name, row.about))


def _of_compile(name: str, frame: Frame | None, seconds: float) -> TimeSum:
    if frame is None:
        return TimeSum("compile", name, "", "", "", 1, seconds)
    return TimeSum("compile", name, frame.function, frame.module, own_place(frame), 1, seconds)


def _summed(kind: Kind, took: Iterable[tuple[str, str, int, float]]) -> list[TimeSum]:
    """`took` has name, what it is about, count and seconds."""
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for name, about, count, seconds in took:
        counts[name, about] += count
        sums[name, about] += seconds
    return [TimeSum(kind, name, about, "", "", counts[name, about], seconds) for (name, about), seconds in sums.items()]


def _passes(graphs: Graphs) -> Iterator[tuple[str, str, int, float]]:
    rows = graphs.dump.rows(Pass)
    inside: defaultdict[int | None, float] = defaultdict(float)
    for row in rows:
        inside[row.parent] += row.seconds
    wanted = {name for facts in graphs.facts for name in (facts.graph, facts.compile_id)}
    for row in rows:
        if row.kind in ("pass", "function", "pattern") and (graphs.name is None or row.graph in wanted):
            yield row.name, row.stage, 1, max(row.seconds - inside[row.index], 0.0)


def _kernels(graphs: Graphs) -> Iterator[tuple[str, str, int, float]]:
    for graph in graphs:
        for row in graph.rows(Binary):
            yield row.kernel, "compiled", 1, row.seconds or 0.0
        names = {row.number: row.name for row in graph.rows(Tuning)}
        for choice in graph.rows(Choice):
            if choice.source == "measured" and choice.tuning in names:
                yield names[choice.tuning], "timed", 1, (choice.milliseconds or 0.0) / 1e3
