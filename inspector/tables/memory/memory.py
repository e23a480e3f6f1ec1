"""Bytes that the wrapper holds after each of its lines, who holds them, and what the backward keeps."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec

from inspect_compile.analysis.lookup.moments import find_moments, lines_text
from inspect_compile.analysis.memory.holders import Holder, Moment, holders
from inspect_compile.analysis.memory.saved import Activations, NeededActivation, activations
from inspect_compile.analysis.memory.uncounted import uncounted
from inspect_compile.facts import MemoryPlan, Partition, Saved, WrapperLine
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.replay import MemoryStep
from inspect_compile.tables.columns import Cell, Column, Row, Span, cell, place_cell, text_lines
from inspect_compile.tables.lookup_text import resolved
from inspect_compile.tables.memory.memory_text import (
    kept_text,
    memory_notes,
    moment_notes,
    moment_text,
    partition_notes,
    peak_text,
    uncounted_notes,
    why_kept,
)
from inspect_compile.tables.parts import DeclaredTable, Request, more, recorded, recorded_of_compiles, title
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, heading, styled
from inspect_compile.tables.text import byte_text, number_of, share_text

_BAR: Final = 16


def _buffer(step: MemoryStep) -> Cell:
    name = step.buffer or step.kernel or ""
    return cell(f"{name} ← {step.of}" if step.of is not None else name, "name" if step.change else "")


def _change(step: MemoryStep) -> Cell:
    return cell(f"{step.change:+,}", "warn" if step.change > 0 else "good") if step.change else ()


def _share(step: MemoryStep) -> Cell:
    bar = cell("█" * round(_BAR * step.share), "warn" if step.is_peak else "bar")
    return (*bar, Span(" peak", "warn")) if step.is_peak else bar


STEPS: Final[tuple[Column[MemoryStep], ...]] = (
    Column("line", lambda step: str(step.line or ""), role="dim", right=True),
    Column("what", lambda step: step.what, role="dim", drop=1),
    Column("buffer", _buffer, stretch=True, least=12, most=60, middle=True),
    Column("change", _change, right=True, drop=2),
    Column("live", lambda step: cell(f"{step.live:,}", "strong" if step.is_peak else ""), right=True),
    Column("of the peak", _share, drop=3),
)
HELD: Final[tuple[Column[Holder], ...]] = (
    Column("bytes", lambda row: f"{row.bytes:,}", right=True),
    Column("share", lambda row: share_text(row.share), right=True, optional=True, drop=4),
    Column("buffer", lambda row: row.named, role="name", stretch=True, least=6, most=60, middle=True),
    Column("lines", lambda row: row.span, drop=1),
    Column("node", lambda row: row.node, role="dim", stretch=True, least=8, most=40, middle=True, drop=3),
    Column("where", lambda row: place_cell(row.where), stretch=True, least=8, most=40, middle=True, drop=2),
)
KEPT: Final[tuple[Column[NeededActivation], ...]] = (
    Column(
        "bytes", lambda row: "" if row.bytes is None else cell(f"{row.bytes:,}", "dim" if row.of else ""), right=True
    ),
    Column("decision", lambda row: cell(row.decision, "accent" if row.decision == "saved" else "dim"), drop=1),
    Column("node", lambda row: row.node, role="name", stretch=True, least=8, most=50, middle=True),
    Column("where", lambda row: place_cell(row.where), stretch=True, least=8, most=40, middle=True, drop=2),
    Column("reason", why_kept, role="dim", stretch=True, least=14, most=120, wraps=True),
)


def memory(request: Request, *, at: str | None = None) -> Block:
    """One replay for each graph; if rows are left out, those around the peak are kept. `at`: who holds what at that
    line.
    """
    dump, sheets = request.dump, list[Block]()
    if at is not None:
        moments = resolved(find_moments(Graphs(dump, request.graph), at))
        return Stack(_at(request, graph, found, now, at) for graph, found, now in moments)
    for graph in request.graphs:
        found = graph.memory
        steps = request.kept(found.steps)
        summary = (
            f"{peak_text(found)}, {number_of(found.allocations, 'allocation')} of {byte_text(found.allocated)} together"
        )
        notes = [*memory_notes(found), *uncounted_notes(uncounted(graph))]
        again = request.every("memory")
        sheets.append(_table(STEPS, steps, _around_peak(steps, request.limit), title(graph, summary), again, notes))
        if graph.fact.kind == "forward" and (kept := activations(graph)) is not None:
            sheets.append(_activations(request, graph, kept))
    return request.stacked(sheets)


def _table(
    columns: Sequence[Column[Row]],
    rows: Sequence[Row],
    shown: Sequence[Row],
    head: StyledLine,
    again: str,
    notes: Iterable[str],
) -> Table[Row]:
    """The rows that are shown; `again` is named if there are others, and shows them all."""
    left = [more(len(rows) - len(shown), again)] if len(rows) > len(shown) else []
    return Table(columns, shown, title=head, notes=[*left, *(styled(note, "dim") for note in notes)])


def moment_lines(now: Moment, most: int) -> list[str]:
    """Who holds what at a moment, for a text: the first `most` pieces of memory."""
    left = len(now.holders) - most
    more = [f"… and {number_of(left, 'smaller one')}"] if left > 0 else []
    return [*text_lines(HELD, now.holders[:most]), *more, *moment_notes(now)]


def _around_peak(steps: list[MemoryStep], limit: int | None) -> list[MemoryStep]:
    if limit is None:
        return steps
    peak = next((index for index, step in enumerate(steps) if step.is_peak), 0)
    first = max(0, min(peak - limit // 2, len(steps) - limit))
    return steps[first : first + limit]


def _at(request: Request, graph: CompiledGraph, found: Memory, now: Moment | None, at: str) -> Block:
    """Who holds what after a line."""
    if now is None:
        return title(graph, "nothing is allocated" if at == "peak" else f"no line {at}: {lines_text(found)}")
    rows = request.kept(now.holders)
    shown = rows[: request.limit]
    again = request.every("memory", "--at", at, graph=graph.name)
    again = f"{byte_text(sum(row.bytes for row in rows[len(shown) :]))} in them; {again}"
    summary = f"{byte_text(now.live)} live {moment_text(found, now, None if at == 'peak' else int(at))}"
    return _table(HELD, rows, shown, title(graph, summary), again, moment_notes(now))


def _activations(request: Request, graph: CompiledGraph, found: Activations) -> Block:
    head, again = heading(graph.name, kept_text(found)), request.every("memory", graph=graph.name)
    rows = request.kept(found.kept)
    return _table(KEPT, rows, rows[: request.limit], head, again, partition_notes(found))


def _rows(graphs: Graphs, at: str | None = None) -> Iterator[msgspec.Struct]:
    if at is not None:
        for _, _, now in resolved(find_moments(graphs, at)):
            yield from now.holders if now is not None else ()
        return
    for graph in graphs:
        held = graph.memory
        yield from held.steps
        yield from holders(graph, held)
        kept = activations(graph) if graph.fact.kind == "forward" else None
        yield from kept.kept if kept is not None else ()


TABLE: Final = DeclaredTable(
    memory,
    _rows,
    lambda graphs: chain(recorded(WrapperLine, MemoryPlan)(graphs), recorded_of_compiles(Partition, Saved)(graphs)),
)
