"""The bytes that the wrapper holds after each of its lines."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.about import concerns
from inspect_compile.analysis.memory import Memory, MemoryStep
from inspect_compile.analysis.memory import memory as replay
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.row_sources import graphs_of
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, styled
from inspect_compile.tables.text import byte_text, number_of

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
_BAR = 24


def memory(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """One replay a graph. Where rows are left out, those around the peak stay."""
    sheets = []
    for graph_fact in graphs_of(dump, graph):
        found = replay(dump, graph_fact.graph)
        steps = [step for step in found.steps if concerns(step, names)]
        shown = steps if limit is None else _around_peak(steps, found, limit)
        told = f"peak {byte_text(found.peak)}" + (f" after line {found.peak_line}" if found.peak_line else "")
        told += f", {number_of(found.allocations, 'allocation')} of {byte_text(found.allocated)} together"
        notes: list[Cell] = [styled(f"not followed: {note}", style="dim") for note in found.notes]
        if len(steps) > len(shown):
            which = ("--graph", graph_fact.graph) if graph is not None else ()
            notes.insert(0, more(len(steps) - len(shown), command(said, "memory", *names, *which, "--all")))
        rows = [_cells(step, found) for step in shown]
        sheets.append(Sheet(_COLUMNS, rows, title=title(graph_fact, told), notes=notes))
    return Stack(sheets or [styled("nothing was compiled", style="dim")])


def _around_peak(steps: list[MemoryStep], found: Memory, limit: int) -> list[MemoryStep]:
    peak = next((index for index, step in enumerate(steps) if step.line == found.peak_line), 0)
    first = max(0, min(peak - limit // 2, len(steps) - limit))
    return steps[first : first + limit]


def _cells(step: MemoryStep, found: Memory) -> list[Cell]:
    what = step.buffer or step.kernel or ""
    is_peak = step.line is not None and step.line == found.peak_line
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
