"""One stage of a kernel, each line beside the kernel line, FX node and source line that it comes from; or the number of
lines that each stage has of each line of the source.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from inspect_compile.analysis.kernels.instructions import count_instructions, says_places_only
from inspect_compile.analysis.kernels.stage_counts import LineCounts, narrowed, operations
from inspect_compile.analysis.kernels.stage_lines import (
    STAGES,
    KernelStages,
    Stage,
    StageLine,
    annotated_lines,
    coverage,
)
from inspect_compile.facts import Kernel
from inspect_compile.graph import Id
from inspect_compile.graph.kernels.statements import Statements
from inspect_compile.tables.columns import Cell, Column, cell, lines_cell
from inspect_compile.tables.kernels.binaries import config_text
from inspect_compile.tables.parts import command, limited, more
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, indented, joined, pointer
from inspect_compile.tables.text import clean, lines_text, number_of, one_line, unbroken

MOST_LINES: Final = 2_000
"""Maximum number of lines shown by default."""
_LONGEST: Final = 500
_BLANKS: Final = re.compile(r" {3,}")
_MOST_FOLDED: Final = 30
_MOST_OPERATIONS: Final = 12


class _Shown(NamedTuple):
    """A line of a stage; an origin stands beside the first of consecutive lines that share it."""

    line: StageLine
    has_source: bool
    has_origin: bool


_COLUMNS: Final[tuple[Column[_Shown], ...]] = (
    Column("line", lambda row: str(row.line.line), right=True),
    Column("stage", lambda row: clean(stage_text(row.line)[:_LONGEST]), stretch=True, least=30, most=_LONGEST),
    Column("source", lambda row: source_text(row.line.source) if row.has_source else "", right=True),
    Column(
        "nodes",
        lambda row: one_line(" ".join(row.line.nodes)) if row.has_origin else "",
        role="name",
        stretch=True,
        least=12,
        most=32,
    ),
    Column(
        "program",
        lambda row: lines_text(row.line.lines) if row.has_origin else "",
        role="dim",
        stretch=True,
        least=11,
        most=32,
    ),
)

_COUNTS: Final[tuple[Column[LineCounts], ...]] = (
    Column("line", lambda row: str(row.line), right=True),
    Column("source", lambda row: clean(row.text), stretch=True, least=24, most=120),
    Column("nodes", lambda row: one_line(" ".join(row.nodes)), role="name", stretch=True, least=12, most=32, drop=2),
    Column("program", lambda row: lines_cell(row.lines), stretch=True, least=11, most=44, drop=1),
)


def stage_page(
    statements: Statements,
    stages: KernelStages,
    stage: Stage,
    *,
    meant: frozenset[int] | None = None,
    asked: tuple[str, ...] = (),
    limit: int | None = None,
    title_note: str = "",
    dump_argument: str = "",
) -> Block:
    """The lines that come from the kernel lines `meant`, selected by the options `asked` such as `--line 25`; all lines
    if None.

    `title_note` is added to the title; at most `limit` lines are shown.
    """
    kernel = stages.kernel
    parts: list[Block] = [_title(stages, stage.label, title_note, stage.name)]
    rows = narrowed(annotated_lines(statements, kernel, stage), meant)
    if meant is not None:
        parts += indented([one_line(_narrowed_line(stage, rows, asked))])
    elif stage.text:
        parts += indented(coverage_lines(statements, kernel, stage))
    parts += indented(_calls_lines(statements, kernel))
    parts += indented([one_line(stage.note)] if stage.note else [], "warn")
    kept = rows if limit is None else [row for row in rows if not says_places_only(row.text)]
    shown = kept[:limit]
    columns = [replace(column, title=stage.name) if column.title == "stage" else column for column in _COLUMNS]
    notes = []
    if len(rows) > len(shown):
        everything = command(dump_argument, "kernel", kernel.name, "--stage", stage.name, *asked, "--all")
        if len(kept) > len(shown):
            notes.append(more(len(kept) - len(shown), everything))
        else:
            left = number_of(len(rows) - len(kept), "line")
            notes.append(pointer(f"{left} left out that only name source locations", everything))
    if shown:
        parts.append(Table(columns, _shown(shown), notes=notes))
    return Stack(parts, gap=False)


def coverage_lines(statements: Statements, kernel: Kernel, stage: Stage) -> Iterator[str]:
    """How much of the stage is mapped, and which statements have nothing left in it."""
    found = coverage(stage, statements.of_all_calls(kernel))
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


def _calls_lines(statements: Statements, kernel: Kernel) -> Iterator[str]:
    """Of a kernel whose calls compute other nodes: that those of all calls are told."""
    if len(statements.bodies.get(Id.of(kernel), ())) > 1:
        yield f"{number_of(len(kernel.launches), 'call')}: each line belongs to the nodes of all of them"


def _title(stages: KernelStages, label: str, note: str = "", name: str = "") -> StyledLine:
    """The kernel, the stage `name` and the configuration `label`."""
    words = (word for word in (name, *_configuration(stages, label), note) if word)
    return joined((unbroken(stages.kernel.name), "strong"), "   ", (one_line("   ".join(words)), "dim"))


def _narrowed_line(stage: Stage, rows: Sequence[StageLine], asked: Iterable[str]) -> str:
    """`8 of 20 instructions are of line 25: selp 4, setp 4`."""
    found = operations(stage, rows)
    all_of_them = number_of(max(count_instructions(stage.name, stage.text), len(rows)), "instruction")
    counts = [f"{name} {count}" for name, count in found.items()]
    left = len(counts) - _MOST_OPERATIONS
    named = f"{', '.join(counts[:_MOST_OPERATIONS])}{f' … {left} more' if left > 0 else ''}"
    meant = " ".join(word.removeprefix("--") for word in asked)
    is_or_are = "is" if len(rows) == 1 else "are"
    return f"{len(rows):,} of {all_of_them} {is_or_are} of {meant}: {named or 'folded into others, or not needed'}"


def _configuration(stages: KernelStages, label: str) -> Iterator[str]:
    row = next((row for row in stages.compiled if row.label == label), None)
    if row is not None:
        yield ", ".join(word for word in (config_text(row), number_of(row.num_warps or 0, "warp")) if word)
        yield row.target
        yield f"1 of {len(stages.compiled)} configurations" if len(stages.compiled) > 1 else ""


def _shown(rows: Iterable[StageLine]) -> Iterator[_Shown]:
    before: tuple[Sequence[object], ...] = ((), (), ())
    for row in rows:
        current: tuple[Sequence[object], ...] = (row.source, row.nodes, row.lines) if row.source else before
        yield _Shown(row, current[0] != before[0], current != before)
        before = current


def stage_text(row: StageLine) -> str:
    """The line's text, with the blanks of disassemblies reduced."""
    return _BLANKS.sub("  ", row.text) if row.stage in ("sass", "isa") else row.text


def source_text(source: Sequence[int]) -> str:
    """`38`; `12 38` if line 38 calls the function that line 12 is in."""
    return " ".join(map(str, source))


def stage_counts(
    statements: Statements,
    stages: KernelStages,
    label: str,
    rows: Sequence[LineCounts],
    notes: Sequence[str],
    *,
    limit: int | None,
    dump_argument: str,
) -> Block:
    """Shows at most `limit` lines; `notes` say which stages are left out, and why."""
    names = [name for name in STAGES if any(name in row.counts for row in rows)]
    parts: list[Block] = [_title(stages, label)]
    parts += indented(_calls_lines(statements, stages.kernel))
    parts += indented(map(one_line, notes), "warn")
    evidence = command(dump_argument, "kernel", stages.kernel.name, "--stage", "all", "--all")
    columns = (*_COUNTS, *(Column(name, _count_in(name), right=True) for name in names))
    parts.append(limited(columns, rows, limit, evidence))
    return Stack(parts, gap=False)


def _count_in(stage: str) -> Callable[[LineCounts], Cell]:
    """The cells of a stage's column."""
    return lambda row: cell(str(row.counts.get(stage, 0)), "" if row.counts.get(stage) else "dim")
