"""The memory of a graph: each piece from line to line, what is live after each line, what the backward keeps."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from inspect_compile.analysis.memory.holders import Holder, holders, moment
from inspect_compile.analysis.memory.saved import Activations, NeededActivation, activations
from inspect_compile.dump import Dump
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.replay import MemoryStep
from inspect_compile.tables.columns import Cell, Column, Span, cell, picked
from inspect_compile.tables.memory.memory import HELD, STEPS, moment_lines
from inspect_compile.tables.memory.memory import KEPT as KEPT_COLUMNS
from inspect_compile.tables.memory.memory_text import (
    kept_story,
    kept_text,
    memory_notes,
    moment_text,
    partition_notes,
    peak_text,
)
from inspect_compile.tables.styled_text import styled
from inspect_compile.tables.text import byte_text, place_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code
from inspect_compile.tui.models.letters import BUFFERS, PEAK_KEY
from inspect_compile.tui.models.sheet import DETAILED, Panel, Row, Sheet, Shown, Subject, Table

LINES: Final = "lines"
KEPT: Final = "kept"
MODES: Final = (BUFFERS, LINES, KEPT)

TIME: Final = 30
"""Width in columns of the time axis, from the first to the last line."""
_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_MOST: Final = 12
"""Maximum number of pieces of memory listed for a moment."""


def memory(dump: Dump, chain: Chain, mode: str) -> Shown[Table]:
    """What `mode` shows of the chain's graph."""
    if mode == KEPT:
        return _kept(dump, chain)
    found = chain.compiled.memory
    held = holders(chain.compiled, found)
    return _lines(chain, found, held) if mode == LINES else _buffers(chain, found, held)


def _detail(lines: Callable[[], Sequence[str]]) -> Callable[[int], Sheet]:
    """Everything known about a row, put into lines when it is shown."""
    return lambda width: Code([styled(line) for line in lines()])


def _buffers(chain: Chain, found: Memory, held: list[Holder]) -> Shown[Table]:
    scale = _Scale(found)
    time: Column[Holder] = Column("first line → last", scale.bar, least=TIME, most=TIME)
    shown = picked(HELD, "bytes", "buffer", time, "where", "node")
    rows: list[Row] = []
    details: dict[str, Callable[[int], Sheet]] = {}
    if held:
        curve = {"bytes": cell(byte_text(found.peak), "dim"), "buffer": cell("live", "dim"), time.title: scale.curve()}
        rows.append(Row(PEAK_KEY, tuple(curve.get(column.title, ()) for column in shown)))
        details[PEAK_KEY] = _detail(partial(_at, found, held, found.peak_index))
    for position, row in enumerate(sorted(held, key=lambda row: (row.first, row.origin != "given"))):
        key = f"{position} {row.buffers[0] if row.buffers else ''}"
        rows.append(Row.of(shown, row, key, _of_holder(chain, row)))
        details[key] = _detail(partial(_story, row))
    return Shown(Table(shown, rows), peak_text(found), details=details)


def _lines(chain: Chain, found: Memory, held: list[Holder]) -> Shown[Table]:
    kernels = {
        (kernel.name, line): position for position, kernel in enumerate(chain.kernels) for line in kernel.launches
    }
    keys = [str(step.index) for step in found.steps]
    table = Table.of(STEPS, found.steps, keys, [_of_step(chain, step, kernels) for step in found.steps])
    details = {str(step.index): _detail(partial(_at, found, held, step.index)) for step in found.steps}
    return Shown(table, peak_text(found), details=details)


def _kept(dump: Dump, chain: Chain) -> Shown[Table]:
    found = activations(chain.compiled)
    if found is None:
        return Shown(Table(KEPT_COLUMNS, ()), empty="This graph has no backward, so nothing is saved for it.")
    keys = [f"{row.decision} {row.node}" for row in found.kept]
    table = Table.of(KEPT_COLUMNS, found.kept, keys, [chain.of_node(chain.graph, row.node) for row in found.kept])
    details = {key: _detail(partial(_of_kept, row, found)) for key, row in zip(keys, found.kept, strict=True)}
    summary = f"{byte_text(found.saved)} saved, {byte_text(found.without)} if nothing were computed again"
    return Shown(table, summary, details=details)


