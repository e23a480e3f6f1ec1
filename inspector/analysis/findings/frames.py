"""What made Dynamo compile again, or leave torch's caches unused; in seconds of compiling."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from inspect_compile.analysis.caches.lookups import Lookups
from inspect_compile.analysis.caches.words import differences_text
from inspect_compile.analysis.dumps.names import few
from inspect_compile.analysis.dumps.rows import grouped
from inspect_compile.analysis.findings.compile_times import CompileTimes
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import EACH_CALL, ONCE, Finding, parts_at
from inspect_compile.analysis.frontend.frames import Cause, causes, plain_source, resumed
from inspect_compile.analysis.fusion.part import Part
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, FailedGuard, Frame, Graph, Location, Recompile, Remark, ShapeGuard
from inspect_compile.knowledge.caches.keys import OF_GRAPH
from inspect_compile.knowledge.cost.sure import MEASURED, NOT_KNOWN
from inspect_compile.knowledge.frontend.own_code import is_library, own_line
from inspect_compile.knowledge.overview.findings import (
    CACHE,
    CACHE_MISS,
    RECOMPILE,
    RECOMPILE_AFTER,
    RECOMPILE_CONDITION,
    RECOMPILE_FIXED,
    RECOMPILE_GLOBAL,
    RECOMPILE_GRADIENT,
    RECOMPILE_INTEGER,
    RECOMPILE_LENGTH,
    RECOMPILE_LIMIT,
    RECOMPILE_NUMBER,
    RECOMPILE_ONE,
    RECOMPILE_REST,
    RECOMPILE_STATE,
    RECOMPILE_VALUE,
    WORDS,
)

_FRACTION: Final = re.compile(r"-?(?:\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)")
"""A float of Python's, as `repr` writes it."""
_ON_STACK: Final = re.compile(r"\b___stack\d+\b")
"""torch's name of a value that a graph break left on Python's stack."""
_UNNAMED: Final = "a value that the line with the graph break has computed"
_FX_GRAPHS: Final = "fx_graph"
_OPTIMIZER_STATE: Final = "self.state["
"""In a condition: what an optimizer of torch's keeps for each parameter."""
_INTEGER: Final = re.compile(r"-?\d+")
_LENGTH: Final = "len("
_GLOBAL: Final = "G["
_EMPTY: Final = "not "
"""Beginning of the condition that a list, dict or set is empty."""
_SIZES: Final = ("size of ", "stride of ")
_OF_SIZE: Final = ".size()["
_GRADIENT: Final = "requires_grad of "
"""Beginnings of what has changed."""
_SPECIALIZED: Final = "specialization"
_APART: Final = ("0", "1")
"""Sizes that torch compiles apart from all others."""
_OPTIMIZERS: Final = re.compile(r"(?:^|[/\\])torch[/\\]optim[/\\][\w.]+$")
_MOST_CHANGES: Final = 3
_LEAST_SECONDS: Final = 0.1
"""A cache that saves less is no finding."""


def recompiles(dump: Dump, graphs: list[Graph], costs: Costs) -> Iterator[Finding]:
    """Functions that were compiled again, each with all of its recompiles, and those that were given up."""
    times = CompileTimes(dump)
    for (function, file, line), rows in grouped(
        dump.rows(Recompile), lambda row: (row.function, row.file, row.line)
    ).items():
        seconds = [took for row in rows if (took := times.of(row.graph)) is not None]
        known = [cause for row in rows for cause in causes(dump, row)]
        called = next((one.caller for row in rows for one in dump.rows_of_compile(Frame, row.graph)), None)
        own = Location(file, line, function, caller=called)
        places = [*(cause.where for cause in known if cause.where is not None), own]
        where = next((one for one in places if not is_library(one.file)), None) or next(
            (one for one in places if own_line(one) is not None), places[0]
        )
        hints = dict.fromkeys(cause.failed.hint for cause in known if cause.failed.hint)
        yield Finding(
            kind=RECOMPILE,
            graph=rows[0].graph,
            what=WORDS[RECOMPILE].what,
            parts=(Part("", _function_words(function), where),),
            count=len(rows),
            seconds=sum(seconds) if seconds else None,
            when=ONCE,
            sure=MEASURED if seconds else NOT_KNOWN,
            why=_changes(known) or "; ".join(dict.fromkeys(one for row in rows for one in row.failed_guards)),
            to_do=next(iter(hints), "") or _to_do(function, file, known, _fixed(dump, rows, known)),
            names=(rows[0].graph,),
        )
    for remark in dump.rows(Remark):
        if remark.code == RECOMPILE_LIMIT:
            words = WORDS[RECOMPILE_LIMIT]
            yield Finding(
                kind=RECOMPILE_LIMIT,
                graph=remark.graph,
                what=words.what,
                parts=parts_at(remark.place),
                when=EACH_CALL,
                why=remark.message,
                to_do=words.to_do,
                knob=remark.knob or "",
            )


