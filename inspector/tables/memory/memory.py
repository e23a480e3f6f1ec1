"""Bytes that the wrapper holds after each of its lines, who holds them, and what the backward keeps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.lookup.moments import find_moments, lines_text
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.analysis.memory.holders import Moment
from inspect_compile.analysis.memory.plan import Memory
from inspect_compile.analysis.memory.plan import memory as replay
from inspect_compile.analysis.memory.replay import MemoryStep
from inspect_compile.analysis.memory.saved import Activations, activations
from inspect_compile.analysis.memory.uncounted import uncounted
from inspect_compile.facts import Graph
from inspect_compile.tables.columns import Column, Row
from inspect_compile.tables.lookup_text import resolved
from inspect_compile.tables.memory.memory_columns import HELD, KEPT, STEPS
from inspect_compile.tables.memory.memory_words import (
    kept_text,
    memory_notes,
    moment_notes,
    moment_text,
    partition_notes,
    uncounted_notes,
)
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.styled_text import Stack, joined, styled
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import byte_text, clean, number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def memory(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    at: str | None = None,
) -> RenderableType:
    """One replay for each graph; if rows are left out, those around the peak are kept. `at`: who holds what at that
    line.
    """
    sheets: list[RenderableType] = []
    if at is not None:
        return Stack(
            [
                _at(facts, found, now, at, names, limit, dump_argument)
                for facts, found, now in resolved(find_moments(dump, at, graph))
            ]
        )
    for facts in graphs_of(dump, graph):
        found = replay(dump, facts.graph)
        steps = [step for step in found.steps if matches(step, names)]
        shown = steps if limit is None else _around_peak(steps, limit)
        told = f"peak {byte_text(found.peak)}" + (f" after line {found.peak_line}" if found.peak_line else "")
        told += f", {number_of(found.allocations, 'allocation')} of {byte_text(found.allocated)} together"
        which = ("--graph", facts.graph) if graph is not None else ()
        notes = [*memory_notes(found), *uncounted_notes(uncounted(dump, facts.graph))]
        again = command(dump_argument, "memory", *names, *which, "--all")
        sheets.append(_table(STEPS, steps, shown, title(facts, told), again, notes))
        kept = activations(dump, facts.graph) if facts.kind == "forward" else None
        if kept is not None:
            sheets.append(_activations(facts, kept, names, limit, dump_argument))
    return Stack(sheets or [styled(nothing_text(dump), style="dim")])


def _table(
    columns: Sequence[Column[Row]],
    rows: Sequence[Row],
    shown: Sequence[Row],
    head: Text,
    again: str,
    notes: Sequence[str],
) -> TerminalTable[Row]:
    """The rows that are shown; `again` is told if there are others, and shows them all."""
    left = [more(len(rows) - len(shown), again)] if len(rows) > len(shown) else []
    return TerminalTable(columns, shown, title=head, notes=[*left, *(styled(note, style="dim") for note in notes)])


def _around_peak(steps: list[MemoryStep], limit: int) -> list[MemoryStep]:
    peak = next((index for index, step in enumerate(steps) if step.is_peak), 0)
    first = max(0, min(peak - limit // 2, len(steps) - limit))
    return steps[first : first + limit]


def _at(
    facts: Graph,
    found: Memory,
    now: Moment | None,
    at: str,
    names: tuple[str, ...],
    limit: int | None,
    dump_argument: str,
) -> RenderableType:
    """Who holds what after a line."""
    if now is None:
        told = "nothing is allocated" if at == "peak" else f"no line {at}: {lines_text(found)}"
        return title(facts, told)
    rows = [row for row in now.holders if matches(row, names)]
    shown = rows if limit is None else rows[:limit]
    again = command(dump_argument, "memory", *names, "--graph", facts.graph, "--at", at, "--all")
    again = f"{byte_text(sum(row.bytes for row in rows[len(shown) :]))} in them; {again}"
    told = f"{byte_text(now.live)} live {moment_text(found, now, None if at == 'peak' else int(at))}"
    return _table(HELD, rows, shown, title(facts, told), again, moment_notes(now))


def _activations(
    facts: Graph, found: Activations, names: tuple[str, ...], limit: int | None, dump_argument: str
) -> RenderableType:
    rows = [row for row in found.kept if matches(row, names)]
    head = joined((clean(facts.graph), "bold"), "  ", (kept_text(found), "dim"), one_line=True)
    again = command(dump_argument, "memory", *names, "--graph", facts.graph, "--all")
    return _table(KEPT, rows, rows if limit is None else rows[:limit], head, again, partition_notes(found))
