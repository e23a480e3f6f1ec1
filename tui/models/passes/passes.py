"""The passes over a graph's FX graphs, and what each of them changed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from inspect_compile.analysis.passes.changes import Ran, StageRun, begins, changes, edit_lines, stages, steps
from inspect_compile.dump import Dump
from inspect_compile.facts import Edit
from inspect_compile.tables.columns import Cell, Span, cell
from inspect_compile.tables.text import change_text, number_of, place_text, seconds_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Column, Row, Sheet, Subject, Table

CHANGED: Final = "changed"
FORMS: Final = (CHANGED, "all")
COLUMNS: Final = (
    Column("pass", stretch=True, least=20, most=60),
    Column("nodes", right=True),
    Column("changed"),
    Column("time", right=True, drop=1),
    Column("when", drop=3),
    Column("defined", stretch=True, least=16, most=90, middle=True, drop=2),
)
SIDES: Final = (
    Column("node", most=24),
    Column("before", stretch=True, least=20, most=200),
    Column("after", stretch=True, least=20, most=200),
    Column("line", drop=1, most=24),
)
"""For an edit, before and after side by side."""
SIDE_BY_SIDE: Final = 76
"""Minimum width in columns for both."""
_BAR: Final = 16
_ROLES: Final = {"added": "good", "removed": "bad", "changed": "warn"}


@dataclass(frozen=True)
class Passes:
    """The stages of a graph, a row for each pass."""

    table: Table
    count: int
    start: int
    """Index of the first row that is a pass."""
    details: dict[str, Callable[[int], Sheet]]
    """Row key → function that returns its edits, for a width."""

    def detail(self, key: str, width: int) -> Sheet:
        """What a pass changed, for a width in columns."""
        return self.details[key](width) if key in self.details else Code(())


def passes(dump: Dump, chain: Chain, mode: str) -> Passes:
    """All passes, or only those that changed something."""
    graph = dump.graph(chain.graph)
    ran = stages(dump, graph) if graph is not None else []
    rows: list[Row] = []
    details: dict[str, Callable[[int], Sheet]] = {}
    count = 0
    between = steps(dump, graph, ran) if graph is not None else []
    for stage in ran:
        for step in between:
            if step.stage == stage.stage:
                told = (cell(f"{step.before:,} → {number_of(step.after, 'node')}"), cell(f"   {step.what}", "dim"))
                rows.append(Row(f"step {step.what}", told, heading=True))
        rows.append(Row(f"stage {stage.graph} {stage.stage}", (_heading(stage),), heading=True))
        shown = stage.changed if mode == CHANGED else list(stage.runs)
        began = begins(stage)
        whole = max((began[run.row.index] + run.row.seconds for run in stage.runs), default=0.0)
        for run in shown:
            key = f"pass {run.row.index}"
            details[key] = partial(_detail, run)
            when = _when(began[run.row.index], run.row.seconds, whole)
            rows.append(Row(key, partial(_cells, run, when), _subject(run, chain)))
        count += len(shown)
        if mode == CHANGED and stage.folded:
            folded = f"{number_of(len(stage.folded), 'other')} changed nothing"
            rows.append(Row(f"folded {stage.graph} {stage.stage}", (cell(folded, "dim"),), heading=True))
    start = next((index for index, row in enumerate(rows) if not row.heading), 0)
    return Passes(Table(COLUMNS, rows), count, start, details)


def _heading(stage: StageRun) -> Cell:
    nodes = change_text(stage.before, stage.after)
    return (Span(stage.stage, "title"), Span(f"  {nodes} nodes, {seconds_text(stage.seconds)}", "dim"))


def _when(began: float, seconds: float, whole: float) -> str:
    """A bar on the time axis of the stage."""
    scale = _BAR / whole if whole else 0.0
    start = min(int(began * scale), _BAR - 1)
    return " " * start + "━" * max(1, min(round(seconds * scale), _BAR - start))


def _cells(run: Ran, when: str) -> tuple[Cell, ...]:
    row = run.row
    changed = [Span(f"{text} ", _ROLES[what]) for what, text in changes(row).items()]
    if row.moved:
        changed.append(Span(f"⇅{len(row.moved):,}", "accent"))
    return (
        cell("  " * (run.depth - 1) + row.name, "name" if run.own else "dim"),
        cell(change_text(row.before, row.after), "dim"),
        cell(row.error, "bad") if row.error else tuple(changed),
        cell(seconds_text(row.seconds), "dim"),
        cell(when, "accent"),
        cell(row.defined, "dim"),
    )


def _subject(run: Ran, chain: Chain) -> Subject | None:
    """The nodes that it changed and that still exist."""
    names = {edit.node for edit in run.row.edits} | set(run.row.moved)
    found = tuple(node for node in chain.line_of_node if node in names)
    return Subject("node", found, run.row.name, (run.row.name,)) if found else None


def _detail(run: Ran, width: int) -> Sheet:
    row = run.row
    about = [(row.name, "title"), (row.defined or f"a {row.kind} of {row.stage}", "dim")]
    if row.matched:
        about.append((f"matched  {' '.join(row.matched)}", "dim"))
    behind = [(f"moved    {' '.join(row.moved)}", "accent")] if row.moved else []
    if not (row.edits or row.moved):
        inside = [inner.row.name for inner in run.inside if inner.changed]
        behind.append((f"what changed something in it: {' '.join(inside)}" if inside else "changed nothing", ""))
    if width < SIDE_BY_SIDE or not row.edits:
        told = [CodeLine(text, role=role) for text, role in about]
        for edit in row.edits:
            told += _edit(edit)
        return Code([*told, *(CodeLine(text, role=role) for text, role in behind)])
    rows = [Row(text, (cell(text, role),), heading=True) for text, role in about]
    rows += [Row(f"edit {index}", partial(_sides, edit)) for index, edit in enumerate(row.edits)]
    return Table(SIDES, [*rows, *(Row(text, (cell(text, role),), heading=True) for text, role in behind)])


def _sides(edit: Edit) -> tuple[Cell, ...]:
    where = place_text(edit.where) if edit.where is not None else ""
    return cell(edit.node, "name"), cell(edit.before, "bad"), cell(edit.after, "good"), cell(where, "dim")


def _edit(edit: Edit) -> list[CodeLine]:
    """An edit; the last line says where."""
    where = f"   {place_text(edit.where)}" if edit.where is not None else ""
    lines = list(edit_lines(edit))
    ends = [*[""] * (len(lines) - 1), where]
    return [CodeLine(text + end, role=_ROLES[what]) for (what, text), end in zip(lines, ends, strict=False)]
