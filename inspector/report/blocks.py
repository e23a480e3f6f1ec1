"""Blocks as HTML: tables as tables, all else as paragraphs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

from inspect_compile.facts import DynamoNode, JointNode, Node
from inspect_compile.report.lines import CLASSES, paragraphs
from inspect_compile.report.links import Links
from inspect_compile.report.markup import Markup, element, joined
from inspect_compile.report.packing import packed
from inspect_compile.tables.columns import Cell, Column, cell, cells, plain
from inspect_compile.tables.layout import UNLIMITED
from inspect_compile.tables.lowering.nodes import EDGES
from inspect_compile.tables.styled_text import Block, Claim, StyledLine, Table, between, flat, shortened
from inspect_compile.tables.text import number_of

PAGE: Final = 200
"""Rows of one part of a table: the page's script shows one part at a time."""
FIRST: Final = 40
"""Rows of a long table that stand in the page as they are; the script adds the others."""
FOLDED: Final = 240
"""Maximum characters of a cell that is shown as a whole: of a longer one the end is folded."""
BEGINNING: Final = 160
"""Characters of a longer one that are shown at first."""
LONGEST: Final = 1000
"""Maximum characters of its folded end."""
_TOGETHER: Final = 4000
"""Lines of text below each other in one element."""


@dataclass(frozen=True)
class Shown:
    """A block as HTML."""

    pieces: Sequence[Markup]
    """Its tables and groups of lines, in order."""
    rows: int
    """Rows of the tables in it."""
    lines: int
    """Lines of text outside of its tables."""
    words: str
    """Its first line of text."""
    characters: int
    """Length of its text outside of tables."""

    @property
    def html(self) -> Markup:
        """All of it."""
        return joined(*self.pieces, between="\n")


@dataclass
class _Gathered:
    """What is made of a block so far."""

    links: Links
    marks: Mapping[type, str]
    numbered: Callable[[StyledLine], str | None]
    leads: Callable[[StyledLine], str | None] | None
    ids: Callable[[StyledLine], str | None] | None
    parts: list[Markup] = field(default_factory=list)
    waiting: list[StyledLine] = field(default_factory=list)
    notes: dict[tuple[Any, ...], tuple[StyledLine, list[int]]] = field(default_factory=dict)
    """Notes below tables, and the parts that each belongs to."""
    graph: str = ""
    rows: int = 0
    lines: int = 0
    words: str = ""
    characters: int = 0
    given: set[str] = field(default_factory=set)

    def say(self, line: StyledLine) -> None:
        self.words = self.words or line.plain
        self.characters += len(line.plain)
        self.graph = (line.spans and self.links.graph(line.spans[0].text)) or self.graph
        self.waiting.append(line)
        if not line.plain or len(self.waiting) >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """The lines since the last table or gap, as one group."""
        if any(line.plain for line in self.waiting):
            place = next((found for line in self.waiting if (found := self.numbered(line))), None)
            inner = paragraphs(self.waiting, self.links, self.graph, self.leads, self.ids)
            self.parts.append(element("div", inner, class_="lines", id=place if self._is_new(place) else None))
        self.waiting.clear()

    def _is_new(self, place: str | None) -> bool:
        if place is None or place in self.given:
            return False
        self.given.add(place)
        return True

    def table(self, block: Table[Any]) -> None:
        if block.title is not None:
            self.say(block.title)
        if block.rows and block.columns:
            mark = self.marks.get(type(block.rows[0]))
            before = len(self.parts)
            self.flush()
            self.parts.append(table(block, self.links, self.graph))
            if mark and self._is_new(mark):  # with its title
                self.parts[before:] = [element("div", *self.parts[before:], id=mark)]
            self.rows += len(block.rows)
        for note in block.notes:
            self.characters += len(note.plain)
            self.notes.setdefault(note.spans, (note, []))[1].append(len(self.parts))
            self.parts.append(Markup(""))
        self.flush()

    def finished(self) -> Shown:
        """Notes that are equal stand once, at the end, with their count."""
        self.flush()
        repeated = []
        for note, places in self.notes.values():
            if len(places) == 1:
                self.parts[places[0]] = paragraphs([note], self.links)
            else:
                repeated.append(StyledLine((*note.spans, *cell(f"   ×{len(places):,}", "dim")), indent=note.indent))
        if repeated:
            self.parts.append(element("div", paragraphs(repeated, self.links), class_="lines"))
        return Shown([part for part in self.parts if part], self.rows, self.lines, self.words, self.characters)


