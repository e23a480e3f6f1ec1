"""The compiles of a run: an index of their ids, failures together, and the lines of the program that led to each."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.findings.kept import summaries_of
from inspect_compile.analysis.frontend.call_tree import CompileRow, TreeLine, call_tree
from inspect_compile.analysis.frontend.traced import artifact_rows
from inspect_compile.facts import Graph
from inspect_compile.graph import Graphs
from inspect_compile.report.blocks import table
from inspect_compile.report.lines import paragraphs, styled_span, without_blanks
from inspect_compile.report.links import Links
from inspect_compile.report.markup import Markup, element, escaped, joined
from inspect_compile.report.places import Places
from inspect_compile.tables.columns import Cell, cells, plain
from inspect_compile.tables.frontend.compiles import COLUMNS
from inspect_compile.tables.frontend.traced import artifact_text
from inspect_compile.tables.overview.graphs import COLUMNS as GRAPH_COLUMNS
from inspect_compile.tables.styled_text import Table, styled
from inspect_compile.tables.text import exception_text, line_text, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

BADLY: Final = ("failed", "skipped", "not finished")
"""What became of a compile that failed or was given up, the worst first."""
FAILURES: Final = "failures"
"""The id of what failed."""
_MOST: Final = 20
"""Maximum number of tracebacks that are shown."""
_DEEPEST: Final = 24
_TITLES: Final = tuple(column.title for column in COLUMNS)


class Compiles:
    """Everything about the compiles of one run."""

    def __init__(self, dump: "Dump", rows: list[CompileRow], places: Places, links: Links) -> None:
        self._dump = dump
        self._rows = rows
        self._places = places
        self._ids = places.of_graph("")
        self._links = links
        self._failed = [row for status in BADLY for row in self._rows if row.status == status]
        graphs = [] if dump.run.origin else list(Graphs(dump))
        self._failed_graphs = [row for row in summaries_of(dump, graphs) if row.status == "failed"]
        ended = run_state(dump)
        self._end = "" if ended.is_growing else ended.text

    @property
    def has_failures(self) -> bool:
        """Whether anything is listed as failed."""
        return bool(self._failed or self._failed_graphs or self._end)

    @property
    def badge(self) -> str:
        """`2 failed, 1 skipped`; empty where nothing was."""
        counts = Counter(row.status for row in self._failed)
        return ", ".join(f"{counts[status]:,} {status}" for status in BADLY if counts[status])

    def html(self, texts: Callable[[str], str | None]) -> Iterator[Markup]:
        """Index, failures and tree; nothing where nothing was compiled. `texts`: a compile → where its texts are."""
        if self.has_failures:
            yield self._failures()
        if not self._rows:
            return
        yield element("h3", "Index")
        chips = (self._chip(row) for row in self._rows if row.graph)
        yield element("p", joined(*chips, between=" "), class_="index")
        yield element("h3", "The lines that led to each compile", id="table-compiles")
        yield self._tree(list(call_tree(self._rows)), texts)

    def _failures(self) -> Markup:
        parts = [element("h3", "Failures", id=FAILURES)]
        if self._end:
            parts.append(paragraphs([styled(exception_text(self._end), "bad")], self._links))
        if self._failed:
            rows = [TreeLine(0, compile=row) for row in self._failed]
            parts.append(table(Table(COLUMNS, rows), self._links))
        if self._failed_graphs:
            parts.append(table(Table(GRAPH_COLUMNS, self._failed_graphs), self._links))
        wanted = {row.graph for row in self._failed}
        texts = [one for one in artifact_rows(Graphs(self._dump)) if one.graph in wanted and one.name == "dynamo_error"]
        for one in texts[:_MOST]:
            head = element("summary", f"compile {one_line(one.graph)}: traceback")
            parts.append(element("details", head, element("pre", artifact_text(one), class_="source", tabindex="0")))
        return element("div", *parts, class_="failures")

    def _chip(self, row: CompileRow) -> Markup:
        kind = "good" if row.status == "compiled" else "bad" if row.status == "failed" else "warn"
        link = self._places.link("compile", row.graph)
        about = f"{row.status}{', again' if row.again else ''}: {one_line(row.function)}"
        return element("a", one_line(row.graph), href=link, class_=f"chip {kind}", title=about)

    def _tree(self, lines: Sequence[TreeLine], texts: Callable[[str], str | None]) -> Markup:
        """Lists in lists, as deep as the lines call each other."""
        parts: list[str] = ['<ul class="tree">']
        depth = 0
        for line in lines:
            wanted = min(line.depth, _DEEPEST)
            while depth < wanted:
                parts.append("<ul>")
                depth += 1
            while depth > wanted:
                parts.append("</ul>")
                depth -= 1
            parts.append(self._line(line, texts))
        parts += ["</ul>"] * (depth + 1)
        return Markup("".join(parts))

    def _line(self, line: TreeLine, texts: Callable[[str], str | None]) -> Markup:
        shown = dict(zip(_TITLES, cells(COLUMNS, line), strict=True))
        words = self._spans(without_blanks(shown["called by"])[1])
        row = line.compile
        if row is None:
            names = [name for name in map(line_text, line.where) if self._places.is_call(name)]
            return Markup(f"<li{self._id('line', names[0]) if names else ''}>{words}")
        facts = [self._spans(shown[title]) for title in ("became", "time") if plain(shown[title])]
        facts += [
            escaped(number_of(count, word))
            for count, word in ((row.graphs, "graph"), (row.breaks, "graph break"), (len(row.restarts), "restart"))
            if count
        ]
        there = [self._link(graph.graph, self._places.link("graph", graph.graph)) for graph in self._graphs(row)]
        if text := texts(row.graph):
            there.append(self._link("texts", text))
        because = shown["because"]
        why = element("div", self._spans(because), class_="because") if plain(because) else Markup("")
        head = joined(element("b", one_line(row.graph)), " ", words, "  ", joined(*facts, between=", "), "  ")
        found = self._id("compile", row.graph)
        return Markup(f'<li class="compile"{found}>{head}{joined(*there, between=" ")}{why}')

    def _id(self, kind: str, name: str) -> str:
        """The attribute for the first element that stands for a name."""
        place = self._ids.take(kind, name)
        return "" if place is None else f' id="{escaped(place)}"'

    def _graphs(self, row: CompileRow) -> list[Graph]:
        return self._dump.graphs_of_compile(row.graph) if row.graph else []

    @staticmethod
    def _link(words: str, place: str | None) -> Markup:
        return element("a", one_line(words), href=place) if place else element("span", one_line(words))

    def _spans(self, found: Cell) -> Markup:
        return joined(*(styled_span(span, self._links) for span in found))