def caches(dump: Dump, graphs: list[Graph], costs: Costs) -> Iterator[Finding]:
    """Compiles that torch's caches could not keep: the same time is spent at each start."""
    times = CompileTimes(dump)
    for (graph, reason), rows in grouped(
        (row for row in dump.rows(CacheLookup) if row.outcome == "bypass"), lambda row: (row.graph, row.reason or "")
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


def cache_misses(dump: Dump, graphs: list[Graph], costs: Costs) -> Iterator[Finding]:
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


def _of_frame(dump: Dump, compile_id: str) -> tuple[Part, ...]:
    frame = next(iter(dump.rows_of_compile(Frame, compile_id)), None)
    if frame is None:
        return ()
    return (Part("", frame.function, Location(frame.file, frame.line, frame.function, caller=frame.caller)),)


def _fixed(dump: Dump, rows: list[Recompile], found: list[Cause]) -> dict[str, Location]:
    """The sizes that these compiles made symbolic, for they had changed, and that became numbers again, `x.size()[0]` →
    the line that made them so. What is a number in earlier compiles, too, has not changed.
    """
    made = {row.graph for row in rows}
    before = {
        source
        for cause in found
        for name in cause.compile_ids
        if name not in made
        for source, _ in _specialized(dump, name)
    }
    again = (one for row in rows for one in _specialized(dump, row.graph))
    return {source: where for source, where in again if source not in before}


def _specialized(dump: Dump, compile_id: str) -> Iterator[tuple[str, Location]]:
    for guard in dump.rows_of_compile(ShapeGuard, compile_id):
        if guard.what == _SPECIALIZED and guard.where is not None:
            yield from ((plain_source(source.partition(" = ")[2]), guard.where) for source in guard.sources)


def _to_do(function: str, file: str, found: list[Cause], fixed: dict[str, Location]) -> str:
    if found and _OPTIMIZERS.search(file) and all(_OPTIMIZER_STATE in one.failed.condition for one in found):
        return WORDS[RECOMPILE_STATE].to_do
    own = "; ".join(dict.fromkeys(_each(found, fixed))) or WORDS[RECOMPILE].to_do
    rest = resumed(function)
    if rest is None:
        return own
    is_computed = not found or any(_ON_STACK.search(one.failed.what) for one in found)
    return WORDS[RECOMPILE_REST if is_computed else RECOMPILE_AFTER].to_do.format(line=_place(file, rest[1]), own=own)


def _each(found: list[Cause], fixed: dict[str, Location]) -> Iterator[str]:
    """What to do about each change. Of several sizes that have changed, torch names the first only."""
    needed = next(iter(fixed.values()), None)
    for one in found:
        advice = _advice(one.failed)
        if needed is None or advice != RECOMPILE or not one.failed.what.startswith(_SIZES):
            yield WORDS[advice].to_do
        else:
            yield WORDS[RECOMPILE_FIXED].to_do.format(line=_place(needed.file, needed.line))


def _place(file: str, line: int) -> str:
    return f"{Path(file).name}:{line}"


def _advice(failed: FailedGuard) -> str:
    """The key of the WORDS about one value that has changed."""
    what, values = failed.what, (failed.before, failed.after)
    if what.startswith(_SIZES):
        return RECOMPILE_ONE if what.startswith(_SIZES[0]) and not set(_APART).isdisjoint(values) else RECOMPILE
    if what.startswith(_LENGTH) or (not what and failed.condition.startswith(_EMPTY)):
        return RECOMPILE_LENGTH
    if what.startswith(_GRADIENT):
        return RECOMPILE_GRADIENT
    if all(_INTEGER.fullmatch(value) or _FRACTION.fullmatch(value) for value in values):
        is_whole = all(_INTEGER.fullmatch(value) for value in values)
        return RECOMPILE_GLOBAL if what.startswith(_GLOBAL) else RECOMPILE_INTEGER if is_whole else RECOMPILE_NUMBER
    if _OF_SIZE in what or _OF_SIZE in failed.condition:
        return RECOMPILE_CONDITION
    return RECOMPILE_VALUE if what else RECOMPILE


def _function_words(function: str) -> str:
    rest = resumed(function)
    return function if rest is None else f"the rest of {rest[0]}"


def _changes(found: list[Cause]) -> str:
    return few(list(dict.fromkeys(filter(None, (change_words(cause.failed) for cause in found)))), _MOST_CHANGES, "; ")


def change_words(failed: FailedGuard) -> str:
    """What made a guard fail: `size of x in dimension 0: 8 → 9`."""
    if failed.what and (failed.before or failed.after):
        return f"{_ON_STACK.sub(_UNNAMED, failed.what)}: {failed.before or '?'} → {failed.after or '?'}"
    return failed.condition and f"no longer true: {failed.condition}"
