"""The passes over the FX graphs: what each changed, what changed nothing, and what changed outside of passes."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.passes.changes import SIGNS, EditSide, PassRow, StageRun, edit_sides, stages, steps
from inspect_compile.facts import Graph
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.styled_text import Stack, joined, styled
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import change_text, number_of, one_line, place_text, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

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
    Column("where", lambda side: place_text(side.where), role="dim", stretch=True, least=12, most=30, drop=1),
)
_SLOWEST: Final = 3


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
    told = number_of(sum(run.kind == "pass" for stage in ran for run in stage.runs), "pass", "passes")
    if not ran:
        return [title(graph), styled("no pass was seen", style="dim")]
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


def _stage(stage: StageRun, graph: Graph, dump_argument: str, *, is_whole: bool) -> RenderableType:
    shown = list(stage.runs) if is_whole else stage.changed
    size = (
        number_of(stage.after, "node") if stage.before == stage.after else f"{stage.before:,} → {stage.after:,} nodes"
    )
    head = joined((stage.stage, "bold"), "  ", (f"{size}, {seconds_text(stage.seconds)}", "dim"))
    notes: list[Text] = [] if is_whole else _folded(stage)
    changed = [run.name for run in stage.changed if run.is_own]
    if changed and not is_whole:
        again = command(dump_argument, "passes", changed[0], "--graph", graph.graph)
        notes.append(joined(("what it changed", "dim"), "   ", (again, "cyan")))
    return TerminalTable(COLUMNS, shown, title=head, notes=notes)


def _folded(stage: StageRun) -> list[Text]:
    notes: list[Text] = []
    idle = stage.folded
    if idle:
        places = {run.index for run in idle}
        outer = [run for run in idle if run.parent not in places]
        slowest = sorted(outer, key=lambda run: -run.seconds)[:_SLOWEST]
        longest = ", ".join(f"{run.name} {seconds_text(run.seconds)}" for run in slowest)
        seconds = seconds_text(sum(run.seconds for run in outer))
        words = f"{number_of(len(idle), 'other')} changed nothing, in {seconds}: {longest}"
        notes.append(styled(one_line(words), style="dim"))
    matched = Counter(run.name for run in stage.runs if run.kind == "pattern" and not run.has_changed)
    if matched:
        told = ", ".join(f"{name} {count}×" for name, count in matched.most_common(_SLOWEST))
        notes.append(styled(one_line(f"matched and changed nothing: {told}"), style="dim"))
    return notes


def _edits(
    ran: list[StageRun], graph: Graph, names: tuple[str, ...], limit: int | None, dump_argument: str
) -> list[RenderableType]:
    """What the named passes changed, and what any pass did to the named nodes."""
    sheets: list[RenderableType] = []
    for stage in ran:
        for run in stage.runs:
            edits = [edit for edit in run.edits if run.name in names or edit.node in names]
            moved = [node for node in run.moved if run.name in names or node in names]
            if not edits and not moved:
                continue
            shown = edits if limit is None else edits[:limit]
            notes = [styled(f"moved: {' '.join(moved)}", "blue")] if moved else []
            if len(edits) > len(shown):
                again = command(dump_argument, "passes", *names, "--graph", graph.graph, "--all")
                notes.append(more(len(edits) - len(shown), again))
            sides = [side for edit in shown for side in edit_sides(edit)]
            told = (f"{stage.stage} {run.kind}   {run.defined}", "dim")
            sheets.append(TerminalTable(EDITS, sides, title=joined((run.name, "bold"), "  ", told), notes=notes))
    if not sheets:
        nothing = styled(f"no pass changed {' or '.join(names)}, and none of this name changed a node", style="dim")
        sheets += [title(graph), nothing]
    return sheets
