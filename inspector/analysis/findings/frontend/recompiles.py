"""Functions that Dynamo compiled again, each with the value that recurs, and those that it gave up."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import EACH_CALL, ONCE, Finding, parts_at
from inspect_compile.analysis.findings.frontend.compile_times import CompileTimes
from inspect_compile.analysis.findings.frontend.recompile_advice import BACKEND, FREED, advice
from inspect_compile.analysis.frontend.frames import plain_source, resumed
from inspect_compile.analysis.frontend.recompile_causes import Recurring, nearest, recurring
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import FailedGuard, Frame, Location, Recompile, Remark, ShapeGuard
from inspect_compile.graph import CompiledGraph, Id, few, grouped
from inspect_compile.knowledge.cost.sure import MEASURED, NOT_KNOWN
from inspect_compile.knowledge.frontend.guard_text import no_longer_text
from inspect_compile.knowledge.frontend.own_code import is_library, own_line
from inspect_compile.knowledge.overview.findings import (
    RECOMPILE,
    RECOMPILE_AFTER,
    RECOMPILE_LIMIT,
    RECOMPILE_REST,
    RECOMPILE_UNKNOWN,
    WORDS,
)

_ON_STACK: Final = re.compile(r"\b___stack\d+\b")
"""torch's name of a value that a graph break left on Python's stack."""
_UNNAMED: Final = "a value computed on the line with the graph break"
_SPECIALIZED: Final = "specialization"
_MOST_CHANGES: Final = 3


def recompiles(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Functions that were compiled again, each with all of its recompiles, and those that were given up."""
    times = CompileTimes(dump)
    stopped = {frame.graph for frame in dump.rows(Frame) if frame.limit}
    to_do: dict[str, str] = {}
    for (function, file, line), each in grouped(
        dump.rows(Recompile), lambda row: (row.function, row.file, row.line)
    ).items():
        rows = [row for row in each if row.graph not in stopped]
        found = recurring(dump, rows or each)
        frames = [frame for row in each for frame in dump.rows_of_compile(Frame, row.graph)]
        called = next((frame.caller for frame in frames), None)
        dynamic = next((frame.dynamic for frame in frames if frame.dynamic), "")
        said = _to_do(function, file, found, len(rows or each), dynamic, _fixed(dump, rows, found))
        to_do.update(Id(row.graph, said) for row in each)
        if not rows:
            continue
        seconds = [took for row in rows if (took := times.of(row.graph)) is not None]
        yield Finding(
            kind=RECOMPILE,
            graph=rows[0].graph,
            what=WORDS[RECOMPILE].what,
            parts=(
                FindingSite(
                    "", _function_words(function), _where(found, Location(file, line, function, caller=called))
                ),
            ),
            count=len(rows),
            seconds=sum(seconds) if seconds else None,
            when=ONCE,
            sure=MEASURED if seconds else NOT_KNOWN,
            why=_changes(found, len(rows))
            or "; ".join(dict.fromkeys(one for row in rows for one in row.failed_guards)),
            to_do=said,
            names=(rows[0].graph,),
        )
    yield from _given_up(dump, to_do)


def _given_up(dump: Dump, to_do: dict[str, str]) -> Iterator[Finding]:
    """Functions that torch no longer compiles; `to_do` has what is advised about their recompiles."""
    for remark in dump.rows(Remark):
        if remark.code != RECOMPILE_LIMIT:
            continue
        again = next(iter(dump.rows_of_compile(Recompile, remark.graph)), None)
        last = [] if again is None else [change_words(cause.failed) for cause in nearest(dump, again)]
        yield Finding(
            kind=RECOMPILE_LIMIT,
            graph=remark.graph,
            what=WORDS[RECOMPILE_LIMIT].what,
            parts=parts_at(remark.place),
            when=EACH_CALL,
            why="; ".join([remark.message, *(f"the call that reached it: {one}" for one in last)]),
            to_do=to_do.get(remark.graph) or WORDS[RECOMPILE_LIMIT].to_do,
            knob=remark.knob or "",
        )


