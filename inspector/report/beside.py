"""Two or more compiles side by side: of each graph its schedule, and of each kernel that differs its sources."""

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.compare.side_by_side import KernelSide, Side, SideRow
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.report.markup import Budget, Markup, element, escaped, joined
from inspect_compile.report.pictures import folded_schedule
from inspect_compile.tables.text import byte_text, number_of, one_line, time_text

MOST_SIDES: Final = 4
"""More do not fit beside each other."""
MOST_PICTURES: Final = 4
"""Graphs whose schedules are drawn beside each other."""
_LONGEST: Final = 400
"""Maximum characters of a line of code."""


def beside_each_other(sides: Sequence[Side], rows: Sequence[SideRow], budget: Budget) -> Iterator[Markup]:
    """A block for each graph, and below it one for each kernel that is not the same on all of the first sides."""
    few = sides[:MOST_SIDES]
    sources = [{Id.of(row): row.source for row in side.dump.rows(Kernel)} for side in few]
    if len(few) < len(sides):
        yield element("p", f"Side by side are the first {len(few)} of {len(sides)}.", class_="dim")
    graphs = 0
    for row in rows:
        known = row.sides[: len(few)]
        if not row.kernel:
            graphs += 1
            yield element("h3", one_line(row.graph))
            if graphs <= MOST_PICTURES:
                yield _columns([_graph(side, of) for side, of in zip(few, known, strict=True)])
        elif not row.is_same and any(known):
            texts = [
                None if of is None else _text(CompiledGraph(side.dump, of.graph), own.get(Id(of.graph, of.kernel)))
                for side, of, own in zip(few, known, sources, strict=True)
            ]
            yield _kernels(few, known, texts, budget)


def _columns(columns: Sequence[Markup]) -> Markup:
    return element("div", *columns, class_=f"sides n{len(columns)}")


def _graph(side: Side, of: KernelSide | None) -> Markup:
    if of is None:
        return _column(side, "has no such graph")
    note = f"{number_of(of.kernels, 'kernel')}, {number_of(of.launches, 'launch', 'launches')}, {_costs(of)}"
    return _column(side, note, folded_schedule(CompiledGraph(side.dump, of.graph)))


def _costs(of: KernelSide) -> str:
    return byte_text(of.bytes) + (f", {time_text(of.seconds)} measured" if of.seconds is not None else "")


def _column(side: Side, note: str, *inner: Markup) -> Markup:
    head = element("h4", joined(side.name, "  ", element("i", note)))
    return element("div", head, *inner, class_="column")


def _kernels(
    sides: Sequence[Side], known: Sequence[KernelSide | None], texts: Sequence[str | None], budget: Budget
) -> Markup:
    """The sources of one kernel's counterparts; lines that another side does not have are marked."""
    lines = [[] if text is None or of is None else _named(text, of) for text, of in zip(texts, known, strict=True)]
    there = [frozenset(own) for own in lines]
    columns = []
    for place, (side, of) in enumerate(zip(sides, known, strict=True)):
        if of is None:
            columns.append(_column(side, "has no counterpart"))
            continue
        note = f"{one_line(of.kernel)}  {number_of(of.launches, 'launch', 'launches')}, {_costs(of)}"
        text = texts[place]
        if text is None:
            columns.append(_column(side, note, element("p", "its source is not in the dump", class_="dim")))
        elif not budget.takes(text):
            columns.append(_column(side, note, budget.too_long("its source")))
        else:
            others = [own for other, own in enumerate(there) if other != place and known[other] is not None]
            code = (
                _line(number, shown, is_own=not all(line in own for own in others))
                for number, (shown, line) in enumerate(zip(text.splitlines(), lines[place], strict=True), 1)
            )
            columns.append(_column(side, note, element("div", *code, class_="pane", tabindex="0")))
    title = next(one_line(of.kernel) for of in known if of is not None)
    return element("details", element("summary", element("b", title)), _columns(columns))


def _text(graph: "CompiledGraph", source: str | None) -> str | None:
    return graph.text(source) if source else None


def _named(text: str, of: KernelSide) -> list[str]:
    """The lines as they are compared: without the kernel's own name, which carries a number, and without indents."""
    own = of.kernel or "kernel"
    return [line.replace(own, "kernel").strip() for line in text.splitlines()]


def _line(number: int, text: str, *, is_own: bool) -> Markup:
    cut = text.rstrip() if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    mark = ' class="own"' if is_own and cut.strip() else ""
    return Markup(f"<div{mark}><u>{number}</u><code>{escaped(cut)}</code></div>\n")
