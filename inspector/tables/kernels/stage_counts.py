"""All stages of a kernel at once: for each line of its source, the number of lines of each stage that come from it."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from inspect_compile.analysis.kernels.stage_counts import LineCounts
from inspect_compile.analysis.kernels.stage_lines import STAGES, KernelStages
from inspect_compile.analysis.kernels.statements import Statements
from inspect_compile.tables.kernels.stage_page import calls_lines, title
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import clean, lines_text, one_line


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
    shown = rows if limit is None else rows[:limit]
    columns = (
        Column("line", right=True),
        Column("source", flex=True),
        Column("nodes", cap=0.2, least=90),
        Column("program", cap=0.2, least=90),
        *(Column(name, right=True) for name in names),
    )
    left: list[Cell] = []
    if len(rows) > len(shown):
        left.append(
            more(
                len(rows) - len(shown), command(dump_argument, "kernel", stages.kernel.name, "--stage", "all", "--all")
            )
        )
    parts.append(Sheet(columns, _cells(shown, names), notes=left))
    return Stack(parts, gap=False)


def _cells(rows: Sequence[LineCounts], names: Sequence[str]) -> Iterator[list[Cell]]:
    for row in rows:
        yield [
            str(row.line),
            clean(row.text),
            one_line(" ".join(row.nodes)),
            lines_text(row.lines),
            *(styled(str(row.counts.get(name, 0)), "" if row.counts.get(name) else "dim") for name in names),
        ]