def _where(found: list[Recurring], own: Location) -> Location:
    """The line that relies on what recurs, if it or what called it is the program's; else the function's."""
    places = [*(cause.where for one in found for cause in one.causes if cause.where is not None), own]
    return next((one for one in places if own_line(one) is not None), places[0])


def _fixed(dump: Dump, rows: list[Recompile], found: list[Recurring]) -> dict[str, Location]:
    """The sizes that these compiles made symbolic, for they had changed, and that became numbers again, `x.size()[0]` →
    the line that made them so. What is a number in earlier compiles, too, has not changed.
    """
    made = {row.graph for row in rows}
    before = {
        source
        for one in found
        for cause in one.causes
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


def _made_number(failed: FailedGuard, fixed: dict[str, Location]) -> Location | None:
    """The line that made a number of what has changed. Of several sizes, torch names the first only."""
    if not failed.what.startswith("size of "):
        return fixed.get(plain_source(failed.source))
    return next((where for source, where in fixed.items() if ".size()" in source), None)


def _to_do(
    function: str, file: str, found: list[Recurring], count: int, dynamic: str, fixed: dict[str, Location]
) -> str:
    """What to do about what recurs, or about each change where nothing does; and what that leaves."""
    again = [one for one in found if len(one.causes) > 1] or found
    said = [
        advice(
            one.failed,
            one.causes[0].where,
            times=len(one.causes),
            file=file,
            dynamic=dynamic,
            fixed=_made_number(one.failed, fixed),
        )
        for one in again
    ]
    own = "; ".join(dict.fromkeys(said)) or WORDS[RECOMPILE_UNKNOWN].to_do
    others = [one for one in found if one not in again]
    if others:
        left = len({cause.failed.compile_id for one in others for cause in one.causes})
        names = few(list(dict.fromkeys(name_words(one.failed) for one in others)), _MOST_CHANGES, ", ")
        own = f"{own}; that leaves {left} of {count} recompiles: {names}"
    rest = resumed(function)
    if rest is None or is_library(file):
        return own  # nobody can take a break out of a library's code
    is_computed = not found or any(_ON_STACK.search(one.failed.what) for one in found)
    line = f"{Path(file).name}:{rest[1]}"
    return WORDS[RECOMPILE_REST if is_computed else RECOMPILE_AFTER].to_do.format(line=line, own=own)


def _function_words(function: str) -> str:
    rest = resumed(function)
    return function if rest is None else f"the rest of {rest[0]}"


def _changes(found: list[Recurring], count: int) -> str:
    return few([_changed(one, count) for one in found], _MOST_CHANGES, "; ")


def _changed(one: Recurring, count: int) -> str:
    """`name, in 5 of 5: 'a' → 'aa' → 'aaa' and 3 more`."""
    first, times = one.causes[0].failed, len(one.causes)
    if count == 1 or not _has_values(first):
        return change_words(first) + ("" if count == 1 else f", in {times} of {count}")
    values = list(dict.fromkeys([first.before or "?", *(cause.failed.after or "?" for cause in one.causes)]))
    more = f" and {len(values) - _MOST_CHANGES} more" if len(values) > _MOST_CHANGES else ""
    return f"{name_words(first)}, in {times} of {count}: {' → '.join(values[:_MOST_CHANGES])}{more}"


def _has_values(failed: FailedGuard) -> bool:
    return bool(failed.what and (failed.before or failed.after))


def name_words(failed: FailedGuard) -> str:
    """What has changed, without its values."""
    return _ON_STACK.sub(_UNNAMED, plain_source(failed.what)) or failed.condition


def change_words(failed: FailedGuard) -> str:
    """What made a guard fail: `size of x in dimension 0: 8 → 9`."""
    if failed.what == BACKEND:
        return "another backend function"
    if failed.what and failed.condition.startswith(FREED):
        return f"{name_words(failed)}: the object was freed"
    if _has_values(failed):
        return f"{name_words(failed)}: {failed.before or '?'} → {failed.after or '?'}"
    return failed.condition and no_longer_text(failed.condition)
