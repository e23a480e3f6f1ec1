"""`draw --list`: what can be drawn of a dump, graph by graph."""

import sys
from typing import TYPE_CHECKING, NamedTuple

from inspect_compile.commands.drawing.charts import CHARTS
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph


class _Drawing(NamedTuple):
    """One row."""

    graph: str
    what: str
    told: str


def print_drawings(dump: "Dump", heats: "Sequence[str]") -> None:
    """A line for each drawing: its size, or why there is none."""
    from inspect_compile.analysis.dumps.graphs import outermost
    from inspect_compile.tables.text import columns, one_line

    rows = [("graph", "draw", "what there is")]
    for graph in outermost(dump):
        rows += [(one_line(row.graph), row.what, row.told) for row in _drawings(dump, graph, heats)]
    sys.stdout.write("".join(f"{line}\n" for line in columns(rows)))


def _drawings(dump: "Dump", graph: "Graph", heats: "Sequence[str]") -> "Iterator[_Drawing]":
    from inspect_compile.diagrams.schedule.heat import HEATS
    from inspect_compile.diagrams.schedule.schedule import PHASES, is_folded
    from inspect_compile.diagrams.schedule.units import schedule
    from inspect_compile.tables.text import number_of

    for phase, words in PHASES.items():
        found = schedule(dump, graph.graph, phase)
        count = sum(1 for unit in found.units for _ in unit.groups)
        told = number_of(count, "scheduler node") if count else "not recorded"
        yield _Drawing(graph.graph, f"schedule, {words}", f"{told}{', folded' * is_folded(found)}")
    for heat in heats:
        told = "yes" if HEATS[heat](dump, graph.graph) is not None else "nothing of this was recorded"
        yield _Drawing(graph.graph, f"schedule --heat {heat}", told)
    for name, chart in CHARTS.items():
        try:
            told = "yes" if chart.svg(dump, graph) is not None else chart.nothing
        except CommandError as error:
            told = str(error)
        yield _Drawing(graph.graph, name, told)
