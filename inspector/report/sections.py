"""The sections of the page: the tables of each, and what else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from inspect_compile import tables
from inspect_compile.analysis.dumps.parts import is_only_parts
from inspect_compile.analysis.frontend.traced import ArtifactRow, artifact_rows
from inspect_compile.dump import paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import Artifact
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.report import pictures
from inspect_compile.report.blocks import Shown, shown
from inspect_compile.report.code import Code
from inspect_compile.report.markup import Budget, Markup, element, joined
from inspect_compile.report.stages import stages
from inspect_compile.tables.frontend.traced import about, artifact_text
from inspect_compile.tables.text import file_name, number_of, one_line, program_words

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

CHARACTERS: Final = 4_000_000
"""What sources, stages and graphs may take of a page together."""
OPEN: Final = 60
"""A table with more rows is folded at first."""
OPEN_LINES: Final = 200
"""The same for lines of text."""
MUCH: Final = 400
"""A table without rows that says more, in characters, is shown all the same."""
FEW_GRAPHS: Final = 24
"""Graphs whose code and pictures are shown; the tables are of all."""


@dataclass(frozen=True)
class Section:
    """One section."""

    name: str
    """Its place in the page's address: letters."""
    title: str
    blocks: Sequence[Markup] = ()


@dataclass(frozen=True)
class ReportRequest:
    """What the page is of."""

    dump: "Dump"
    name: str
    """The dump as commands in the page name it."""
    rows: int
    """Maximum number of rows of each graph in a table."""
    budget: Budget = field(default_factory=lambda: Budget(CHARACTERS))


TEXTS: Final = (
    paths.FX_READABLE,
    paths.FX_TRANSFORMED,
    paths.IR_PRE_FUSION,
    paths.IR_POST_FUSION,
    f"{paths.OUTPUT_CODE}.py",
    f"{paths.OUTPUT_CODE}.cpp",
    paths.LOWERING,
    paths.FX_RUNNABLE,
)
"""Files of a graph that are shown as they are, while there is room, the shortest way to a kernel first."""


def sections(asked: ReportRequest) -> Iterator[Section]:
    """All sections, in order. Code, pictures and texts stand after the overview."""
    places = _places(asked)
    for name, title, there in tables.SECTIONS:
        blocks = list(_tables(asked, there, places))
        if name == "graph":
            blocks += stages(asked.dump, list(Graphs(asked.dump))[:FEW_GRAPHS], asked.rows, asked.budget)
        if name == "time" and (drawn := pictures.compile_timeline(asked.dump, program(asked.dump))) is not None:
            blocks.insert(0, drawn)
        yield Section(name, title, blocks)
        if name == "overview":
            graphs = asked.dump.outermost()[:FEW_GRAPHS]
            yield Section(
                "code",
                "Code",
                _more(asked, [Code(CompiledGraph(asked.dump, one.graph), asked.budget).html() for one in graphs]),
            )
            found = [drawn for one in graphs for drawn in pictures.pictures(CompiledGraph(asked.dump, one.graph))]
            found = [*pictures.of_run(asked.dump), *found]
            yield Section("pictures", "Pictures", _more(asked, found))
    yield Section("texts", "Texts", list(_texts(asked, places)))


def program(dump: "Dump") -> str:
    """`train.py`, or the dump's name for one without a program."""
    words = program_words(dump.run.argv)
    return words[0] if words else file_name(str(dump.root))


def folded(title: str, found: Shown, place: str = "") -> Markup:
    """A table below its name, folded if it is long; `place` tells it from another of that name on the page."""
    long = found.rows > OPEN or found.lines > OPEN_LINES
    size = number_of(found.rows, "row") if found.rows else number_of(found.lines, "line") if long else ""
    rows = element("i", size, class_="dim") if size else ""
    head = element("summary", element("b", title), " ", rows)
    return element("details", head, found.html, open=not long, class_="table", id=f"table-{place}{title}")


