"""The passes over the FX graphs: what each changed, what changed nothing, and what changed outside of passes."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from inspect_compile.facts import Graph, Pass
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.passes.changes import (
    SIGNS,
    EditSide,
    PassRow,
    StageRun,
    edit_sides,
    pass_rows,
    stages,
    steps,
)
from inspect_compile.tables.columns import Cell, Column, Span, cell, place_cell
from inspect_compile.tables.parts import DeclaredTable, Request, first_of, title
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, joined, pointer, styled
from inspect_compile.tables.text import change_text, number_of, one_line, seconds_text

_ROLES: Final = {"added": "good", "removed": "bad", "changed": "warn"}


def _changed(row: PassRow) -> Cell:
    if row.error:
        return cell(one_line(row.error), "bad")
    counts = [Span(f"{SIGNS[what]}{count:,} ", _ROLES[what]) for what, count in row.changes.items()]
    return (*counts, *cell(f"⇅{len(row.moved):,}" if row.moved else "", "bar"))


DEFINED: Final[Column[PassRow]] = Column(
    "defined", lambda row: row.defined, role="dim", stretch=True, least=30, most=90, middle=True, drop=2
)
COLUMNS: Final[tuple[Column[PassRow], ...]] = (
    Column(
        "pass",
        lambda row: cell("  " * (row.depth - 1) + row.name, "name" if row.is_own else "dim"),
        stretch=True,
        least=24,
        most=60,
        middle=True,
    ),
    Column("nodes", lambda row: change_text(row.before, row.after), role="dim", right=True),
    Column("changed", _changed),
    Column("time", lambda row: seconds_text(row.seconds), role="dim", right=True, drop=1),
    DEFINED,
)
EDITS: Final[tuple[Column[EditSide], ...]] = (
    Column("change", lambda side: cell(SIGNS[side.what], _ROLES[side.what])),
    Column("node", lambda side: side.node, role="name", stretch=True, least=12, most=40, middle=True),
    Column("is", lambda side: side.text, stretch=True, least=20, most=200),
    Column("where", lambda side: place_cell(side.where), stretch=True, least=12, most=44, drop=1),
)
_SLOWEST: Final = 3


def passes(request: Request) -> Stack:
    """The stages of each graph. With names of passes, patterns or nodes, what was changed."""
    of_graph = _edits if request.names else _stages
    return request.stacked([sheet for graph in request.graphs for sheet in of_graph(request, graph)])


def _stages(request: Request, graph: CompiledGraph) -> Iterator[Block]:
    ran = stages(graph)
    if not ran:
        yield from (title(graph), styled("no pass was recorded", "dim"))
        return
    yield title(graph, number_of(sum(run.kind == "pass" for stage in ran for run in stage.runs), "pass", "passes"))
    between = steps(graph, ran)
    for stage in ran:
        for step in between:
            if step.stage == stage.stage:
                yield joined(f"{step.before:,} → {number_of(step.after, 'node')}", (f"   {step.what}", "dim"))
        yield _stage(request, graph.fact, stage)


def _stage(request: Request, graph: Graph, stage: StageRun) -> Table[PassRow]:
    size = (
        number_of(stage.after, "node") if stage.before == stage.after else f"{stage.before:,} → {stage.after:,} nodes"
    )
    head = joined((stage.stage, "strong"), "  ", (f"{size}, {seconds_text(stage.seconds)}", "dim"))
    if request.limit is None:
        return Table(COLUMNS, stage.runs, title=head)
    notes = _folded(stage)
    if changed := [run.name for run in stage.changed if run.is_own]:
        notes.append(pointer("what it changed", request.command("passes", changed[0], "--graph", graph.graph)))
    return Table(COLUMNS, stage.changed, title=head, notes=notes)


_CUSTOM: Final = "_custom_"
"""In the names of torch's settings that hold a pass of the program's own, as `post_grad_custom_post_pass`."""


def _folded(stage: StageRun) -> list[StyledLine]:
    notes: list[StyledLine] = []
    idle = stage.folded
    names = {run.index: run.name for run in stage.runs}
    of_program = [run.name for run in idle if run.parent is not None and _CUSTOM in names.get(run.parent, "")]
    if of_program:
        words = f"passes of the program's own that changed nothing: {', '.join(of_program)}"
        notes.append(styled(one_line(words), "warn"))
    if idle:
        places = {run.index for run in idle}
        outer = [run for run in idle if run.parent not in places]
        slowest = sorted(outer, key=lambda run: -run.seconds)[:_SLOWEST]
        longest = ", ".join(f"{run.name} {seconds_text(run.seconds)}" for run in slowest)
        seconds = seconds_text(sum(run.seconds for run in outer))
        words = f"{number_of(len(idle), 'other')} changed nothing, in {seconds}: {longest}"
        notes.append(styled(one_line(words), "dim"))
    matched = Counter(run.name for run in stage.runs if run.kind == "pattern" and not run.has_changed)
    if matched:
        counts = ", ".join(f"{name} {count}×" for name, count in matched.most_common(_SLOWEST))
        notes.append(styled(one_line(f"matched and changed nothing: {counts}"), "dim"))
    return notes


def _edits(request: Request, graph: CompiledGraph) -> Iterator[Block]:
    """What the named passes changed, and what any pass did to the named nodes."""
    names, is_empty = request.names, True
    for stage in stages(graph):
        for run in stage.runs:
            edits = [edit for edit in run.edits if run.name in names or edit.node in names]
            moved = [node for node in run.moved if run.name in names or node in names]
            if edits or moved:
                shown, left_out = first_of(edits, request.limit, request.every("passes", graph=graph.name))
                notes = [*([styled(f"moved: {' '.join(moved)}", "bar")] if moved else []), *left_out]
                sides = [side for edit in shown for side in edit_sides(edit)]
                head = joined((run.name, "strong"), "  ", (f"{stage.stage} {run.kind}   {run.defined}", "dim"))
                yield Table(EDITS, sides, title=head, notes=notes)
                is_empty = False
    if is_empty:
        yield title(graph)
        yield styled(f"no pass changed {' or '.join(names)}, and no pass of this name changed a node", "dim")


def _facts(graphs: Graphs) -> Iterator[Pass]:
    """The passes of a compile, once even if it made several graphs."""
    for compile_id in dict.fromkeys(one.compile_id for one in graphs.facts):
        yield from graphs.dump.rows_of_compile(Pass, compile_id)
    for graph in graphs:
        yield from graph.rows(Pass)


TABLE: Final = DeclaredTable(passes, pass_rows, _facts)
