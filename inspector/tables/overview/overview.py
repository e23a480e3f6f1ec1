"""The first page of a dump: what bounds the program, what to do first, where time and bytes go, what was compiled, what
broke, where the dump is; each with the command that shows more.

It fits a terminal of 80 × 24. The app shows the same sections, with keys instead of commands.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rich.cells import cell_len

from inspect_compile.analysis.dumps.parts import is_only_parts
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.kept import overview_of
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.findings.page import Overview
from inspect_compile.analysis.overview.logged import logged
from inspect_compile.analysis.runtime.step_bound import step_bounds, step_parts
from inspect_compile.facts import StepsProfiled
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.cost.step_kinds import NOT_KNOWN as NO_BOUND
from inspect_compile.knowledge.cost.sure import ESTIMATED, MEASURED, TIMED
from inspect_compile.knowledge.origins import ORIGINS
from inspect_compile.knowledge.overview.findings import BREAK, FAILED
from inspect_compile.tables.block_lines import cleaned, cut_off, wrapped
from inspect_compile.tables.columns import Cell, Column, cell, lines_cell, picked
from inspect_compile.tables.layout import is_unlimited
from inspect_compile.tables.options import KINDS
from inspect_compile.tables.overview.findings import cost_text, no_findings_text, places_cell, to_do_text
from inspect_compile.tables.overview.graphs import COLUMNS as GRAPH_COLUMNS
from inspect_compile.tables.overview.graphs import KIND_WORDS, LOGGED_COLUMNS
from inspect_compile.tables.overview.run_text import break_text, eager_calls_text, others, run_text, warnings
from inspect_compile.tables.parts import DeclaredTable, Request, command, open_command
from inspect_compile.tables.runtime.steps import PARTS, bound_text, eager_text, short_bound_text
from inspect_compile.tables.styled_text import Block, Fitted, StyledLine, Table, joined, styled
from inspect_compile.tables.text import (
    byte_text,
    code_text,
    line_text,
    modules_text,
    multiple_text,
    number_of,
    one_line,
    share_text,
    time_text,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

LINES: Final = 23
"""Lines of a terminal of 24 that the page takes, so that the next prompt has one."""
_MOST_GRAPHS: Final = 3
_MOST_LINES: Final = 5
_LEAST_OF_STEP: Final = 0.005
"""Share from which a part of a step is shown."""
_MOST: Final = {"step": 5, "graphs": _MOST_GRAPHS, "lines": _MOST_LINES, "findings": 3}
_IN_TURN: Final = ("findings", "step", "lines", "graphs")
_MOST_WARNINGS: Final = 3
_INDENT: Final = 3
_MOST_OTHERS: Final = 2


class Section(NamedTuple):
    """One part of the page: a title, rows or lines below it, and the table that has all of it."""

    name: str
    titles: tuple[Cell, ...]
    """The same said at length and in short: the first that there is room for is shown. Empty for rows alone."""
    table: tuple[str, ...] = ()
    """The words of `show` that have more; empty if nothing has."""
    columns: Sequence[Column[Any]] = ()
    rows: Sequence[Any] = ()
    """Rows in these columns, the most important first."""
    entries: Sequence[tuple[Any, tuple[Cell, Cell]]] = ()
    """Records of two sentences each, instead of rows."""
    command: str = ""
    """A command that is not `show`."""


def overview_rows(graphs: "Graphs") -> Iterator[Any]:
    """The same one after the other, for programs."""
    found = overview_of(graphs)
    if graphs.dump.run.origin:
        yield from (found.run, *map(logged, graphs), *found.findings)
        return
    yield from (found.run, found.totals, *found.graphs, *found.lines, *found.findings)
    if found.step is not None:
        yield found.step
        yield from step_bounds(found.step, found.step_times)
        yield from found.step_times


LINE_COLUMNS: Final[tuple[Column[LineCost], ...]] = (
    Column("share", lambda row: share_text(row.share, 0), right=True, role="strong"),
    Column("time", lambda row: time_text(row.seconds), right=True, optional=True),
    Column("bytes", lambda row: f"{byte_text(row.bytes)}{' +' * bool(row.unknown)}", right=True),
    Column("FLOP", lambda row: multiple_text(row.flops, "").strip(), right=True, drop=3),
    Column("calls", lambda row: f"{row.launches:,}", right=True, drop=4),
    Column("line", lambda row: _line(row), stretch=True, least=26, most=60),
    Column("code", lambda row: _code(row), stretch=True, least=16, most=80, drop=2),
)


def _line(row: LineCost) -> Cell:
    if not row.lines:
        return cell("(no line is known)", "dim")
    if not row.is_inner:
        return lines_cell(row.lines)
    first, *rest = dict.fromkeys(map(line_text, row.lines))
    return cell(f"  ← {modules_text(row.lines)}{first}{f' +{len(rest)}' if rest else ''}", "dim")


def _code(row: LineCost) -> Cell:
    return cell(next((code for one in row.lines if (code := code_text(one))), ""), "dim" if row.is_inner else "")


def sections(dump: "Dump", found: Overview) -> list[Section]:
    """The parts of the page, from what bounds the program to what the dump itself lacks."""
    if dump.run.origin:
        of_log = [_logged_graphs(dump), _dynamo(found)]
        if (origin := ORIGINS.get(dump.run.origin)) is not None and origin.findings:
            of_log.insert(1, _findings(dump, found))
        return [part for part in of_log if part is not None]
    parts = [
        _bound(dump, found),
        _findings(dump, found),
        _step(found),
        _lines(found),
        _graphs(found),
        _memory(found),
        _dynamo(found),
        _coverage(found),
    ]
    return [part for part in parts if part is not None]


def _bound(dump: "Dump", found: Overview) -> Section | None:
    """What bounds the program; without a profiled step, what would show it."""
    step = found.step
    if step is None:
        return _not_timed(dump)
    parts = step_parts(step, found.step_times)
    bounds = step_bounds(step, found.step_times)
    bound, short = bound_text(step, bounds), short_bound_text(bounds)
    if bounds and bounds[0].bound == NO_BOUND and parts:
        short = f"Most of a step: {parts[0].kind}, {share_text(parts[0].share, 0)}"
        bound = f"{short}; what bounds it is not known"
    seconds = step.seconds if step.plain_seconds is None else step.plain_seconds
    time = f"step {time_text(seconds)}"
    times = "; ".join(filter(None, (time, eager_text(dump))))
    return Section(
        "bound",
        (
            (*cell(bound, "title"), *cell(f"   {times}", "dim")),
            (*cell(short, "title"), *cell(f"   {time}", "dim")),
            cell(short, "title"),
        ),
        ("steps",),
    )


def _not_timed(dump: "Dump") -> Section | None:
    """That no step was profiled; nothing for a device that is not there, and for a replay, which runs nothing."""
    if dump.run.target or dump.run.replay_of:
        return None
    why_not = next((row.why_not for row in dump.rows(StepsProfiled) if row.why_not), "")
    if why_not:
        return Section("bound", (cell(f"Bound by: not known, {one_line(why_not)}", "title"),), ("steps",))
    text = cell("Bound by: not known", "title")
    note = cell(", nothing was timed", "dim")
    return Section("bound", ((*text, *note), text), command="inspect-compile run --measure SCRIPT")


def _step(found: Overview) -> Section | None:
    """Where a step goes."""
    if found.step is None:
        return None
    parts = step_parts(found.step, found.step_times)
    return Section("step", (), (), PARTS, [part for part in parts if part.share >= _LEAST_OF_STEP])


def _graphs(found: Overview) -> Section:
    every = found.totals
    kinds = ", ".join(f"{count:,} {KIND_WORDS.get(kind, kind)}" for kind, count in every.kernels.items())
    kernels = number_of(sum(every.kernels.values()), "kernel")
    steps = f"{number_of(every.nodes, 'node')} → {number_of(every.operations, 'operation')} → {kernels}"
    breakdown = f" ({kinds})" if kinds else ""
    name = f"Compiled {number_of(every.graphs, 'graph')}"
    rows = sorted(found.graphs, key=lambda row: (row.status == "compiled", -row.moved_bytes))
    some = f" (below: the {_MOST_GRAPHS} that move most bytes)" if len(rows) > _MOST_GRAPHS else ""
    return Section(
        "graphs",
        (
            (*cell(name, "title"), *cell(f"  {steps}{breakdown}, {number_of(every.launches, 'call')}{some}")),
            (*cell(name, "title"), *cell(f"  {steps}")),
            cell(name, "title"),
        ),
        ("graphs",),
        GRAPH_PICK,
        rows if len(rows) > _MOST_GRAPHS else found.graphs,
    )


def _logged_graphs(dump: "Dump") -> Section:
    """The graphs of a log."""
    rows = [logged(graph) for graph in Graphs(dump)]
    name, some = number_of(len(rows), "graph"), f"  in a {dump.run.origin}"
    return Section(
        "graphs", ((*cell(name, "title"), *cell(some)), cell(name, "title")), ("graphs",), LOGGED_COLUMNS, rows
    )


GRAPH_PICK: Final = picked(
    GRAPH_COLUMNS, "graph", "nodes", "kernels", "calls", "FLOP", "moved", "peak", "compiling", "outcome"
)


def _lines(found: Overview) -> Section | None:
    rows = found.lines
    if not rows:
        return None
    is_known = rows[0].seconds is not None
    how = rows[0].sure if is_known else ""
    what = (
        f"Where the time goes ({how})"
        if is_known
        else f"Where the {'bytes' if any(row.bytes for row in rows) else 'FLOPs'} go"
    )
    times = ("measured", "--by", "line")
    by_line = {MEASURED: times, TIMED: times, ESTIMATED: ("roofline",)}
    own = sum(not row.is_inner for row in rows)
    among = f"; {own:,} in all" if own > _MOST_LINES else ""
    cold = len(found.totals.cold)
    each = f"each graph, {cold:,} cold {'one' if cold == 1 else 'ones'} left out" if cold else "each graph"
    return Section(
        "lines",
        (
            (*cell(what, "title"), *cell(f"  by line of your program, one call of {each}{among}", "dim")),
            cell(f"{what}, by line", "title"),
            cell(what, "title"),
        ),
        by_line.get(how, ("traffic", "--by", "line")),
        LINE_COLUMNS,
        _chosen(rows),
    )


def _chosen(rows: list[LineCost]) -> list[LineCost]:
    """The most expensive lines of the program; as far as there are few, with what they lead to in libraries."""
    own = [row for row in rows if not row.is_inner][:_MOST_LINES]
    room = _MOST_LINES - len(own)
    shown: list[LineCost] = []
    for row in rows:
        if row.is_inner and room > 0 and shown and (shown[-1].is_inner or shown[-1] in own):
            shown.append(row)
            room -= 1
        elif row in own:
            shown.append(row)
    return shown


def _findings(dump: "Dump", found: Overview) -> Section:
    rows = found.findings
    if not rows:
        none = cell("No findings", "title")
        return Section(
            "findings", ((*none, *cell(f"  {no_findings_text(dump)}", "dim")), none), ("findings", KINDS.flag)
        )
    title = cell("Do first", "title")
    count = f"  {number_of(len(rows), 'finding')}" if len(rows) > 1 else ""
    return Section(
        "findings",
        ((*title, *cell(count, "dim")), title),
        ("findings",),
        entries=[(row, finding_cells(row)) for row in rows],
    )


def finding_cells(row: Finding) -> tuple[Cell, Cell]:
    """A finding in two sentences: what it costs, where, and what it is; what to do."""
    cost = cost_text(row)
    times = f" ×{row.count:,}" if row.count > 1 else ""
    places = places_cell(row) or cell(one_line(" ".join(row.names)), "dim")
    head = (*cell("▲ ", "warn"), *(cell(f"{cost}  ", "strong") if cost else ()), *places, *cell(times, "dim"))
    to_do = to_do_text(row)
    if row.kind == FAILED or not to_do:
        return head, cell(f"  {one_line(f'{row.what}: {row.why}' if row.why else row.what)}")
    what = f"graph break: {row.why}" if row.kind == BREAK and row.why else row.what
    return (*head, *cell(f"  {one_line(what)}")), (*cell("  → ", "accent"), *cell(to_do))


def _dynamo(found: Overview) -> Section | None:
    run = found.run
    if not (run.frames or run.graph_breaks or run.recompiles):
        return None
    role = "warn" if run.graph_breaks or run.recompiles else ""
    counts = f"  {break_text(run)}, {number_of(run.recompiles, 'recompile')}"
    frames = ", ".join(f"{count:,} {status}" for status, count in run.frames.items())
    without = cell(f"; {eager_calls_text(run)}" if run.eager else "", "warn")
    return Section(
        "dynamo",
        (
            (*cell("Dynamo", "title"), *cell(counts, role), *without, *cell(f"; frames: {frames}" if frames else "")),
            (*cell("Dynamo", "title"), *cell(counts, role), *without),
            (*cell("Dynamo", "title"), *cell(counts, role)),
        ),
        ("dynamo",),
    )


def _memory(found: Overview) -> Section | None:
    every = found.totals
    if not every.highest:
        return None
    peak = f"  peak {byte_text(every.peak_bytes)}"
    where = f" in {one_line(every.highest)}" if every.graphs > 1 else ""
    line = f" at output_code.py:{every.peak_line}" if every.peak_line is not None else ""
    return Section(
        "memory",
        tuple((*cell("Memory", "title"), *cell(f"{peak}{more}")) for more in (f"{where}{line}", where, "")),
        ("memory", "--at", "peak"),
    )


def _coverage(found: Overview) -> Section | None:
    """What the dump lacks of the graphs; nothing if it has all."""
    every = found.totals
    lacks = []
    if every.accounted < 1:
        lacks.append(f"{every.accounted:.1%} of the nodes of the graphs are accounted for")
    if every.incomplete:
        lacks.append(f"{number_of(len(every.incomplete), 'graph is', 'graphs are')} incomplete")
    if not lacks:
        return None
    return Section("coverage", ((*cell("Coverage", "title"), *cell(f"  {'; '.join(lacks)}", "warn")),), ("graphs",))


def overview(request: Request) -> Block:
    """The page; a run without graphs of its own is told at length."""
    dump = request.dump
    found = overview_of(Graphs(dump, request.graph))
    if is_only_parts(dump) or not found.graphs:
        from inspect_compile.tables.overview.summary import summary

        return summary(request)
    return Fitted(_Page(dump, found, request).blocks)


def rooms(sections: Sequence[Section], lines: int, most: Mapping[str, int]) -> dict[str, int]:
    """How many rows, or entries, each section shows on so many lines: one, and more in turn while there is room."""
    there = {one.name: min(len(one.rows) or len(one.entries), most.get(one.name, 0)) for one in sections}
    height = {one.name: 2 if one.entries else 1 for one in sections}
    found = {name: min(count, 1) for name, count in there.items()}
    left = lines - sum(_height(one, found[one.name]) for one in sections)
    while True:
        grown = False
        for name in _IN_TURN:
            if found.get(name, 0) < there.get(name, 0) and height[name] <= left:
                found[name] += 1
                left -= height[name]
                grown = True
        if not grown:
            return found


def _height(section: Section, shown: int) -> int:
    """Lines that so many rows, with their heads, or entries take."""
    return 2 * shown if section.entries else shown + bool(section.rows)


class _Lead(NamedTuple):
    """A title with the command that shows more, flush right."""

    titles: tuple[StyledLine, ...]
    command: str
    shorter: str
    """The command with DUMP instead of the dump's path."""

    def fits(self, width: int, evidence: str) -> bool:
        """Whether a title fits beside the command."""
        return cell_len(self.titles[-1].plain) + 3 + cell_len(evidence) <= width

    def line(self, width: int, evidence: str) -> StyledLine:
        """The longest title that there is room for, and the command; the title is cut before the command is."""
        if is_unlimited(width):
            return joined(self.titles[0], "   " * bool(evidence), (evidence, "accent"))
        left = width - cell_len(evidence) - 3 * bool(evidence)
        fitting = next((one for one in self.titles if cell_len(one.plain) <= left), self.titles[-1])
        title = StyledLine(cut_off(fitting.spans, max(left, 1)))
        gap = " " * (width - cell_len(title.plain) - cell_len(evidence))
        return joined(title, gap if evidence else "", (evidence, "accent"), is_cut=True)


