"""The passes over the FX graphs: what each changed, what changed nothing, and what changed outside of passes."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.passes.changes import SIGNS, Ran, StageRun, changes, stages, steps
from inspect_compile.facts import Edit, Graph, Pass
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import change_text, number_of, one_line, place_text, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("pass", cap=0.4),
    Column("nodes", right=True),
    Column("changed"),
    Column("time", right=True),
    Column("defined", flex=True, least=100),
)
_EDITS = (
    Column(""),
    Column("node", cap=0.3),
    Column("is", flex=True),
    Column("line", cap=0.3, least=100),
)
_STYLES = {"added": "green", "removed": "red", "changed": "yellow"}
_SLOWEST = 3


def passes(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """The stages of each graph. With `names` of passes, patterns or nodes, what was changed."""
    parts: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        ran = stages(dump, found)
        parts += (
            _edits(ran, found, names, limit, dump_argument)
            if names
            else _stages(dump, found, ran, limit, dump_argument)
        )
    return Stack(parts or [styled(nothing_text(dump), style="dim")])


def _stages(
    dump: "Dump", graph: Graph, ran: list[StageRun], limit: int | None, dump_argument: str
) -> list[RenderableType]:
    told = number_of(sum(run.row.kind == "pass" for stage in ran for run in stage.runs), "pass", "passes")
    if not ran:
        return [Sheet((), (), title=title(graph), notes=[styled("no pass was seen", style="dim")])]
    sheets: list[RenderableType] = [title(graph, told)]
    between = steps(dump, graph, ran)
    for stage in ran:
        lines: list[RenderableType] = [
            joined(f"{step.before:,} → {number_of(step.after, 'node')}", (f"   {step.what}", "dim"))
            for step in between
            if step.stage == stage.stage
        ]
        sheets += [*lines, _stage(stage, graph, dump_argument, is_whole=limit is None)]
    return sheets


def _stage(stage: StageRun, graph: Graph, dump_argument: str, *, is_whole: bool) -> Sheet:
    shown = list(stage.runs) if is_whole else stage.changed
    size = (
        number_of(stage.after, "node") if stage.before == stage.after else f"{stage.before:,} → {stage.after:,} nodes"
    )
    head = joined((stage.stage, "bold"), "  ", (f"{size}, {seconds_text(stage.seconds)}", "dim"))
    notes: list[Cell] = [] if is_whole else _folded(stage)
    changed = [run.row.name for run in stage.changed if run.own]
    if changed and not is_whole:
        notes.append(more_of(changed[0], graph, dump_argument))
    return Sheet(_COLUMNS, [_cells(run) for run in shown], title=head, notes=notes)


def more_of(name: str, graph: Graph, dump_argument: str) -> Cell:
    """The command that shows what a pass changed."""
    return joined(
        ("what it changed", "dim"), "   ", (command(dump_argument, "passes", name, "--graph", graph.graph), "cyan")
    )


def _folded(stage: StageRun) -> list[Cell]:
    notes: list[Cell] = []
    idle = stage.folded
    if idle:
        outer = [run for run in idle if not any(run in other.inside for other in idle)]
        slowest = sorted(outer, key=lambda run: -run.row.seconds)[:_SLOWEST]
        longest = ", ".join(f"{run.row.name} {seconds_text(run.row.seconds)}" for run in slowest)
        seconds = seconds_text(sum(run.row.seconds for run in outer))
        words = f"{number_of(len(idle), 'other')} changed nothing, in {seconds}: {longest}"
        notes.append(styled(one_line(words), style="dim"))
    matches = Counter(run.row.name for run in stage.runs if run.row.kind == "pattern" and not run.changed)
    if matches:
        told = ", ".join(f"{name} {count}×" for name, count in matches.most_common(_SLOWEST))
        notes.append(styled(one_line(f"matched and changed nothing: {told}"), style="dim"))
    return notes


def _cells(run: Ran) -> list[Cell]:
    row = run.row
    name = "  " * (run.depth - 1) + row.name
    style = "" if run.own else "dim"
    return [
        styled(name, style=style),
        change_text(row.before, row.after),
        _changed(row),
        seconds_text(row.seconds),
        row.defined,
    ]


def _changed(row: Pass) -> Cell:
    if row.error:
        return styled(one_line(row.error), "red")
    words = [(f"{text} ", _STYLES[what]) for what, text in changes(row).items()]
    return joined(*words, (f"⇅{len(row.moved):,}", "blue") if row.moved else "")


def _edits(
    ran: list[StageRun], graph: Graph, names: tuple[str, ...], limit: int | None, dump_argument: str
) -> list[RenderableType]:
    """What the named passes changed, and what any pass did to the named nodes."""
    sheets: list[RenderableType] = []
    for stage in ran:
        for run in stage.runs:
            edits = [edit for edit in run.row.edits if run.row.name in names or edit.node in names]
            moved = [node for node in run.row.moved if run.row.name in names or node in names]
            if not edits and not moved:
                continue
            shown = edits if limit is None else edits[:limit]
            notes: list[Cell] = [styled(f"moved: {' '.join(moved)}", "blue")] if moved else []
            if len(edits) > len(shown):
                again = command(dump_argument, "passes", *names, "--graph", graph.graph, "--all")
                notes.append(more(len(edits) - len(shown), again))
            rows = [cells for edit in shown for cells in _edit_cells(edit)]
            told = (f"{stage.stage} {run.row.kind}   {run.row.defined}", "dim")
            sheets.append(Sheet(_EDITS, rows, title=joined((run.row.name, "bold"), "  ", told), notes=notes))
    if not sheets:
        nothing = styled(f"no pass changed {' or '.join(names)}, and none of this name changed a node", style="dim")
        sheets.append(Sheet((), (), title=title(graph), notes=[nothing]))
    return sheets


def _edit_cells(edit: Edit) -> list[list[Cell]]:
    sign, style = SIGNS.get(edit.what, "?"), _STYLES.get(edit.what, "")
    where = place_text(edit.where)
    if edit.what == "changed":
        return [
            [styled("−", "red"), edit.node, edit.before, where],
            [styled("+", "green"), "", edit.after, ""],
        ]
    return [[styled(sign, style), edit.node, edit.before or edit.after, where]]
