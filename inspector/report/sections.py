"""The sections of the page: the tables of each, and what else."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from inspect_compile import tables
from inspect_compile.analysis.dumps.parts import is_only_parts
from inspect_compile.analysis.frontend.call_tree import CompileRow, compile_rows
from inspect_compile.analysis.frontend.traced import ArtifactRow, artifact_rows
from inspect_compile.dump import paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import Artifact, GraphBreak
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.report import pictures
from inspect_compile.report.blocks import Shown, shown
from inspect_compile.report.code import Code
from inspect_compile.report.compiles import Compiles
from inspect_compile.report.landmarks import LEADS, MARKS, NUMBERED, at_breaks, questions
from inspect_compile.report.links import Links
from inspect_compile.report.markup import Budget, Markup, element, joined
from inspect_compile.report.packing import first_plain, packed
from inspect_compile.report.places import Places
from inspect_compile.report.stages import stages
from inspect_compile.tables.frontend.traced import about, artifact_text
from inspect_compile.tables.styled_text import Block
from inspect_compile.tables.text import file_name, line_text, number_of, one_line, program_words

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

CHARACTERS: Final = 4_000_000
"""What sources, stages and graphs may take of a page together."""
OPEN: Final = 60
"""A table with more rows is folded at first."""
OPEN_LINES: Final = 200
"""The same for lines of text."""
FEW_LINES: Final = 2
MUCH: Final = 400
"""A table without rows that says more, in lines or in characters, is shown nevertheless."""
FEW_GRAPHS: Final = 24
"""Graphs whose pictures, stages and texts are shown; the tables are of all."""
MOST_CODE: Final = 400
"""Graphs whose code is shown, as far as the characters last."""


@dataclass(frozen=True)
class Section:
    """One section."""

    name: str
    """Its place in the page's address: letters."""
    title: str
    blocks: Sequence[Markup] = ()
    badge: str = ""
    """What is said beside the title where the sections are listed: `2 failed`."""


@dataclass(frozen=True)
class ReportRequest:
    """What the page is of."""

    dump: "Dump"
    name: str
    """The dump as commands in the page name it."""
    rows: int
    """Maximum number of rows of each graph in a table."""
    budget: Budget = field(default_factory=lambda: Budget(CHARACTERS))
    prefix: str = ""
    """Of ids, where the page has the same tables of another dump."""

    @property
    def argument(self) -> str:
        """`name` as a shell takes it; options that choose a part stand behind it."""
        name, space, options = self.name.partition(" --")
        return f"{shlex.quote(name)}{space}{options}"

    @cached_property
    def compiles(self) -> list[CompileRow]:
        """What the run compiled, frame by frame."""
        return list(compile_rows(Graphs(self.dump)))

    @cached_property
    def places(self) -> Places:
        """Where what the dump names stands in the page."""
        shown = [CompiledGraph(self.dump, one.graph) for one in self.dump.outermost()[:MOST_CODE]]
        calls = (line_text(call) for row in self.compiles for call in row.calls)
        stops = (one.where for one in self.dump.rows(GraphBreak) if one.where is not None)
        breaks = (line_text(one) for where in stops for one in (where, own_line(where)) if one is not None)
        return Places(shown, [row.graph for row in self.compiles if row.graph], calls, breaks)

    @cached_property
    def links(self) -> Links:
        """What names and commands in the page lead to."""
        if self.prefix:
            return Links(dump=self.argument)
        return Links(self.places, self.argument, [name for name in tables.TABLES if has_table(self.dump, name)])


