"""All stages of a kernel at once: for each line of its source, the number of lines of each stage that come from it."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import RenderableType

from inspect_compile.analysis.kernels.stage_counts import LineCounts
from inspect_compile.analysis.kernels.stage_lines import STAGES, KernelStages
from inspect_compile.analysis.kernels.statements import Statements
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.kernels.stage_page import calls_lines, title
from inspect_compile.tables.parts import command, limited
from inspect_compile.tables.styled_text import Stack, joined
from inspect_compile.tables.text import clean, lines_text, one_line

_COLUMNS: Final[tuple[Column[LineCounts], ...]] = (
    Column("line", lambda row: str(row.line), right=True),
    Column("source", lambda row: clean(row.text), stretch=True, least=24, most=120),
    Column("nodes", lambda row: one_line(" ".join(row.nodes)), role="name", stretch=True, least=12, most=32, drop=2),
    Column("program", lambda row: lines_text(row.lines), role="dim", stretch=True, least=11, most=32, drop=1),
)


def stage_counts(
    statements: Statements,
    stages: KernelStages,
    label: str,
    rows: Sequence[LineCounts],
    notes: Sequence[str],
    *,
    limit: int | None,
    dump_argument: str,
) -> RenderableType:
    """Shows at most `limit` lines; `notes` say which stages are left out, and why."""
    names = [name for name in STAGES if any(name in row.counts for row in rows)]
    parts: list[RenderableType] = [title(stages, label)]
    parts += [joined((f"  {line}", "dim")) for line in calls_lines(statements, stages.kernel)]
    parts += [joined((f"  {one_line(note)}", "yellow")) for note in notes]
    evidence = command(dump_argument, "kernel", stages.kernel.name, "--stage", "all", "--all")
    columns = (*_COLUMNS, *(Column(name, _count_in(name), right=True) for name in names))
    parts.append(limited(columns, rows, limit, evidence))
    return Stack(parts, gap=False)


def _count_in(stage: str) -> Callable[[LineCounts], Cell]:
    """The cells of a stage's column."""
    return lambda row: cell(str(row.counts.get(stage, 0)), "" if row.counts.get(stage) else "dim")
