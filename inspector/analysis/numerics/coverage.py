"""What a check of numerics compared at no level, with the reason: of the calls that it was to check.

Between a program and its results lie several steps: Dynamo's graph becomes AOTAutograd's, that is divided and goes
through passes, and the graph that is lowered becomes code. A result of a checked call is compared if for each of these
steps something spans it:

- all of the compiled code, in a call in which nothing is forced, beside the graph that is lowered; or, where that one
  row is not comparable, every launch of the call;
- the graph that is lowered beside the graph before the passes, that beside the joint graph, and AOTAutograd's beside
  Dynamo's;
- or, with `--eager`, all steps at once: the compiled function beside the program's own.

So a launch that has nothing to be compared with counts only if the result of its call has nothing either.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, GraphEnd, NumericsCall
from inspect_compile.facts.numerics import ALL_RESULTS, NOT_ASKED, PACKAGED
from inspect_compile.graph import Graphs, grouped, outermost
from inspect_compile.knowledge.numerics.levels import (
    BEFORE_PASSES,
    COMPILED,
    DYNAMO_GRAPH,
    EXPORTED,
    FUNCTION,
    JOINT_GRAPH,
    PACKAGE,
)
from inspect_compile.knowledge.numerics.verdicts import GENERATOR_STATE, NOT_COMPARABLE

_STEPS: Final = (DYNAMO_GRAPH, JOINT_GRAPH, BEFORE_PASSES)
_HELPERS: Final = ("constants", "autotune")
_LEFT_OUT: Final = ("graphs", "compiles", "frames", "later")
"""What a limit of the recording leaves out that would have been checked: see `Omission`."""
_NOT_ASKED: Final = "its calls were not among those to be checked"
_NOT_HANDED: Final = "its code was not loaded where it could be checked"
_NO_RESULT: Final = "none of its results or changed inputs could be compared"
_NO_PASSES: Final = "the graph before the passes could not be kept"
_NO_DYNAMO: Final = "its Dynamo graph is not known"
_PACKAGE: Final = "AOTInductor packaged it, and no call of the package was seen in this process"
_NOT_FOLLOWED: Final = "its new value could not be compared"
_RESULT: Final = "result"
"""How the names of results begin: other rows are of inputs."""
_NOT_ENDED: Final = "its check did not end"


class Uncompared(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="uncompared"):
    """Something that the program depends on, and that was compared at no level. `show numerics --json` prints these."""

    graph: str = ""
    """Empty for the program as a whole."""
    call: int = 0
    """Which call of it, from 1; 0 for all."""
    what: str = ""
    """Which result, or changed input, of the call; empty for all."""
    step: str = ""
    """The level that it was not compared with; empty for all."""
    reason: str


def uncompared_in(parts: Sequence[Dump]) -> list[Uncompared]:
    """All of a run, whose processes have a part of the dump each, the program's own first."""
    found: list[Uncompared] = []
    for part in parts:
        has_graphs = bool(part.outermost())
        if (has_graphs or part is parts[0]) and (ended := run_state(part).text):
            found.append(Uncompared(reason=ended))
        found += [Uncompared(reason=one.message) for one in part.run.omitted if one.what in _LEFT_OUT]
        found += uncompared(Graphs(part))
    if not any(part.outermost() for part in parts) and not found:
        found.append(Uncompared(reason=nothing_text(parts[0])))
    return found


def uncompared(graphs: Graphs) -> list[Uncompared]:
    """What the check of one process left out; of one graph, if one is named."""
    asked = graphs.dump.run.numerics
    if asked is None:
        return []
    calls = grouped(graphs.dump.rows(NumericsCall), lambda call: call.graph)
    rows = grouped(judged(Graphs(graphs.dump)), lambda row: (outermost(row.graph), row.call))
    failed = {end.graph for end in graphs.dump.rows(GraphEnd) if end.status == "failed"}
    wanted = [one for one in graphs.dump.outermost() if one.kind not in _HELPERS and one.graph not in failed]
    names = {one.graph for one in wanted}
    found: list[Uncompared] = []
    for one in wanted:
        if asked.has_graph(one.graph) and graphs.name in (None, one.graph):
            found += _of_graph(one, calls.get(one.graph, ()), rows, only_nonfinite=asked.only_nonfinite)
    # A function that the check of which began, and that no graph of a name was compiled for.
    for name, others in calls.items():
        if name not in names and graphs.name in (None, name):
            found += [Uncompared(graph=name, call=one.call, reason=one.reason) for one in others if one.reason]
    return found