def has_table(dump: "Dump", name: str) -> bool:
    """Whether the page of a dump has this table: that of a run whose ranks compiled has those of all ranks alone."""
    return name in tables.OF_ALL_RANKS or not is_only_parts(dump)


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
    """All sections, in order. Compiles, code and pictures stand after the overview."""
    texts = _texts_places(asked)
    compiles = Compiles(asked.dump, asked.compiles, asked.places, asked.links)
    for name, title, there in tables.SECTIONS:
        blocks = list(_tables(asked, there))
        if name == "graph":
            blocks += stages(asked.dump, list(Graphs(asked.dump))[:FEW_GRAPHS], asked.rows, asked.budget)
        if name == "time" and (drawn := pictures.compile_timeline(asked.dump, program(asked.dump))) is not None:
            blocks.insert(0, drawn)
        if name == "overview":
            asking = [] if asked.prefix else questions(asked.dump, has_failures=compiles.has_failures)
            yield Section(name, title, [*asking, *blocks])
            yield from _compiles(compiles, texts)
            yield Section("code", "Code", _more(asked, MOST_CODE, list(_code(asked, texts))))
            graphs = asked.dump.outermost()[:FEW_GRAPHS]
            found = [drawn for one in graphs for drawn in pictures.pictures(CompiledGraph(asked.dump, one.graph))]
            found = [*pictures.of_run(asked.dump), *found]
            yield Section("pictures", "Pictures", _more(asked, FEW_GRAPHS, found))
        else:
            yield Section(name, title, blocks)
    yield Section("texts", "Texts", first_plain(list(_texts(asked, texts)), "more texts"))


def _compiles(found: Compiles, texts: Mapping[str, str]) -> Iterator[Section]:
    blocks = list(found.html(texts.get))
    if blocks:
        yield Section("compiles", "Compiles", blocks, found.badge)


def _code(asked: ReportRequest, texts: Mapping[str, str]) -> Iterator[Markup]:
    """The code of each graph; the first is unfolded."""
    for number, one in enumerate(asked.dump.outermost()[:MOST_CODE]):
        there = [element("a", "its texts", href=place) for place in [texts.get(one.graph)] if place]
        if one.compile_id and (place := asked.places.link("compile", one.compile_id)):
            there.append(element("a", f"compile {one_line(one.compile_id)}", href=place))
        code = Code(CompiledGraph(asked.dump, one.graph), asked.budget, asked.places)
        yield code.html(joined(*there, between=" "), is_open=not number)


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
    html = joined(*first_plain(found.pieces, f"the rest of {title}"), between="\n")
    return element("details", head, html, open=not long, class_="table", id=f"table-{place}{title}")


def _tables(asked: ReportRequest, names: Sequence[str]) -> Iterator[Markup]:
    """The tables; those without a row are told in a line at the end."""
    empty: list[Markup] = []
    for name in names:
        if not has_table(asked.dump, name) or name == "compiles":  # a section of its own
            continue
        try:
            block = tables.table(name, Graphs(asked.dump), limit=asked.rows, dump_argument=asked.argument)
            found = _shown(asked, name, block)
        except CommandError as error:
            empty.append(element("li", element("b", name), f"  {error}"))
            continue
        if name == "overview":
            yield element("div", found.html, id=f"table-{asked.prefix}{name}")
        elif found.rows or found.lines > FEW_LINES or found.characters > MUCH:
            yield folded(name, found, asked.prefix)
        else:
            empty.append(element("li", element("b", name), f"  {found.words}", id=f"table-{asked.prefix}{name}"))
    if empty:
        yield element("ul", *empty, class_="empty")


def _shown(asked: ReportRequest, name: str, block: Block) -> Shown:
    """A table; ids and what leads to them only in those of the page's first dump."""
    if asked.prefix:
        return shown(block, asked.links)
    leads = LEADS[name]() if name in LEADS else None
    numbered = NUMBERED.get(name, lambda line: None)
    ids = at_breaks(asked.places) if name == "dynamo" else None
    return shown(block, asked.links, marks=MARKS, numbered=numbered, leads=leads, ids=ids)


def _texts_places(asked: ReportRequest) -> dict[str, str]:
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
    return f"texts-of-{compile_id}"


def _more(asked: ReportRequest, most: int, blocks: list[Markup]) -> Sequence[Markup]:
    """The blocks, and how many graphs are left out where only the first `most` are shown."""
    left = len(asked.dump.outermost()) - most
    found = [block for block in blocks if block]
    if left > 0:
        words = asked.links.command(f"open {asked.argument}") or Markup("")
        found.append(element("p", f"{number_of(left, 'more graph')}: ", words, class_="warn"))
    return first_plain(found, "what other graphs have") or [element("p", "nothing was compiled", class_="dim")]


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
                rows.append(element("details", head, _source(text, name)))
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
    return element("details", head, _source(text, one_line(row.name)))


def _source(text: str, name: str) -> Markup:
    return packed(element("pre", text, class_="source", tabindex="0"), name)
