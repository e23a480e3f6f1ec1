"""Graphs and kernels of two or more compiles beside each other."""

from collections.abc import Callable, Sequence
from typing import Final

from inspect_compile.analysis.compare.side_by_side import KernelSide, SideRow
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.parts import more
from inspect_compile.tables.styled_text import Block, Stack, Table
from inspect_compile.tables.text import byte_text, number_of, one_line, time_text

_LONGEST_NAME: Final = 10


def name_cell(row: SideRow) -> Cell:
    """The graph, or below it the kernel."""
    if not row.kernel:
        return cell(one_line(row.graph), "title")
    return (Span("  "), Span(one_line(row.kernel), "" if row.is_same else "name"))


def state_text(row: SideRow) -> str:
    """`same`, `differs`, or which sides have it."""
    there = [name for name, side in zip(row.names, row.sides, strict=True) if side is not None]
    if len(there) < len(row.names):
        return f"only {' '.join(map(_short, there))}"
    return "same" if row.is_same else "differs"


def columns(names: Sequence[str]) -> tuple[Column[SideRow], ...]:
    """The columns for sides with these names."""
    return (
        Column("kernel", name_cell, stretch=True, least=24, most=80, middle=True),
        Column("", lambda row: cell(state_text(row), "dim" if row.is_same else "warn")),
        *_figures(names, "launches", lambda side: f"{side.launches:,}", drop=2),
        *_figures(names, "bytes", lambda side: byte_text(side.bytes), drop=0),
        *_figures(names, "time", lambda side: time_text(side.seconds) if side.seconds is not None else "", drop=1),
    )


def _figures(names: Sequence[str], what: str, words: Callable[[KernelSide], str], drop: int) -> list[Column[SideRow]]:
    def of(place: int) -> Callable[[SideRow], str]:
        def text(row: SideRow) -> str:
            side = row.sides[place]
            return "" if side is None else words(side)

        return text

    return [
        Column(f"{what} {_short(name)}", of(place), right=True, optional=True, drop=drop)
        for place, name in enumerate(names)
    ]


def _short(name: str) -> str:
    return one_line(name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}")


def beside(rows: Sequence[SideRow], every: str, *, limit: int | None) -> Block:
    """The table, for `diff --kernels`; `every` is the command that prints all rows."""
    shown = rows if limit is None else rows[:limit]
    notes = [more(len(rows) - len(shown), every)] if len(shown) < len(rows) else []
    names = rows[0].names if rows else ()
    return Stack([Table(columns(names), shown, notes=notes)])


def difference_text(rows: Sequence[SideRow]) -> str:
    """`3 kernels differ, 12 are the same`."""
    kernels = [row for row in rows if row.kernel]
    other = sum(not row.is_same for row in kernels)
    differ = f"{number_of(other, 'kernel')} {'differs' if other == 1 else 'differ'}"
    return f"{differ}, {len(kernels) - other:,} the same"
