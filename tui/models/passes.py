"""The passes over a graph's FX graphs, and what each of them changed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from inspect_compile.dump import Dump
from inspect_compile.facts import Edit
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.passes.changes import PassRow, StageRun, edit_lines, stages, steps
from inspect_compile.tables.columns import Cell, Column, Span, cell, picked, place_cell
from inspect_compile.tables.passes import COLUMNS, DEFINED
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import change_text, number_of, place_text, seconds_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code
from inspect_compile.tui.models.sheet import DETAILED, Panel, Row, Sheet, Shown, Subject, Table

CHANGED: Final = "changed"
FORMS: Final = (CHANGED, "all")
SIDES: Final[tuple[Column[Edit], ...]] = (
    Column("node", lambda edit: edit.node, role="name", most=24),
    Column("before", lambda edit: edit.before, role="bad", stretch=True, least=20, most=200),
    Column("after", lambda edit: edit.after, role="good", stretch=True, least=20, most=200),
    Column("where", lambda edit: place_cell(edit.where), drop=1, most=44),
)
"""For an edit, before and after side by side."""
SIDE_BY_SIDE: Final = 74
"""Minimum width in columns for both."""
_BAR: Final = 16
_ROLES: Final = {"added": "good", "removed": "bad", "changed": "warn"}


def passes(dump: Dump, chain: Chain, mode: str) -> Shown[Table]:
    """The stages of a graph with a row for each pass, or for each that changed something."""
    graph = dump.graph(chain.graph)
    ran = stages(CompiledGraph(dump, graph.graph)) if graph is not None else []
    whole = [max((run.began + run.seconds for run in stage.runs), default=0.0) for stage in ran]
    scale = {run.index: _BAR / end if end else 0.0 for stage, end in zip(ran, whole, strict=True) for run in stage.runs}
    when: Column[PassRow] = Column("when", lambda run: _when(run, scale[run.index]), role="accent", drop=3)
    columns = picked(COLUMNS, "pass", "nodes", "changed", "time", when, replace(DEFINED, least=16))
    rows: list[Row] = []
    details: dict[str, Callable[[int], Sheet]] = {}
    between = steps(CompiledGraph(dump, graph.graph), ran) if graph is not None else []
    for stage in ran:
        for step in between:
            if step.stage == stage.stage:
                cells = (cell(f"{step.before:,} → {number_of(step.after, 'node')}"), cell(f"   {step.what}", "dim"))
                rows.append(Row(f"step {step.what}", cells, heading=True))
        rows.append(Row(f"stage {stage.graph} {stage.stage}", (_heading(stage),), heading=True))
        for run in stage.changed if mode == CHANGED else stage.runs:
            key = f"pass {run.index}"
            details[key] = partial(_detail, stage, run)
            rows.append(Row.of(columns, run, key, _subject(run, chain)))
        if mode == CHANGED and stage.folded:
            folded = f"{number_of(len(stage.folded), 'other')} changed nothing"
            rows.append(Row.title(f"folded {stage.graph} {stage.stage}", folded, "dim"))
    start = next((index for index, row in enumerate(rows) if not row.heading), 0)
    return Shown(Table(columns, rows), number_of(len(details), "pass", "passes"), start, details=details)


def _heading(stage: StageRun) -> Cell:
    nodes = change_text(stage.before, stage.after)
    return (Span(stage.stage, "title"), Span(f"  {nodes} nodes, {seconds_text(stage.seconds)}", "dim"))


def _when(run: PassRow, scale: float) -> str:
    """A bar on the time axis of the stage; `scale` is the columns of a second."""
    start = min(int(run.began * scale), _BAR - 1)
    return " " * start + "━" * max(1, min(round(run.seconds * scale), _BAR - start))


def _subject(run: PassRow, chain: Chain) -> Subject | None:
    """The nodes that it changed and that still exist."""
    names = {edit.node for edit in run.edits} | set(run.moved)
    found = tuple(node for node in chain.line_of_node if node in names)
    return Subject("node", found, run.name, (run.name,)) if found else None


def _detail(stage: StageRun, row: PassRow, width: int) -> Sheet:
    about = [styled(row.name, "title"), styled(row.defined or f"a {row.kind} of {row.stage}", "dim")]
    if row.matched:
        about.append(styled(f"matched  {' '.join(row.matched)}", "dim"))
    behind = [styled(f"moved    {' '.join(row.moved)}", "accent")] if row.moved else []
    if not (row.edits or row.moved):
        inside = [inner.name for inner in stage.inside(row) if inner.has_changed]
        behind.append(styled(f"what changed something in it: {' '.join(inside)}" if inside else "changed nothing"))
    if width < SIDE_BY_SIDE or not row.edits:
        return Code([*about, *(line for edit in row.edits for line in _edit(edit)), *behind])
    above, below = ([Row.title(line.plain, line.plain, line.role) for line in lines] for lines in (about, behind))
    rows = (Row.of(SIDES, edit, f"edit {index}", None) for index, edit in enumerate(row.edits))
    return Table(SIDES, [*above, *rows, *below])


def _edit(edit: Edit) -> list[StyledLine]:
    """An edit; the last line says where."""
    where = f"   {place_text(edit.where)}" if edit.where is not None else ""
    lines = list(edit_lines(edit))
    ends = [*[""] * (len(lines) - 1), where]
    return [styled(text + end, _ROLES[what]) for (what, text), end in zip(lines, ends, strict=False)]


PANEL: Final = Panel(passes, FORMS, "No pass over this graph was recorded.", follow="fx", detail=DETAILED)
