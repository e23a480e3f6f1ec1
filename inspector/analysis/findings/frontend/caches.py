"""What torch's caches could not keep, or had no entry for; in seconds of compiling."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.caches.lookups import Lookups
from inspect_compile.analysis.caches.words import differences_text
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import ONCE, Finding
from inspect_compile.analysis.findings.frontend.compile_times import CompileTimes
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, Frame, Location
from inspect_compile.graph import CompiledGraph, Id, grouped
from inspect_compile.knowledge.caches.keys import OF_GRAPH
from inspect_compile.knowledge.cost.sure import MEASURED
from inspect_compile.knowledge.overview.findings import CACHE, CACHE_MISS, WORDS

_FX_GRAPHS: Final = "fx_graph"
_LEAST_SECONDS: Final = 0.1
"""A cache that saves less is no finding."""


def caches(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Compiles that torch's caches could not keep: the same time is spent at each start."""
    times = CompileTimes(dump)
    for (graph, reason), rows in grouped(
        (row for row in dump.rows(CacheLookup) if row.outcome == "bypass"), lambda row: Id(row.graph, row.reason or "")
    ).items():
        seconds = times.of(graph)
        if seconds is not None and seconds >= _LEAST_SECONDS:
            yield Finding(
                kind=CACHE,
                graph=graph,
                what=WORDS[CACHE].what,
                parts=_of_frame(dump, graph),
                seconds=seconds,
                when=ONCE,
                sure=MEASURED,
                why=reason,
                names=tuple(dict.fromkeys(row.cache for row in rows)),
            )


def cache_misses(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Compiles that torch's cache of FX graphs had no entry for. A look-up that this tool made to miss is none."""
    times = CompileTimes(dump)
    lookups = Lookups(dump)
    missed = (row for row in dump.rows(CacheLookup) if row.cache == _FX_GRAPHS and row.outcome == "miss")
    for row in {row.graph: row for row in missed}.values():  # a backward graph is looked up by itself
        seconds = times.of(row.graph)
        if seconds is None or seconds < _LEAST_SECONDS:
            continue
        nearest, _, unlike = lookups.nearest(row) or ("", "", ())
        is_same_graph = bool(unlike) and OF_GRAPH.isdisjoint(one.part for one in unlike)
        yield Finding(
            kind=CACHE_MISS,
            graph=row.graph,
            what=WORDS[CACHE_MISS].what,
            parts=_of_frame(dump, row.graph),
            seconds=seconds,
            when=ONCE,
            sure=MEASURED,
            why=f"the key is that of {nearest} but for {differences_text(unlike)}" if is_same_graph else "",
            to_do=WORDS[CACHE_MISS].to_do,
            names=(row.cache,),
        )


def _of_frame(dump: Dump, compile_id: str) -> tuple[FindingSite, ...]:
    frame = next(iter(dump.rows_of_compile(Frame, compile_id)), None)
    if frame is None:
        return ()
    return (FindingSite("", frame.function, Location(frame.file, frame.line, frame.function, caller=frame.caller)),)
