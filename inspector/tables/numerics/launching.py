"""The line of a graph's code that makes a wrong launch, and the lines that were loaded in another form."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.numerics.excerpts import output_line
from inspect_compile.analysis.numerics.verdicts import Judged
from inspect_compile.facts import LoadedLine
from inspect_compile.graph import CompiledGraph, grouped, outermost
from inspect_compile.knowledge.numerics.levels import COMPILED
from inspect_compile.tables.styled_text import StyledLine, joined, styled
from inspect_compile.tables.text import number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_SHOWN: Final = 3
"""Maximum number of launches, and of changed lines of a graph, that are printed."""


def launching_lines(dump: "Dump", wrong: Sequence[Judged], named: Sequence[tuple[str, str]]) -> Iterator[StyledLine]:
    """What the lines are that make the launches with results that are `wrong`. Of `named`, each a graph and a kernel,
    the wrong statement is known: their launches are printed only where they were loaded in another form.
    """
    changed = grouped(dump.rows(LoadedLine), lambda one: one.graph)
    for graph, line, kernel in list(dict.fromkeys((row.graph, row.line, row.kernel) for row in wrong))[:_SHOWN]:
        here = [one for one in changed.get(outermost(graph), ()) if one.line == line]
        if here and line is not None:
            yield from map(_changed, here)
            continue
        text = "" if line is None else output_line(CompiledGraph(dump, graph), line)
        if text and (graph, kernel) not in named:
            yield joined(f"the launch, line {line} of {graph}: ", (text, "alarm"))
    for graph in dict.fromkeys(row.graph for row in wrong if row.level == COMPILED):
        yield from map(_changed, changed.get(graph, [])[:_SHOWN])
    for graph, lines in changed.items():
        count = number_of(len(lines), "line")
        yield styled(f"{count} of {graph} not loaded as torch generated it: the loaded code was checked", "warn")


def _changed(one: LoadedLine) -> StyledLine:
    was = f"torch generated: {one.generated}" if one.generated else "torch did not generate it"
    head = f"line {one.line} of {one.graph} "
    loaded = joined(head, "was loaded as: ", (one.loaded, "alarm")) if one.loaded else joined(head, "is not loaded")
    return joined(loaded, "\n", f"  {was}")
