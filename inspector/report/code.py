"""The program's lines, the FX nodes and the kernels of one graph beside each other.

Everything that stands for FX nodes carries their numbers in `data-n`: what shares a number is marked together.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from inspect_compile.analysis.kernels.instructions import says_places_only
from inspect_compile.analysis.kernels.stage_lines import KernelStages, Stage, annotated_lines
from inspect_compile.facts import Kernel, Node
from inspect_compile.graph import CompiledGraph, gathered
from inspect_compile.graph.kernels.statements import Annotated
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.knowledge.frontend.own_code import is_library, own_line
from inspect_compile.report.fx_text import call_text
from inspect_compile.report.markup import Budget, Markup, element, escaped, joined
from inspect_compile.report.packing import packed
from inspect_compile.report.places import Places, source_line
from inspect_compile.tables.kernels.binaries import binary_text
from inspect_compile.tables.lowering.nodes import EDGES
from inspect_compile.tables.text import file_name, number_of, one_line, place_text

STAGES: Final = ("ptx", "sass", "amdgcn", "isa", "ttgir", "ttir")
"""The stages that are shown where the dump has them, the machine's first."""

_FOLDED: Final = 4
"""Parameters and placeholders from which they are folded."""
_LONGEST: Final = 400
"""Maximum characters of a line of code."""
_MOST_NUMBERS: Final = 400
"""Maximum FX nodes that one element is marked for: a whole kernel or a line in a loop can stand for thousands."""


