"""The passes over a graph's FX graphs, and what each of them changed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from inspect_compile.analysis.passes import Ran, StageRun, changes, stages, steps
from inspect_compile.dump import Dump
from inspect_compile.facts import Edit
from inspect_compile.tables.text import change_text, number_of, place_text, seconds_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Cell, Column, Row, Span, Subject, Table, cell

CHANGED: Final = "changed"
FORMS: Final = (CHANGED, "all")
COLUMNS: Final = (
    Column("pass", stretch=True, least=20, most=60),
    Column("nodes", right=True),
    Column("changed"),
    Column("time", right=True, drop=1),
    Column("defined", stretch=True, least=16, most=90, middle=True, drop=2),
)
_ROLES: Final = {"added": "good", "removed": "bad", "changed": "warn"}


@dataclass(frozen=True)
class Passes:
    """The stages of a graph, a row a pass."""

    table: Table
    count: int
    start: int
    """The first row that is a pass."""
    details: dict[str, Callable[[], list[CodeLine]]]
    """Row key → what puts its edits into words."""

    def detail(self, key: str) -> Code:
        """What a pass changed."""
        return Code(self.details[key]()) if key in self.details else Code(())


def passes(dump: Dump, chain: Chain, mode: str) -> Passes:
    """All passes, or only those that changed something."""
    graph = next((found for found in dump.graphs() if found.graph == chain.graph), None)
    ran = stages(dump, graph) if graph is not None else []
    rows: list[Row] = []
    details: dict[str, Callable[[], list[CodeLine]]] = {}
    count = 0
    between = steps(dump, graph, ran) if graph is not None else []
    for stage in ran:
        for step in between:
            if step.stage == stage.stage:
                told = (cell(f"{step.before:,} → {number_of(step.after, 'node')}"), cell(f"   {step.what}", "dim"))
                rows.append(Row(f"step {step.what}", told, heading=True))
        rows.append(Row(f"stage {stage.graph} {stage.stage}", (_heading(stage),), heading=True))
        shown = stage.changed if mode == CHANGED else list(stage.runs)
        for run in shown:
            key = f"pass {run.row.index}"
            details[key] = partial(_detail, run, chain)
            rows.append(Row(key, partial(_cells, run), _subject(run, chain)))
        count += len(shown)
        if mode == CHANGED and stage.folded:
            folded = f"{number_of(len(stage.folded), 'other')} changed nothing"
            rows.append(Row(f"folded {stage.graph} {stage.stage}", (cell(folded, "dim"),), heading=True))
    start = next((index for index, row in enumerate(rows) if not row.heading), 0)
    return Passes(Table(COLUMNS, rows), count, start, details)


def _heading(stage: StageRun) -> Cell:
    nodes = change_text(stage.before, stage.after)
    return (Span(stage.stage, "title"), Span(f"  {nodes} nodes, {seconds_text(stage.seconds)}", "dim"))


def _cells(run: Ran) -> tuple[Cell, ...]:
    row = run.row
    changed = [Span(f"{text} ", _ROLES[what]) for what, text in changes(row).items()]
    if row.moved:
        changed.append(Span(f"⇅{len(row.moved):,}", "accent"))
    return (
        cell("  " * (run.depth - 1) + row.name, "name" if run.own else "dim"),
        cell(change_text(row.before, row.after), "dim"),
        cell(row.error, "bad") if row.error else tuple(changed),
        cell(seconds_text(row.seconds), "dim"),
        cell(row.defined, "dim"),
    )


def _subject(run: Ran, chain: Chain) -> Subject | None:
    """The nodes that it changed and that are still there."""
    names = {edit.node for edit in run.row.edits} | set(run.row.moved)
    found = tuple(node for node in chain.line_of_node if node in names)
    return Subject("node", found, run.row.name, (run.row.name,)) if found else None


def _detail(run: Ran, chain: Chain) -> list[CodeLine]:
    row = run.row
    lines = [CodeLine(row.name, role="title"), CodeLine(row.defined or f"a {row.kind} of {row.stage}", role="dim")]
    if row.matched:
        lines.append(CodeLine(f"matched  {' '.join(row.matched)}", role="dim"))
    for edit in row.edits:
        lines += _edit(edit)
    if row.moved:
        lines.append(CodeLine(f"moved    {' '.join(row.moved)}", role="accent"))
    if not (row.edits or row.moved):
        inside = [inner.row.name for inner in run.inside if inner.changed]
        lines.append(CodeLine(f"what changed something in it: {' '.join(inside)}" if inside else "changed nothing"))
    return lines


def _edit(edit: Edit) -> list[CodeLine]:
    where = f"   {place_text(edit.where)}" if edit.where is not None else ""
    lines = []
    if edit.before:
        lines.append(CodeLine(f"− {edit.node} = {edit.before}{'' if edit.after else where}", role="bad"))
    if edit.after:
        lines.append(CodeLine(f"+ {edit.node} = {edit.after}{where}", role="good"))
    return lines
