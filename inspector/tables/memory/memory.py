"""Bytes that the wrapper holds after each of its lines, who holds them, and what the backward keeps."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.lookup.moments import find_moments, lines_text
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.analysis.memory.holders import Holder, Moment
from inspect_compile.analysis.memory.plan import Memory
from inspect_compile.analysis.memory.plan import memory as replay
from inspect_compile.analysis.memory.replay import MemoryStep
from inspect_compile.analysis.memory.saved import Activations, Kept, activations
from inspect_compile.analysis.memory.uncounted import uncounted
from inspect_compile.facts import Graph
from inspect_compile.tables.lookup_text import resolved
from inspect_compile.tables.memory.memory_words import (
    kept_text,
    memory_notes,
    moment_notes,
    moment_text,
    partition_notes,
    uncounted_notes,
    why_kept,
)
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import byte_text, clean, number_of, place_text, share_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("line", right=True),
    Column("what"),
    Column("buffer", cap=0.4),
    Column("change", right=True),
    Column("live", right=True),
    Column("", least=70),
)
_HELD = (
    Column("bytes", right=True),
    Column("share", right=True),
    Column("buffers", cap=0.35),
    Column("lines", least=70),
    Column("node", cap=0.25),
    Column("where", cap=0.2),
)
_KEPT = (
    Column("bytes", right=True),
    Column("decision"),
    Column("node", cap=0.3),
    Column("where", cap=0.25),
    Column("", flex=True, least=70),
)
_BAR = 24


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
    if at is not None:
        sheets = [
            _at(facts, found, now, at, names, limit, dump_argument)
            for facts, found, now in resolved(find_moments(dump, at, graph))
        ]
        return Stack(sheets)
    sheets = []
    for facts in graphs_of(dump, graph):
        found = replay(dump, facts.graph)
        steps = [step for step in found.steps if matches(step, names)]
        shown = steps if limit is None else _around_peak(steps, found, limit)
        told = f"peak {byte_text(found.peak)}" + (f" after line {found.peak_line}" if found.peak_line else "")
        told += f", {number_of(found.allocations, 'allocation')} of {byte_text(found.allocated)} together"
        which = ("--graph", facts.graph) if graph is not None else ()
        told_beside = [*memory_notes(found), *uncounted_notes(uncounted(dump, facts.graph))]
        notes: list[Cell] = [styled(note, style="dim") for note in told_beside]
        if len(steps) > len(shown):
            notes.insert(0, more(len(steps) - len(shown), command(dump_argument, "memory", *names, *which, "--all")))
        sheets.append(Sheet(_COLUMNS, [_cells(step, found) for step in shown], title=title(facts, told), notes=notes))
        kept = activations(dump, facts.graph) if facts.kind == "forward" else None
        if kept is not None:
            sheets.append(_activations(facts, kept, names, limit, dump_argument))
    return Stack(sheets or [styled(nothing_text(dump), style="dim")])


def _around_peak(steps: list[MemoryStep], found: Memory, limit: int) -> list[MemoryStep]:
    peak = next((index for index, step in enumerate(steps) if step.index == found.peak_index), 0)
    first = max(0, min(peak - limit // 2, len(steps) - limit))
    return steps[first : first + limit]


def _cells(step: MemoryStep, found: Memory) -> list[Cell]:
    what = step.buffer or step.kernel or ""
    is_peak = step.index == found.peak_index
    bar = "█" * round(_BAR * max(step.live, 0) / found.peak) if found.peak > 0 else ""
    style = "bold" if is_peak else ""
    return [
        str(step.line or ""),
        step.what,
        f"{what} ← {step.of}" if step.of is not None else what,
        f"{step.change:+,}" if step.change else "",
        styled(f"{step.live:,}", style=style),
        styled(f"{bar} peak" if is_peak else bar, style="bold yellow" if is_peak else "blue"),
    ]


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
        return Sheet(_HELD, [], title=title(facts, told))
    rows = [row for row in now.holders if matches(row, names)]
    shown = rows if limit is None else rows[:limit]
    notes: list[Cell] = [styled(note, "dim") for note in moment_notes(now)]
    if len(rows) > len(shown):
        which = ("--graph", facts.graph)
        bytes_left = byte_text(sum(row.bytes for row in rows[len(shown) :]))
        told_left = command(dump_argument, "memory", *names, *which, "--at", at, "--all")
        notes.insert(0, more(len(rows) - len(shown), f"{bytes_left} in them; {told_left}"))
    told = f"{byte_text(now.live)} live {moment_text(found, now, None if at == 'peak' else int(at))}"
    return Sheet(_HELD, [_holder(row, now) for row in shown], title=title(facts, told), notes=notes)


def _holder(row: Holder, now: Moment) -> list[Cell]:
    whole = sum(holder.bytes for holder in now.holders) + now.nested
    return [
        f"{row.bytes:,}",
        share_text(row.bytes / whole) if whole else "",
        row.named,
        row.span,
        row.node,
        place_text(row.where),
    ]


def _activations(
    facts: Graph, found: Activations, names: tuple[str, ...], limit: int | None, dump_argument: str
) -> Sheet:
    rows = [row for row in found.kept if matches(row, names)]
    rows.sort(key=lambda row: (row.decision != "saved", bool(row.of), -(row.bytes or 0)))
    shown = rows if limit is None else rows[:limit]
    notes: list[Cell] = [styled(note, "dim") for note in partition_notes(found)]
    if len(rows) > len(shown):
        notes.insert(
            0, more(len(rows) - len(shown), command(dump_argument, "memory", *names, "--graph", facts.graph, "--all"))
        )
    return Sheet(
        _KEPT,
        [_kept(row) for row in shown],
        title=joined((clean(facts.graph), "bold"), "  ", (kept_text(found), "dim"), one_line=True),
        notes=notes,
    )


def _kept(row: Kept) -> list[Cell]:
    size = "" if row.bytes is None else f"{row.bytes:,}"
    return [
        size,
        styled(row.decision, "" if row.decision == "saved" else "dim"),
        row.node,
        place_text(row.where),
        why_kept(row),
    ]
