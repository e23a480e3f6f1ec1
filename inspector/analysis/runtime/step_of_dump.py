"""The account of a step from a profile of a program whose compiles a dump has: with lines, and what bounds kernels."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Final

import msgspec

from inspect_compile.analysis.cost.roofline import roofline
from inspect_compile.analysis.cost.roofs import Roof, roof_of
from inspect_compile.analysis.runtime.attribution import Attribution, attribute
from inspect_compile.analysis.runtime.step_account import Account, step_account
from inspect_compile.analysis.runtime.step_bound import step_bounds
from inspect_compile.dump import Dump, paths
from inspect_compile.dump.files import file_inside
from inspect_compile.facts import GraphBreak, Location, OperatorLine, StepAccount, StepsProfiled, StepTime
from inspect_compile.facts.compile_id import frame_id
from inspect_compile.graph import CompiledGraph, Graphs, Once, outermost, short
from inspect_compile.knowledge.cost.step_kinds import COPIES
from inspect_compile.profiles import Profile
from inspect_compile.profiles.read import read

_ENDLESS: Final = 1e9
_UNEVEN: Final = 0.15
"""Share by which the calls of a step may differ from a whole number."""
_FEW_STEPS: Final = 4
"""With fewer ends of steps the number of calls of each cannot be told from their number."""
_LEAST_WAIT: Final = 0.02
"""Share of a step from which the host's waits count."""
_PAGEABLE: Final = "Pageable"
"""In the name of a copy for which the host waits."""


def recorded_account(dump: Dump) -> Account | None:
    """The account of the steps that the run itself profiled; None if it profiled none."""
    return _sound_account(Graphs(dump))


@Once
def _sound_account(graphs: Graphs) -> Account | None:
    found = _recorded_account(graphs.dump)
    return found if found is not None and _is_sound(found) else None


def _is_sound(account: Account) -> bool:
    """False for times that only damage can make: nothing can be divided by them, or told of them."""
    step, rows = account
    times = [
        step.busy,
        *(value for row in rows for value in (row.seconds, row.count, row.hidden, row.after, row.waited)),
    ]
    return 0 < step.seconds < _ENDLESS and all(0 <= value < _ENDLESS for value in times)


def _recorded_account(dump: Dump) -> Account | None:
    found = dump.rows(StepAccount)
    if found:
        return Account(found[-1], list(dump.rows(StepTime)))
    timed = next((row for row in dump.rows(StepsProfiled) if row.profiled_calls), None)
    path = dump.root / paths.STEPS_TRACE
    if timed is None or (file := file_inside(dump.root, path)) is None:
        return None
    file.close()
    try:
        profile = read(path)
    except (OSError, ValueError):
        return None
    lines = dump.rows(OperatorLine)
    account = account_of(dump, profile, attribute(dump, profile), roof_of(dump), lines=lines)
    return None if account is None else timed_account(account, timed)


def timed_account(account: Account, timed: StepsProfiled) -> Account:
    """The account of a step as it was before the profiler was on, which slows the host: its times shrink alike, and
    those of the GPU stay. Both windows have calls of compiled functions.
    """
    step = _plain(account, timed)
    plain, spent = step.plain_seconds, step.seconds
    if plain is None or not step.busy < plain < spent:
        return account._replace(step=step)
    scale = (plain - step.busy) / (spent - step.busy)
    rows = [
        msgspec.structs.replace(row, seconds=row.seconds * scale, after=row.after * scale)
        if row.is_idle or not step.device
        else row
        for row in account.rows
    ]
    rows.sort(key=lambda row: -row.seconds)
    return Account(msgspec.structs.replace(step, seconds=plain, profiled_seconds=spent), rows)


def _plain(account: Account, timed: StepsProfiled) -> StepAccount:
    """The step with what it took without the profiler, if it is known how many calls one has."""
    step = account.step
    together = _calls(step, timed)
    each = [sum(timed.each[at : at + together]) for at in range(0, len(timed.each) - together + 1, together or 1)]
    if not each or not together:
        return step
    seconds = timed.seconds / timed.calls * together if step.device else median(each)
    host = min(each) if step.device and not _waits(account) else None
    return msgspec.structs.replace(step, plain_seconds=seconds, plain_steps=len(each), host=host)


def _calls(step: StepAccount, timed: StepsProfiled) -> int:
    """How many calls of compiled functions a step has: by the time of both where that is a whole number, else, as
    where the program had to wait for a processor, by how many there are of both; 0 if they are too few for that.
    """
    if not timed.calls or not timed.profiled_calls:
        return 0
    profiled = timed.profiled_seconds / timed.profiled_calls
    calls = step.seconds / profiled if profiled else 0.0
    if calls >= 1 - _UNEVEN and abs(calls - round(calls)) <= _UNEVEN * round(calls):
        return round(calls)
    ends = step.steps + 1
    return round(timed.profiled_calls / ends) if ends > _FEW_STEPS else 0


def _waits(account: Account) -> bool:
    """Whether the host waits for the GPU in a step."""
    step, rows = account
    is_pageable = any(row.kind == COPIES and _PAGEABLE in row.what for row in rows)
    return is_pageable or sum(row.waited for row in rows) > _LEAST_WAIT * step.seconds


def account_rows(graphs: Graphs, account: Account | None = None) -> Iterator[msgspec.Struct]:
    """The steps, what bounds them and the parts of one: of `account`, else of what the run profiled itself. They are
    the program's, whichever `graph` is asked for.
    """
    found = account or recorded_account(graphs.dump)
    if found is not None:
        yield found.step
        yield from step_bounds(found.step, found.rows)
        yield from found.rows


def account_of(
    dump: Dump,
    profile: Profile,
    found: Attribution,
    roof: Roof | None,
    given: str | None = None,
    lines: Iterable[OperatorLine] = (),
) -> Account | None:
    """The account of the steps in `profile`, which `found` joined with `dump`; None if it tells of no time.

    `given`: the line, `train.py:41`, of the function whose calls are the steps. `lines`: of operators, if it is the run
    of the dump that was profiled.
    """
    account = step_account(profile, found, _bounds(dump, found, roof), given, lines)
    if account is None or not _is_sound(account):
        return None
    broken = broken_lines(dump)
    return account._replace(rows=[_placed(row, broken) for row in account.rows])


def _bounds(dump: Dump, found: Attribution, roof: Roof | None) -> Mapping[tuple[str, str, int | None], str]:
    """What bounds each launch of the graphs that ran, by the roofline; empty without a roof."""
    if roof is None:
        return {}
    graphs = {outermost(own.launch.graph) for own in found.joined if own.launch is not None}
    return {
        (row.graph, row.kernel, row.line): row.bound
        for graph in sorted(graphs)
        for row in roofline(CompiledGraph(dump, graph), roof)
        if row.bound
    }


def broken_lines(dump: Dump) -> dict[str, Location]:
    """The frames with a graph break at one line only: between its graph and its end, a frame runs that line."""
    lines: dict[str, set[Location]] = {}
    for row in dump.rows(GraphBreak):
        if row.where is not None:
            lines.setdefault(frame_id(row.graph), set()).add(row.where)
    return {frame: next(iter(own)) for frame, own in lines.items() if len({(at.file, at.line) for at in own}) == 1}


def _placed(row: StepTime, lines: Mapping[str, Location]) -> StepTime:
    line = lines.get(frame_id(row.region)) if row.region and row.line is None else None
    return row if line is None else msgspec.structs.replace(row, where=short(line), line=line)