def shown(
    block: Block,
    links: Links | None = None,
    *,
    marks: Mapping[type, str] = {},
    numbered: Callable[[StyledLine], str | None] = lambda line: None,
    leads: Callable[[StyledLine], str | None] | None = None,
    ids: Callable[[StyledLine], str | None] | None = None,
) -> Shown:
    """Everything in a block. `marks`: type of a row → id of the first table of such rows; `numbered` gives the id of
    the group that a line begins, `ids` that of a line alone, `leads` the place in the page that has more about a line.
    """
    found = _Gathered(links or Links(), marks, numbered, leads, ids)
    for part in flat(block, UNLIMITED):
        if isinstance(part, Table):
            found.table(part)
        else:
            found.say(part.whole if isinstance(part, Claim) else part)
            found.lines += 1
    return found.finished()


def table(block: Table[Any], links: Links | None = None, graph: str = "") -> Markup:
    """The rows under their titles; parameters and placeholders in a folded table of their own above."""
    given = links or Links()
    edges = [row for row in block.rows if _is_edge(row)]
    if not edges or len(edges) == len(block.rows):
        return _table(block.columns, block.rows, given, graph, has_titles=block.has_titles)
    rest = [row for row in block.rows if not _is_edge(row)]
    own = _table(block.columns, edges, given, graph, has_titles=block.has_titles)
    title = element("summary", f"{number_of(len(edges), 'parameter or placeholder', 'parameters and placeholders')}")
    every = _table(block.columns, rest, given, graph, has_titles=block.has_titles)
    return joined(element("details", title, own, class_="edges"), every)


def _is_edge(row: object) -> bool:
    return isinstance(row, Node | DynamoNode | JointNode) and row.op in EDGES and row.op != "output"


def _table(
    columns: Sequence[Column[Any]], rows: Sequence[Any], links: Links, graph: str, *, has_titles: bool
) -> Markup:
    """Columns that are flush right say so in the table's class, counted from 1."""
    right = " ".join(f"r{place}" for place, column in enumerate(columns, 1) if column.right)
    head = "".join(map(_head, columns)) if has_titles else ""
    titles = [column.title for column in columns]
    lines = [f"<tr>{''.join(map(_cell, cells(columns, row), titles, repeat(links), repeat(graph)))}" for row in rows]
    first, rest = lines[:FIRST], Markup("\n".join(lines[FIRST:]))
    more = packed(rest, f"{number_of(len(lines) - FIRST, 'more row')}", "rows") if rest else Markup("")
    is_packed = "<template" in more
    body = "\n".join(first if is_packed else lines)
    opened = f'<table class="{right}">' if right else "<table>"
    return Markup(
        f'<div class="wide" tabindex="0" role="group" aria-label="table">{opened}'
        f"{f'<thead><tr>{head}</thead>' if head else ''}<tbody>\n{body}\n</tbody></table>"
        f"{more if is_packed else ''}</div>"
    )


def _head(column: Column[Any]) -> Markup:
    return element("th", column.title, scope="col") if column.title else element("td")


def _cell(found: Cell, title: str, links: Links, graph: str) -> str:
    """A cell, its end folded if it is long; the end tag of a table's cells and rows is optional in HTML."""
    size = sum(len(span.text) for span in found)
    if size <= FOLDED:
        return f"<td>{_spans(found, title, links, graph)}"
    text = plain(found)
    end = text.rfind(" ", BEGINNING // 2, BEGINNING) + 1 or BEGINNING
    rest = _spans(shortened(between(found, end, size), LONGEST), title, links, graph)
    start = _spans(between(found, 0, end), title, links, graph)
    return f'<td>{start}<details class="rest"><summary>… more</summary>{rest}</details>'


def _spans(found: Cell, title: str, links: Links, graph: str) -> str:
    parts = []
    for span in found:
        command = links.command(span.text) if links.is_command(span) else None
        html = command or links.text(span.text, graph, column=title)
        parts.append(f"<i class={span.role}>{html}</i>" if span.role in CLASSES and command is None else html)
    return "".join(parts)