class Code:
    """The three columns of one graph."""

    def __init__(self, graph: CompiledGraph, budget: Budget, places: Places) -> None:
        self._dump = graph.dump
        self._of = graph.provenance
        self._statements = graph.statements
        self._budget = budget
        self._number = {self._of.key(node.graph, node.name): place for place, node in enumerate(self._of.nodes)}
        self._graph = graph.fact
        self._places = places.of_graph(graph.name)

    def html(self, *links: Markup, is_open: bool = True) -> Markup:
        """Everything, folded if not `is_open`, with `links` to what else there is; empty for a graph without nodes and
        kernels.
        """
        if not self._of.nodes and not self._of.kernels:
            return Markup("")
        title = f"{self._graph.kind} {self._graph.compile_id or ''}".rstrip()
        size = f"{number_of(len(self._of.nodes), 'node')}, {number_of(len(self._of.kernels), 'kernel')}"
        head = element(
            "summary",
            element("b", one_line(self._graph.graph)),
            f" {title} ",
            element("i", size, class_="dim"),
        )
        more = element("p", *links, class_="more") if links else Markup("")
        place = self._places.take("graph", self._graph.graph)
        instead = f"the code of {one_line(self._graph.graph)}"
        return element("details", head, more, packed(self._columns(), instead), class_="code", id=place, open=is_open)

    def _columns(self) -> Markup:
        columns = (
            ("Program", self._program()),
            ("FX nodes", self._nodes()),
            ("Kernels", (self._kernel(place, kernel) for place, kernel in enumerate(self._of.kernels))),
        )
        panes = (
            element(
                "div",
                element("p", title, class_="head"),
                element("div", *rows, class_="pane", tabindex="0", role="group", aria_label=title),
                class_="column",
            )
            for title, rows in columns
        )
        return element("div", *panes, class_="columns")

    def _program(self) -> Iterator[Markup]:
        """Each line that nodes come from, as the dump has it; the user's own files first."""
        there = (one for node in self._of.nodes for one in (node.where, node.where and own_line(node.where)) if one)
        texts = {Line.of(one): one.code for one in there}
        nodes = gathered((line, name) for name, lines in self._of.lines_of_node.items() for line in lines)
        lines = sorted(nodes, key=lambda line: (is_library(line.file), line.file, line.number))
        file = None
        for line in lines:
            if line.file != file:
                file = line.file
                yield element("div", element("b", file_name(file)), class_="file", title=one_line(file))
            kernels: set[int] = set().union(*(self._of.kernels_of_node.get(name, ()) for name in nodes[line]))
            note = f"{number_of(len(nodes[line]), 'node')}, {number_of(len(kernels), 'kernel')}"
            place = self._places.take("line", source_line(line))
            yield self._row(texts.get(line, ""), nodes[line], str(line.number), note, place)

    def _nodes(self) -> Iterator[Markup]:
        """Each node; parameters and placeholders folded away where they stand."""
        for is_edge, nodes in groupby(self._of.nodes, lambda node: node.op in EDGES and node.op != "output"):
            rows = [self._node(node) for node in nodes]
            if not is_edge or len(rows) < _FOLDED:
                yield from rows
                continue
            title = element("summary", number_of(len(rows), "parameter or placeholder", "parameters and placeholders"))
            yield element("details", title, *rows, class_="edges")

    def _node(self, node: Node) -> Markup:
        name = self._of.key(node.graph, node.name)
        kernels = sorted(self._of.kernels_of_node.get(name, ()))
        names = ", ".join(f"k{place + 1}" for place in kernels[:4]) + ("…" if len(kernels) > 4 else "")
        note = "  ".join(part for part in (place_text(node.where), names) if part)
        place = self._places.take("node", name)
        return self._row(f"{name} = {call_text(node)}", (name,), str(self._number[name]), note, place)

    def _kernel(self, place: int, kernel: Kernel) -> Markup:
        nodes = [self._of.key(kernel.graph, name) for name in kernel.nodes]
        never = "calls not known" if self._dump.run.origin else "never called"
        lines = f"line {', '.join(map(str, kernel.launches[:6]))}" if kernel.launches else never
        head = joined(
            element("i", f"k{place + 1}", class_="dim"),
            " ",
            element("b", one_line(kernel.name)[:_LONGEST]),
            " ",
            element("i", f"{kernel.kind}, output code {lines}", class_="dim"),
        )
        marks = self._marks(nodes)
        text = self._dump.text(kernel.graph, kernel.source) if kernel.source else None
        at = self._places.take("kernel", kernel.name)
        if text is None:
            return element("div", head, class_="kernel extern", data_n=marks, id=at)
        rows = {row.line: row for row in self._statements.of_all_calls(kernel)}
        stages = KernelStages(self._dump, kernel)
        parts = [element("summary", head, data_n=marks)]
        if stages.compiled:
            parts.append(element("p", binary_text(stages.compiled), class_="dim"))
        if self._budget.takes(text):
            source = (self._statement(row, number, rows.get(number)) for number, row in enumerate(text.splitlines(), 1))
            parts.append(element("div", *source, class_="source"))
        else:
            parts.append(self._budget.too_long(kernel.source or ""))
        parts += self._stages(kernel, stages)
        return element("details", *parts, class_="kernel", id=at)

    def _statement(self, text: str, number: int, row: Annotated | None) -> Markup:
        nodes = [] if row is None else [self._of.key(row.graph, name) for name in row.nodes]
        note = "" if row is None or not row.nodes else "  ".join((row.nodes[0], *map(place_text, row.lines[:1])))
        return self._row(text, nodes, str(number), note)

    def _stages(self, kernel: Kernel, stages: KernelStages) -> Iterator[Markup]:
        """What the configuration that runs was compiled to."""
        if not stages.compiled:
            return
        row = stages.compiled[0]
        there = stages.names(row)
        for name in STAGES:
            if name not in there:
                continue
            stage = stages.stage(row, name)
            if not stage.text:
                yield element("p", stage.note, class_="dim")
                continue
            title = f"{name}  {row.label}"
            if not self._budget.takes(stage.text):
                yield self._budget.too_long(title)
                continue
            lines = self._stage(kernel, stage)
            yield element("details", element("summary", title), element("div", *lines, class_="source"))

    def _stage(self, kernel: Kernel, stage: Stage) -> Iterator[Markup]:
        for line in annotated_lines(self._statements, kernel, stage):
            if says_places_only(line.text):
                continue
            nodes = [self._of.key(line.graph, name) for name in line.nodes]
            note = f"source {line.source[0]}" if line.source else ""
            yield self._row(line.text, nodes, str(line.line), note)

    def _row(self, text: str, nodes: Iterable[str], number: str, note: str, place: str | None = None) -> Markup:
        """A line of code with its number and its note."""
        marks = self._marks(nodes)
        cut = text.rstrip() if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        mark = f' data-n="{marks}"' if marks else ""
        mark += f' id="{escaped(place)}"' if place else ""
        suffix = f"<i>{escaped(note)}</i>" if note else ""
        return Markup(f"<div{mark}><u>{escaped(number)}</u><code>{escaped(cut)}</code>{suffix}</div>\n")

    def _marks(self, nodes: Iterable[str]) -> str | None:
        found = [str(self._number[name]) for name in nodes if name in self._number]
        return " ".join(found[:_MOST_NUMBERS]) or None
