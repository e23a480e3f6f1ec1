"""Where compile time went: by stage, compile, pass, kernel and probe."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.hooks import hooks
from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.times import Part, compile_seconds, parts, stage_times, total
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import Binary, Choice, Frame, Pass, Tuning
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import clean, number_of, seconds_text, share_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_BAR = 24
_FEW = 8
"""Default number of rows in each list below the stages."""
_WORTH = 0.0005
"""Minimum time in seconds for a compile, a pass, a kernel or a probe to be listed."""

_Row = tuple[float, tuple[str, ...]]
"""Seconds, and the cells before them."""


def time(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """The stages of all compiles, or of the one that made `graph`; with `names` the timers of these names."""
    found = wanted_parts(dump, graph)
    if not found:
        return styled(text_or_nothing(dump, "torch timed nothing: no compile was recorded"), style="dim")
    if names:
        return _named([part for part in found if matches(part, names)], names, limit, dump_argument)
    few = limit if limit is None else min(limit, _FEW)
    which = ("--graph", graph) if graph is not None else ()
    evidence = command(dump_argument, "time", *which, "--all")
    sheets = [
        _stages(found),
        _list("compiles", ("compile", "frame"), _compiles(dump, found), few, evidence),
        _list("passes", ("pass", "stage", "runs"), _passes(dump, graph), few, command(dump_argument, "passes")),
        _list("kernels", ("kernel", "what"), _kernels(dump, graph), few, command(dump_argument, "binaries")),
        _list("our probes", ("probe", "calls"), _probes(dump), few, command(dump_argument, "overhead")),
    ]
    return Stack([sheet for sheet in sheets if sheet is not None])


def wanted_parts(dump: "Dump", graph: str | None) -> list[Part]:
    """The timers of all compiles, or of the one that made `graph`."""
    found = parts(dump)
    if graph is None:
        return found
    compiles = {facts.compile_id for facts in graphs_of(dump, graph)}
    return [part for part in found if part.graph in compiles]


def _stages(found: list[Part]) -> Sheet:
    rows = stage_times(found)
    whole = total(found) or sum(row.seconds for row in rows)
    columns = (
        Column("stage"),
        Column("time", right=True),
        Column("share", right=True),
        Column(""),
        Column("timers", right=True),
    )
    cells: list[list[Cell]] = []
    for row in rows:
        share = max(0.0, min(row.seconds / whole, 1.0)) if 0 < whole < math.inf else 0.0
        bar = styled("█" * round(_BAR * share), "blue")
        count = f"{row.parts:,}" if row.parts else ""
        cells.append([row.stage, seconds_text(row.seconds), share_text(share), bar, count])
    threads = len({part.thread for part in found})
    told = f"{seconds_text(whole)} in {number_of(len({part.graph for part in found if part.graph}), 'compile')}"
    told += f", on {number_of(threads, 'thread')}" if threads > 1 else ""
    head = joined(("compile time", "bold"), "  ", (told, "dim"), one_line=True)
    return Sheet(columns, cells, title=head)


def _list(name: str, titles: Sequence[str], rows: Iterable[_Row], limit: int | None, evidence: str) -> Sheet | None:
    """The most expensive rows; None if there are none."""
    kept = sorted((row for row in rows if row[0] >= _WORTH), key=lambda row: (-row[0], row[1]))
    if not kept:
        return None
    shown = kept if limit is None else kept[:limit]
    columns = (Column("time", right=True), *(Column(title, cap=0.5) for title in titles))
    notes = [more(len(kept) - len(shown), evidence)] if len(kept) > len(shown) else []
    told = seconds_text(sum(seconds for seconds, _ in kept))
    head = joined((name, "bold"), "  ", (told, "dim"), one_line=True)
    cells = [[seconds_text(seconds), *map(clean, words)] for seconds, words in shown]
    return Sheet(columns, cells, title=head, notes=notes)


def _compiles(dump: "Dump", found: list[Part]) -> list[_Row]:
    frames = {row.graph: row.function for row in dump.rows(Frame)}
    told = compile_seconds(found).items()
    return [(count, (name or "no compile in particular", frames.get(name, ""))) for name, count in told]


def _passes(dump: "Dump", graph: str | None) -> list[_Row]:
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    runs: defaultdict[tuple[str, str], int] = defaultdict(int)
    rows = dump.rows(Pass)
    inside: defaultdict[int | None, float] = defaultdict(float)
    for row in rows:
        inside[row.parent] += row.seconds
    meant = (
        None
        if graph is None
        else {name for facts in graphs_of(dump, graph) for name in (facts.graph, facts.compile_id)}
    )
    for row in rows:
        if row.kind in ("pass", "function", "pattern") and (meant is None or row.graph in meant):
            seconds[row.name, row.stage] += max(row.seconds - inside[row.index], 0.0)
            runs[row.name, row.stage] += 1
    return [(count, (*key, str(runs[key]))) for key, count in seconds.items()]


def _kernels(dump: "Dump", graph: str | None) -> list[_Row]:
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    for facts in graphs_of(dump, graph):
        for row in dump.rows(Binary, facts.graph):
            seconds[row.kernel, "compiled"] += row.seconds or 0.0
        names = {row.number: row.name for row in dump.rows(Tuning, facts.graph)}
        for choice in dump.rows(Choice, facts.graph):
            if choice.source == "measured" and choice.tuning in names:
                seconds[names[choice.tuning], "timed, one run of each choice"] += (choice.milliseconds or 0.0) / 1e3
    return [(count, key) for key, count in seconds.items()]


def _probes(dump: "Dump") -> list[_Row]:
    seconds: defaultdict[str, float] = defaultdict(float)
    calls: defaultdict[str, int] = defaultdict(int)
    for row in hooks(dump):
        seconds[row.probe] += row.seconds
        calls[row.probe] += row.calls
    return [(count, (probe, f"{calls[probe]:,}")) for probe, count in seconds.items()]


def _named(found: list[Part], names: tuple[str, ...], limit: int | None, dump_argument: str) -> Sheet:
    columns = (
        Column("at", right=True),
        Column("time", right=True),
        Column("own", right=True),
        Column("compile"),
        Column("timer", cap=0.6),
        Column("stage"),
    )
    shown = found if limit is None else found[:limit]
    notes: list[Cell] = [] if found else [styled(f"torch timed nothing of {' and '.join(names)}", "dim")]
    if len(found) > len(shown):
        notes.append(more(len(found) - len(shown), command(dump_argument, "time", *names, "--all")))
    cells = [
        [
            seconds_text(part.start),
            seconds_text(part.seconds),
            seconds_text(part.own),
            part.graph,
            part.name,
            part.stage,
        ]
        for part in shown
    ]
    return Sheet(columns, cells, notes=notes)