def _of_graph(
    graph: Graph, calls: Sequence[NumericsCall], rows: dict[tuple[str, int], list[Judged]], *, only_nonfinite: bool
) -> Iterator[Uncompared]:
    if not calls:
        yield Uncompared(graph=graph.graph, reason=_NOT_HANDED)
        return
    function = [one for one in calls if one.against == FUNCTION]
    yield from (Uncompared(graph=graph.graph, call=one.call, step=FUNCTION, reason=one.reason) for one in function)
    checked = [one for one in calls if one.call and one.stage != NOT_ASKED and not one.against]
    begun = {one.call for one in checked}
    if not begun and any(one.stage == PACKAGED for one in calls):
        yield Uncompared(graph=graph.graph, reason=_PACKAGE)
    elif not begun and any(one.stage == NOT_ASKED for one in calls):
        yield Uncompared(graph=graph.graph, reason=_NOT_ASKED)
    for call in sorted(begun):
        ended = [one for one in checked if one.call == call and not one.stage]
        if not ended:
            yield Uncompared(graph=graph.graph, call=call, reason=_NOT_ENDED)
        elif only_nonfinite:
            yield from (Uncompared(graph=graph.graph, call=call, reason=one.reason) for one in ended if one.reason)
        else:
            yield from _of_call(ended[-1], rows.get((graph.graph, call), ()))


def _of_call(call: NumericsCall, rows: Sequence[Judged]) -> Iterator[Uncompared]:
    function = [row for row in rows if row.measured.against in (FUNCTION, EXPORTED)]
    if function and all(row.verdict != NOT_COMPARABLE for row in function):
        return
    for row in function:
        if row.level == PACKAGE and row.verdict == NOT_COMPARABLE:
            yield _of_row(row)
    whole = [row for row in rows if row.level == COMPILED]
    if call.reason and not whole:
        yield Uncompared(graph=call.graph, call=call.call, reason=call.reason)
        return
    if not call.results:
        return
    steps = [row for row in rows if row.measured.against in _STEPS]
    for row in (*(() if _all_launches(call, rows) else whole), *steps):
        if _is_lost(row):
            yield _of_row(row)
    there = {row.measured.against for row in steps}
    for step, reason in ((BEFORE_PASSES, _NO_PASSES), (DYNAMO_GRAPH, _NO_DYNAMO)):
        if step not in there:
            yield Uncompared(graph=call.graph, call=call.call, step=step, reason=reason)
    yield from _changed_inputs(call, whole, steps)


def _changed_inputs(call: NumericsCall, whole: Sequence[Judged], steps: Sequence[Judged]) -> Iterator[Uncompared]:
    """The inputs that the compiled code changes, and that were not compared at a level where results were."""
    found: dict[str, set[str]] = {}
    for row in steps:
        found.setdefault(row.measured.against, set()).add(row.buffer)
    for row in whole:
        if row.buffer.startswith(_RESULT):
            continue
        for step, names in found.items():
            if row.buffer not in names and ALL_RESULTS not in names:
                yield Uncompared(graph=call.graph, call=call.call, what=row.buffer, step=step, reason=_NOT_FOLLOWED)


def _all_launches(call: NumericsCall, rows: Sequence[Judged]) -> bool:
    """True if all that each launch wrote was compared, with nothing but values of the reference in its inputs."""
    of_launches = [row for row in rows if row.kernel]
    own = {row.index for row in of_launches}
    is_sure = not any(_is_lost(row) or row.measured.unforced for row in of_launches)
    return not call.reason and is_sure and bool(own) and len(own) == call.launches


def _is_lost(row: Judged) -> bool:
    """Was something that the program depends on not compared?"""
    return row.verdict == NOT_COMPARABLE and row.reason != GENERATOR_STATE


def _of_row(row: Judged) -> Uncompared:
    found = row.measured
    return Uncompared(graph=row.graph, call=row.call, what=row.buffer, step=found.against, reason=row.reason)