def _tables(asked: ReportRequest, names: Sequence[str], places: Mapping[str, str]) -> Iterator[Markup]:
    """The tables; those without a row are told in a line at the end."""
    empty: list[Markup] = []
    for name in names:
        if name not in tables.OF_ALL_RANKS and is_only_parts(asked.dump):
            continue
        try:
            found = shown(tables.table(name, Graphs(asked.dump), limit=asked.rows, dump_argument=asked.name), places)
        except CommandError as error:
            empty.append(element("li", element("b", name), f"  {error}"))
            continue
        if found.rows or found.characters > MUCH or name == "overview":
            yield folded(name, found)
        else:
            empty.append(element("li", element("b", name), f"  {found.words}"))
    if empty:
        yield element("ul", *empty, class_="empty")


def _places(asked: ReportRequest) -> dict[str, str]:
    """A graph or a compile → where its texts are in the page: for a compile without texts of its own its graph's."""
    dump = asked.dump
    shown = [one for one in dump.outermost()[:FEW_GRAPHS] if any(dump.text(one.graph, name) for name in TEXTS)]
    found = {one.compile_id: _graph_place(one.graph) for one in reversed(shown) if one.compile_id}
    found |= {row.graph: _compile_place(row.graph) for row in dump.rows(Artifact)}
    found |= {one.graph: _graph_place(one.graph) for one in shown}
    return {name: f"#{quote(place)}" for name, place in found.items()}


def _graph_place(graph: str) -> str:
    return f"texts-{graph}"


def _compile_place(compile_id: str) -> str:
    return f"compile-{compile_id}"


def _more(asked: ReportRequest, blocks: list[Markup]) -> list[Markup]:
    """The blocks, and how many graphs are left out."""
    left = len(asked.dump.outermost()) - FEW_GRAPHS
    found = [block for block in blocks if block]
    if left > 0:
        found.append(element("p", f"{number_of(left, 'more graph')}: inspect-compile open", class_="warn"))
    return found or [element("p", "nothing was compiled", class_="dim")]


def _texts(asked: ReportRequest, places: Mapping[str, str]) -> Iterator[Markup]:
    """The files of each graph."""
    for graph in asked.dump.outermost()[:FEW_GRAPHS]:
        rows: list[Markup] = []
        for name in TEXTS:
            text = asked.dump.text(graph.graph, name)
            if not text:
                continue
            size = element("i", number_of(text.count("\n") + 1, "line"), class_="dim")
            if asked.budget.takes(text):
                head = element("summary", element("b", name), " ", size)
                rows.append(element("details", head, element("pre", text, class_="source")))
            else:
                rows.append(asked.budget.too_long(name))
        if rows:
            title = f"{graph.graph}  {graph.kind} {graph.compile_id or ''}".rstrip()
            yield joined(element("h3", title, id=_graph_place(graph.graph)), *rows)
    yield from _artifacts(asked, places)


def _artifacts(asked: ReportRequest, places: Mapping[str, str]) -> Iterator[Markup]:
    """What torch made or would print about each compile."""
    for compile_id, rows in grouped(artifact_rows(Graphs(asked.dump)), lambda row: row.graph).items():
        shown = [_artifact(asked, row) for row in rows[: asked.rows]]
        made = [one.graph for one in asked.dump.graphs_of_compile(compile_id) if one.graph in places]
        graphs = (joined(" ", element("a", graph, href=places[graph])) for graph in made)
        title = element("h3", f"compile {one_line(compile_id)}", *graphs, id=_compile_place(compile_id))
        yield joined(title, *shown)


def _artifact(asked: ReportRequest, row: ArtifactRow) -> Markup:
    note = f"{number_of(row.lines, 'line')}  {about(row.name)}".rstrip()
    head = element("summary", element("b", one_line(row.name)), " ", element("i", note, class_="dim"))
    text = artifact_text(row)
    if not asked.budget.takes(text):
        return asked.budget.too_long(one_line(row.name))
    return element("details", head, element("pre", text, class_="source"))
