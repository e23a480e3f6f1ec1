"""Which setting fixes a wrong graph, and what that costs."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.numerics import causes as analysis
from inspect_compile.analysis.numerics.causes import Counterfactual, fixing
from inspect_compile.analysis.numerics.kept import kept_launches
from inspect_compile.graph import grouped
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, styled
from inspect_compile.tables.text import byte_text, clean, number_of, one_line, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import Graphs

_ROLES: Final = {
    analysis.FIXES: "good",
    analysis.NOT_WRONG: "good",
    analysis.HELPS: "warn",
    analysis.STILL: "bad",
    analysis.FAILED: "bad",
    analysis.NOT_TRIED: "dim",
}


def _count(row: Counterfactual, value: int) -> str:
    return f"{value:,}" if row.compared else ""


def _changed(now: int | None, first: int, text: Callable[[int], str]) -> Cell | str:
    """A figure, and by which share it differs from that of the first compile."""
    if now is None:
        return ""
    change = f"{now / first - 1:+.0%}" if first else "+0%"
    return (
        text(now)
        if change in ("+0%", "-0%")
        else (Span(f"{text(now)} "), Span(change, "good" if now < first else "bad"))
    )


COLUMNS: Final[tuple[Column[Counterfactual], ...]] = (
    Column("compiled again", lambda row: one_line(row.change), role="name", stretch=True, least=20, most=60),
    Column("outcome", lambda row: cell(row.outcome, _ROLES.get(row.outcome, ""))),
    Column("wrong", lambda row: _count(row, row.wrong), right=True),
    Column("worse", lambda row: _count(row, row.worse), right=True, optional=True),
    Column("of", lambda row: _count(row, row.compared), role="dim", right=True, drop=2),
    Column("launches", lambda row: _changed(row.launches, row.first_launches, "{:,}".format), right=True),
    Column("bytes", lambda row: _changed(row.bytes, row.first_bytes, byte_text), right=True),
    Column("replay", lambda row: str(row.replay or ""), role="dim", right=True, drop=3),
    Column("", lambda row: cell(one_line(row.reason or row.about), "dim"), stretch=True, least=12, most=80, drop=1),
)


def causes(dump: "Dump", rows: Iterable[Counterfactual], dump_argument: str) -> Block:
    """For each graph a table of the compiles, and what came of it."""
    parts: list[Block] = []
    for graph, of_graph in grouped(rows, lambda row: row.graph).items():
        lines = Stack([*_left(of_graph), *_lines(dump, of_graph, dump_argument)], gap=False)
        tried = [row for row in of_graph if row.outcome != analysis.NOT_TRIED]
        parts.append(Table(COLUMNS, tried, title=styled(clean(graph), "strong")))
        parts.append(lines)
    return Stack(parts)


def _price(row: Counterfactual) -> str:
    """What it costs in launches and bytes."""
    launches, size = number_of(row.launches or 0, "launch", "launches"), byte_text(row.bytes)
    if (row.launches, row.bytes) == (row.first_launches, row.first_bytes):
        return f"with {launches} and {size} as before"
    return f"with {launches} and {size} instead of {row.first_launches:,} and {byte_text(row.first_bytes)}"


def _left(rows: list[Counterfactual]) -> Iterator[StyledLine]:
    """What was not tried."""
    left = [row for row in rows if row.outcome == analysis.NOT_TRIED and row.reason]
    for reason, these in grouped(left, lambda row: row.reason).items():
        yield styled(f"not tried, {one_line(reason)}: {'; '.join(one_line(row.change) for row in these)}", "dim")


def cause_lines(graphs: "Graphs", dump_argument: str) -> Iterator[StyledLine]:
    """What came of compiling wrong graphs again, a line or two for each."""
    for of_graph in grouped(analysis.causes(graphs), lambda row: row.graph).values():
        yield from _lines(graphs.dump, of_graph, dump_argument)


def _lines(dump: "Dump", rows: list[Counterfactual], dump_argument: str) -> Iterator[StyledLine]:
    first = rows[0]
    if first.outcome == analysis.NOT_WRONG:
        yield styled(
            f"{clean(first.graph)}: compiled again with the same settings and inputs, it is not wrong: the cause"
            f" is in the program (its own lowerings, passes or edits of generated code), or differs from run to run"
        )
        return
    if first.outcome == analysis.FAILED:
        yield styled(f"{clean(first.graph)}: it cannot be compiled again and checked: {one_line(first.reason)}")
        return
    fixes = fixing(rows)
    for row in fixes:
        about = f" ({row.about})" if row.about else ""
        yield styled(f"fixes it: {one_line(row.change)}{about}, {_price(row)}", "good")
    if fixes:
        return
    tried = [row for row in rows if row.outcome not in (analysis.NOT_TRIED, analysis.STILL)]
    if not first.wrong:
        yield styled(f"no setting makes it as accurate as eager, of {len(tried):,} that were tried")
        return
    how = ""
    if any(kept.inputs.graph == first.graph and kept.inputs.file for kept in kept_launches(dump)):
        words = unbroken(dump_argument.strip() or str(dump.root)), "--graph", shlex.quote(unbroken(first.graph))
        how = f"; write a reproducer with inspect-compile numerics {' '.join(words)} -o repro.py"
    yield styled(f"no setting fixes it, of {len(tried):,} that were tried: a bug{how}", "strong")
