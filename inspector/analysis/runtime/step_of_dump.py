"""The account of a step from a profile of a program whose compiles a dump has: with lines, and what bounds kernels."""

from collections.abc import Iterator, Mapping

import msgspec

from inspect_compile.analysis.cost.roofline import roofline
from inspect_compile.analysis.cost.roofs import Roof
from inspect_compile.analysis.dumps.names import short
from inspect_compile.analysis.runtime.attribution import Attribution
from inspect_compile.analysis.runtime.step_account import Account, step_account
from inspect_compile.analysis.runtime.step_bound import step_bounds
from inspect_compile.dump import Dump
from inspect_compile.facts import GraphBreak, Location, StepAccount, StepTime
from inspect_compile.facts.compile_id import frame_id
from inspect_compile.profiles import Profile


def recorded_account(dump: Dump) -> Account | None:
    """The account that the run itself made; None if no step was profiled."""
    found = dump.rows(StepAccount)
    return Account(found[-1], list(dump.rows(StepTime))) if found else None


def account_rows(dump: Dump, graph: str | None = None, account: Account | None = None) -> Iterator[msgspec.Struct]:
    """The steps, what bounds them and the parts of one: of `account`, else of what the run profiled itself. They are
    the program's, whichever `graph` is asked for.
    """
    found = account or recorded_account(dump)
    if found is not None:
        yield found.step
        yield from step_bounds(found.step, found.rows)
        yield from found.rows


def account_of(
    dump: Dump, profile: Profile, found: Attribution, roof: Roof | None, given: str | None = None
) -> Account | None:
    """The account of the steps in `profile`, which `found` joined with `dump`; None if it tells of no time.

    `given`: the line, `train.py:41`, of the function whose calls are the steps.
    """
    account = step_account(profile, found, _bounds(dump, found, roof), given)
    if account is None:
        return None
    lines = broken_lines(dump)
    return account._replace(rows=[_placed(row, lines) for row in account.rows])


def _bounds(dump: Dump, found: Attribution, roof: Roof | None) -> Mapping[tuple[str, str, int | None], str]:
    """What bounds each launch of the graphs that ran, by the roofline; empty without a roof."""
    if roof is None:
        return {}
    graphs = {own.launch.graph.partition("/")[0] for own in found.joined if own.launch is not None}
    return {
        (row.graph, row.kernel, row.line): row.bound
        for graph in sorted(graphs)
        for row in roofline(dump, graph, roof)
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
    line = lines.get(frame_id(row.region)) if row.region else None
    return row if line is None else msgspec.structs.replace(row, where=short(line))