def _of_kept(row: NeededActivation, found: Activations) -> list[str]:
    return [*kept_story(row), "", kept_text(found), *partition_notes(found)]


class _Scale:
    """Maps Wrapper IR lines to columns."""

    def __init__(self, found: Memory) -> None:
        self._found = found
        self._places = {step.index: place for place, step in enumerate(found.steps)}
        self._count = max(len(found.steps), 1)
        self._peak = None if found.peak_index is None else self._column(found.peak_index)

    def _column(self, index: int) -> int:
        if index < 0:
            return 0
        place = self._places.get(index)
        if place is None:
            place = next((place for other, place in self._places.items() if other > index), self._count - 1)
        return place * TIME // self._count

    def curve(self) -> Cell:
        """The maximum that is live in each column."""
        most = [0] * TIME
        live = 0
        for place in range(TIME):
            first, last = place * self._count // TIME, (place + 1) * self._count // TIME
            here = [step.live for step in self._found.steps[first:last]]
            live = here[-1] if here else live
            most[place] = max(here, default=live)
        if self._peak is not None:
            most[self._peak] = self._found.peak
        highest = max(self._found.peak, 1)
        text = "".join(_LEVELS[max(0, min(8, round(8 * live / highest)))] for live in most)
        return self._around(text, "accent", "warn")

    def bar(self, row: Holder) -> Cell:
        """The time in which a piece of memory is held."""
        first = self._column(row.first)
        last = TIME if row.last is None else max(self._column(row.last), first + 1)
        text = " " * first + "█" * (last - first) + " " * (TIME - last)
        return self._around(text, "dim" if row.origin == "given" else "bar", "warn")

    def _around(self, text: str, role: str, at_peak: str) -> Cell:
        """The text, with the column of the peak in another colour."""
        if self._peak is None:
            return (Span(text, role),)
        peak = text[self._peak] if text[self._peak] != " " else "┊"
        return Span(text[: self._peak], role), Span(peak, at_peak), Span(text[self._peak + 1 :], role)


def _span_text(row: Holder) -> str:
    if row.last is None and row.line is not None:
        return f"{row.line} to the end of output_code.py: it is returned"
    return f"{row.span} of output_code.py"


def _story(row: Holder) -> list[str]:
    kinds = {
        "allocated": "allocated by the wrapper",
        "extern": "returned by an extern kernel",
        "pool": "a pool of several buffers",
        "nested": "returned by a nested graph",
        "given": "saved by the forward; the backward frees it",
    }
    lines = [f"{row.bytes:,} B   {kinds.get(row.origin, row.origin)}", f"lines    {_span_text(row)}"]
    lines.append(f"buffers  {row.named}")
    if row.node:
        lines.append(f"node     {row.node}   {place_text(row.where)}")
    if row.where is not None and row.where.code:
        lines.append(f"         {row.where.code.strip()}")
    return lines


def _at(found: Memory, held: list[Holder], index: int | None) -> list[str]:
    if index is None:
        return ["nothing is allocated"]
    now = moment(found, held, index)
    notes = memory_notes(found) if index == found.peak_index else ()
    return [f"{now.live:,} B live {moment_text(found, now)}", *moment_lines(now, _MOST), *notes]


def _of_holder(chain: Chain, row: Holder) -> Subject | None:
    if row.origin == "given":
        return chain.of_node(chain.graph, row.node)
    names = tuple(chain.key(row.graph, name) for name in row.buffers)
    return Subject("buffer", names, row.named, names[:1]) if names else None


def _of_step(chain: Chain, step: MemoryStep, kernels: dict[tuple[str, int], int]) -> Subject | None:
    if step.kernel is not None and (position := kernels.get((step.kernel, step.line or 0))) is not None:
        return chain.of_launch(position, step.line)
    if step.buffer is None:
        return None
    name = chain.key(step.graph, step.buffer)
    return Subject("buffer", (name,), step.buffer, (name,))


PANEL: Final = Panel(
    memory, MODES, "No allocation of this graph was recorded: its wrapper holds none.", follow="output", detail=DETAILED
)
"""Pieces of memory as bars from line to line, what is live, or what the backward keeps; below, details."""
