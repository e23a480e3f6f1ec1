"""One stage of a kernel, each line beside the lines of the source, the FX nodes and the user's lines that it is of."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import RenderableType

from inspect_compile.analysis.debug_lines import says_places_only
from inspect_compile.analysis.stage_lines import KernelStages, Stage, StageLine, annotated_lines, coverage
from inspect_compile.analysis.statements import Statements
from inspect_compile.facts import Kernel
from inspect_compile.tables.binary_text import config_text
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined
from inspect_compile.tables.text import clean, lines_text, number_of, one_line, unbroken

MOST_LINES: Final = 2_000
"""That are shown unless told otherwise."""
_LONGEST: Final = 500
_BLANKS: Final = re.compile(r" {3,}")
_MOST_FOLDED: Final = 30

_COLUMNS: Final = (
    Column("line", right=True),
    Column("stage", flex=True),
    Column("source", right=True),
    Column("nodes", cap=0.2),
    Column("program", cap=0.2),
)


def stage_page(
    statements: Statements,
    stages: KernelStages,
    stage: Stage,
    *,
    limit: int | None = None,
    told: str = "",
    said: str = "",
) -> RenderableType:
    """`told` is what the title tells beside the configuration; at most `limit` lines are shown."""
    kernel = stages.kernel
    title = [stage.name, *_configuration(stages, stage), told]
    parts: list[RenderableType] = [
        joined((unbroken(kernel.name), "bold"), "   ", (one_line("   ".join(word for word in title if word)), "dim"))
    ]
    if stage.text:
        parts += [joined((f"  {line}", "dim")) for line in coverage_lines(statements, kernel, stage)]
    if stage.note:
        parts.append(joined((f"  {one_line(stage.note)}", "yellow")))
    rows = annotated_lines(statements, kernel, stage)
    kept = rows if limit is None else [row for row in rows if not says_places_only(row.text)]
    shown = kept if limit is None else kept[:limit]
    columns = [column._replace(title=stage.name) if column.title == "stage" else column for column in _COLUMNS]
    notes: list[Cell] = []
    if len(rows) > len(shown):
        everything = command(said, "kernel", kernel.name, "--stage", stage.name, "--all")
        if len(kept) > len(shown):
            notes.append(more(len(kept) - len(shown), everything))
        else:
            left = number_of(len(rows) - len(kept), "line")
            notes.append(joined((f"{left} left out that only tell places", "dim"), "   ", (everything, "cyan")))
    if shown:
        parts.append(Sheet(columns, _cells(shown), notes=notes))
    return Stack(parts, gap=False)


def coverage_lines(statements: Statements, kernel: Kernel, stage: Stage) -> Iterator[str]:
    """What of the stage is mapped, and which statements nothing of it is left of."""
    found = coverage(stage, statements.all_annotated(kernel))
    what = number_of(found.instructions, "instruction")
    mapped = "all mapped" if found.mapped == found.instructions else f"{found.mapped:,} of them mapped"
    yield f"{what}, {mapped}" if found.mapped else what
    if found.mapped and found.statements:
        folded = [str(line) for line in found.folded[:_MOST_FOLDED]]
        left = len(found.folded) - len(folded)
        yield (
            f"of {number_of(found.statements, 'statement')} {found.statements - len(found.folded):,} have instructions"
            + (
                f"; folded into others, or not needed: {' '.join(folded)}{f' … {left} more' if left else ''}"
                if folded
                else ""
            )
        )


def _configuration(stages: KernelStages, stage: Stage) -> Iterator[str]:
    row = next((row for row in stages.compiled if row.label == stage.label), None)
    if row is not None:
        yield ", ".join(word for word in (config_text(row), number_of(row.num_warps or 0, "warp")) if word)
        yield row.target
        yield f"1 of {len(stages.compiled)} configurations" if len(stages.compiled) > 1 else ""


def _cells(rows: Iterable[StageLine]) -> Iterator[tuple[str, ...]]:
    """What a line is of stands beside the first of those that are of the same."""
    before: tuple[Sequence[object], ...] = ((), (), ())
    for row in rows:
        told: tuple[Sequence[object], ...] = (row.source, row.nodes, row.lines) if row.source else before
        yield (
            str(row.line),
            clean(stage_text(row)[:_LONGEST]),
            "" if told[0] == before[0] else source_text(row.source),
            "" if told == before else one_line(" ".join(row.nodes)),
            "" if told == before else lines_text(row.lines),
        )
        before = told


def stage_text(row: StageLine) -> str:
    """The line; nvdisasm's are mostly blanks."""
    return _BLANKS.sub("  ", row.text) if row.stage == "sass" else row.text


def source_text(source: Sequence[int]) -> str:
    """`38`; `12 38` where line 38 calls what line 12 is in."""
    return " ".join(map(str, source))
