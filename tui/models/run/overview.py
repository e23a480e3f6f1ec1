"""The overview as rows: the sections of `show DUMP`, each with the key that leads on, then everything about the run."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from rich.cells import cell_len

from inspect_compile.analysis.dumps.parts import is_only_parts
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.kept import overview_of
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.overview.records import GraphSummary
from inspect_compile.analysis.runtime.step_bound import StepPart
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame
from inspect_compile.graph import Graphs, outermost
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.tables.columns import Cell, Column, Span, cell, plain, used
from inspect_compile.tables.layout import fitted
from inspect_compile.tables.overview.overview import Section, rooms, sections
from inspect_compile.tables.overview.run_text import run_text, warnings
from inspect_compile.tui.models.code import wrapped
from inspect_compile.tui.models.letters import BREAKS_KEY, BUFFERS, PEAK_KEY, WHOLE_KEY
from inspect_compile.tui.models.run.pages import run_page
from inspect_compile.tui.models.sheet import Row, Sheet, Table

_KEYS: Final = {
    "graphs": ("r", "choose one"),
    "lines": ("1", "Source"),
    "findings": ("5", "Fusion"),
    "dynamo": (BREAKS_KEY, "the frame"),
    "memory": ("8", "Memory"),
}
"""Section → the key that leads on, and where to."""
_MOST: Final = {"step": 8, "graphs": 8, "lines": 10, "findings": 12}
WHOLE: Final = "whole run"
"""Key of the row where everything about the run begins."""


class Lead(NamedTuple):
    """Where a row leads to: a graph, seen in a view; or a frame."""

    graph: str = ""
    view: str = ""
    line: Line | None = None
    finding: Finding | None = None
    row: tuple[str, str] | None = None
    """Mode of the view, and key of a row of it."""
    frame: str = ""


class OverviewRow(NamedTuple):
    """One row; `right` is flush right, as far as it leaves room. The first of `texts` that fits is shown."""

    key: str
    texts: Sequence[Sequence[Span]]
    right: Sequence[Span] = ()
    lead: Lead | None = None
    table: Table | None = None
    place: int = 0
    """Of a row of `table`, which; -1 for its titles."""


class OverviewSheet(Sheet):
    """The rows, fitted to a height when it is made and to a width when it is drawn."""

    def __init__(self, rows: Sequence[OverviewRow]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def spans(self, index: int, width: int) -> list[Span]:
        """A row."""
        row = self.rows[index]
        if row.table is not None:
            inner = width - 2
            line = row.table.titles(inner) if row.place < 0 else row.table.spans(row.place, inner)
            return [Span("  "), *line]
        least = cell_len(plain(tuple(row.texts[-1])))
        sides = (row.right, row.right[:1] if row.right and row.right[0].role == "key" else (), ())
        right = next((side for side in sides if least + cell_len(plain(tuple(side))) + 2 * bool(side) <= width), ())
        size = cell_len(plain(tuple(right)))
        left = width - size - 2 * bool(right)
        text = next((one for one in row.texts if cell_len(plain(tuple(one))) <= left), row.texts[-1])
        shown = fitted(list(text), max(left, 0))
        gap = width - size - sum(cell_len(span.text) for span in shown)
        return [*shown, *((Span(" " * gap), *right) if right else ())]

    def plain(self, index: int) -> str:
        """Its text at length."""
        row = self.rows[index]
        if row.table is not None:
            return plain(tuple(row.table.titles(1000))) if row.place < 0 else row.table.plain(row.place)
        return plain(tuple(row.texts[0]))

    def key(self, index: int) -> str:
        """The row's key."""
        return self.rows[index].key

    def lead(self, index: int) -> Lead | None:
        """Where the row leads to."""
        return self.rows[index].lead if 0 <= index < len(self.rows) else None