class _Page:
    """The sections below each other, no longer than `LINES` where the screen has a width."""

    def __init__(self, dump: "Dump", found: Overview, request: Request) -> None:
        self._sections = sections(dump, found)
        self._dump_argument = request.dump_argument
        lines = [_title(cell(f" {one.text}", one.role)) for one in warnings(dump, found.run)]
        self._warnings = lines if len(lines) <= _MOST_WARNINGS else lines[: _MOST_WARNINGS - 1]
        self._more_warnings = len(lines) - len(self._warnings)
        held = [(_title(cell(f" {one.text}", one.role)), one) for one in others(dump, request.dump_argument)]
        self._others = [self._lead((text,), one.table, one.command) for text, one in held[:_MOST_OTHERS]]
        more = ("origin",) if dump.run.origin else ()
        self._head = self._lead(tuple(map(_title, run_text(dump, found.run)[-2:])), more)
        where = joined(("Dump", "strong"), f"  {request.dump_argument.strip() or one_line(str(dump.root))}")
        self._foot = self._lead((where, styled("Dump", "strong")), (), open_command(request.dump_argument))

    def _lead(self, titles: tuple[StyledLine, ...], words: tuple[str, ...], other: str = "") -> _Lead:
        if not words:
            return _Lead(titles, other, other)
        short = command("DUMP" if self._dump_argument else "", *words)
        return _Lead(titles, command(self._dump_argument, *words), short)

    def blocks(self, width: int) -> Iterator[Block]:
        """The page in a width."""
        of_section = {
            one.name: self._lead(tuple(map(_title, one.titles)), one.table, one.command)
            for one in self._sections
            if one.titles
        }
        leads = [self._head, *of_section.values(), self._foot]
        more = (
            self._lead((joined((f" … {number_of(self._more_warnings, 'more warning')}", "warn")),), ("summary",))
            if self._more_warnings
            else None
        )
        is_full = is_unlimited(width) or all(one.fits(width, one.command) for one in leads)

        def line(lead: _Lead) -> StyledLine:
            return lead.line(width, lead.command if is_full else lead.shorter)

        yield line(self._head)
        yield from self._warnings
        if more is not None:
            yield line(more)
        yield from (line(one) for one in self._others)
        spent = len(leads) + len(self._warnings) + len(self._others) + (more is not None)
        room = rooms(self._sections, LINES - spent, _MOST)
        shown = sum(room.get(one.name, 0) for one in self._sections if one.entries)
        spare = LINES - spent - sum(_height(one, room.get(one.name, 0)) for one in self._sections)
        for section in self._sections:
            if section.name in of_section:
                yield line(of_section[section.name])
            if section.columns:
                yield Table(section.columns, section.rows[: room.get(section.name, 0)])
            for _, (head, rest) in section.entries[: room.get(section.name, 0)]:
                left = 2 + max(spare, 0) // shown
                first = list(_wrapped(_title(head), width, 1))
                yield from (*first, *_wrapped(_title(rest), width, left - len(first)))
        yield line(self._foot)


def _title(spans: Cell) -> StyledLine:
    return StyledLine(cleaned(spans), is_cut=True)


def _wrapped(line: StyledLine, width: int, most: int) -> Iterator[StyledLine]:
    """On so many lines at most, the last one cut, further ones below the text behind its sign."""
    one = is_unlimited(width) or most == 1
    lines = [line] if one else list(map(StyledLine, wrapped(line.spans, width - _INDENT)))
    for number, shown in enumerate(lines[:most]):
        rest = (part for below in lines[most:] for part in (" ", below)) if number == most - 1 else ()
        yield joined(" " * (_INDENT if number else 1), shown, *rest, is_cut=True)


TABLE: Final = DeclaredTable(overview, overview_rows)