class OverviewPage:
    """What the overview of a dump tells. Built on the reader's thread; `sheet` needs no dump."""

    def __init__(self, dump: Dump, progress: str, *, has_program: bool) -> None:
        self._progress = progress
        self._sections: list[Section] = []
        self._head: list[OverviewRow] = []
        self._graphs = {found.graph for found in dump.outermost()}
        self._frames = {row.graph for row in dump.rows(Frame)}
        self._of_frame = {found.compile_id: found.graph for found in reversed(dump.outermost())}
        """Compile id → the first of its graphs, in whose list of findings those of the compile are, too."""
        self.leads: dict[str, Lead] = {}
        """View → what it shows first: the most expensive line, the most expensive finding, the highest peak."""
        self.frame = ""
        """The frame to look at first for graph breaks and recompiles."""
        if dump.outermost() and not is_only_parts(dump):
            found = overview_of(Graphs(dump))
            self._sections = sections(dump, found)
            key = (*cell(WHOLE_KEY, "key"), *cell(" everything about the run ", "dim"))
            self._head.append(OverviewRow("run", run_text(dump, found.run), key))
            for number, warning in enumerate(warnings(dump, found.run)):
                self._head.append(OverviewRow(f"warning {number}", (cell(f" {warning.text}", warning.role),)))
            every: list[LineCost | Finding] = [*found.lines[:1], *found.findings]
            leads = [lead for row in every if (lead := self._lead(row)) is not None]
            self.leads = {lead.view: lead for lead in reversed(leads) if lead.view}
            self.frame = next((row.graph for row in found.findings if row.graph in self._frames), "")
            if found.totals.highest:
                self.leads["memory"] = Lead(found.totals.highest, "memory", row=(BUFFERS, PEAK_KEY))
        self._whole = run_page(dump, has_program=has_program)

    @property
    def has_graphs(self) -> bool:
        """False if there is only the page about the run."""
        return bool(self._sections)

    def sheet(self, width: int, height: int) -> OverviewSheet:
        """The rows; those of the overview itself are at most `height`, if that is enough for one of each section."""
        rows = list(self._head)
        if self._progress:
            rows[1:1] = _wrapped("progress", cell(f"● {self._progress}", "accent"), width)
        if self._sections:
            titles = sum(bool(section.titles) for section in self._sections)
            room = rooms(self._sections, height - len(rows) - titles, _MOST)
            for section in self._sections:
                rows += self._rows(section, room.get(section.name, 0))
            rows.append(OverviewRow("blank", ((),)))
        for number, line in enumerate(self._whole):
            rows += _wrapped(f"{WHOLE} {number}" if number else WHOLE, line.spans, width)
        return OverviewSheet(rows)

    def _rows(self, section: Section, count: int) -> Iterator[OverviewRow]:
        key, what = _KEYS.get(section.name, ("", ""))
        right = (*cell(key, "key"), *cell(f" {what} ", "dim")) if key else cell(f"{section.command} ", "dim")
        if section.titles:
            yield OverviewRow(section.name, section.titles, right, self._leads(section))
        if section.rows:
            shown = section.rows[:count]
            columns: Sequence[Column[Any]] = used(section.columns, shown)
            keys = [f"{section.name} {number}" for number in range(len(shown))]
            pairs = zip(shown, keys, strict=True)
            table = Table(columns, [Row.of(columns, row, key, None) for row, key in pairs])
            yield OverviewRow(f"{section.name} titles", (), table=table, place=-1)
            for number, row in enumerate(shown):
                yield OverviewRow(keys[number], (), lead=self._lead(row), table=table, place=number)
        for number, (row, lines) in enumerate(section.entries[:count]):
            for line, spans in enumerate(lines):
                yield OverviewRow(f"{section.name} {number} {line}", ((Span("  "), *spans),), lead=self._lead(row))

    def _lead(self, row: GraphSummary | LineCost | Finding | StepPart) -> Lead | None:
        """Where a record leads to."""
        if isinstance(row, StepPart):
            return None
        if isinstance(row, GraphSummary):
            return Lead(row.graph, "source")
        graph = outermost(row.graph)
        if isinstance(row, LineCost):
            where = row.lines[0] if row.lines else None
            return Lead(graph, "source", None if where is None else Line(where.file, where.line))
        if (graph := self._of_frame.get(row.graph, graph)) in self._graphs:
            return Lead(graph, "fusion", finding=row)
        return Lead(frame=row.graph) if row.graph else None

    def _leads(self, section: Section) -> Lead | None:
        if section.name == "dynamo":
            return Lead(frame=self.frame) if self.frame else None
        return self.leads.get({"lines": "source", "findings": "fusion", "memory": "memory"}.get(section.name, ""))


def _wrapped(key: str, spans: Cell, width: int) -> Iterator[OverviewRow]:
    """A row, or several of a text that is longer."""
    lines = wrapped(plain(spans), width - 2, spans[-1].role, indent=2) if cell_len(plain(spans)) > width else []
    for line, shown in enumerate([line.spans for line in lines] or [spans]):
        yield OverviewRow(f"{key} {line}" if line else key, (shown,))
