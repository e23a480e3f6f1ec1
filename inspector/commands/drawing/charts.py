"""`draw DUMP memory` and `draw DUMP roofline`: a chart of each graph, as SVG."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.errors import CommandError
from inspect_compile.tables.text import unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph

_OF_SCHEDULES: Final = ("phase", "around", "refused", "fold", "heat", "timeout")
"""Options that do not apply to a chart."""


class _Chart(NamedTuple):
    svg: "Callable[[Dump, Graph], str | None]"
    """None if there is nothing to draw."""
    nothing: str
    """What a graph without a chart lacks."""


def _memory(dump: "Dump", graph: "Graph") -> str | None:
    from inspect_compile.analysis.memory.holders import holders
    from inspect_compile.analysis.memory.plan import memory
    from inspect_compile.diagrams.memory import memory_chart

    found = memory(dump, graph.graph)
    return memory_chart(found, holders(dump, graph.graph, found), graph.graph) if found.steps else None


def _roofline(dump: "Dump", graph: "Graph") -> str | None:
    from inspect_compile.analysis.cost.roofline import roofline
    from inspect_compile.analysis.cost.roofline_plot import plot
    from inspect_compile.analysis.cost.roofs import roof_of
    from inspect_compile.diagrams.roofline import roofline_svg
    from inspect_compile.tables.cost.roofline import no_roof_text

    roof = roof_of(dump)
    if roof is None:
        raise CommandError(no_roof_text(dump))
    found = plot(roofline(dump, graph.graph, roof), roof)
    return roofline_svg(found, f"{graph.graph}  {graph.kind} {graph.compile_id or ''}") if found.points else None


def _timeline(dump: "Dump", graph: "Graph") -> str | None:
    """The timers of the graph's compile."""
    from inspect_compile.analysis.frontend.times import parts
    from inspect_compile.diagrams.timeline import timeline

    found = [part for part in parts(dump) if part.graph == graph.compile_id]
    return timeline(found, f"{graph.graph}, compile {graph.compile_id}") if found else None


CHARTS: Final[dict[str, _Chart]] = {
    "memory": _Chart(_memory, "no lines of a wrapper were recorded"),
    "timeline": _Chart(_timeline, "no timers were recorded"),
    "roofline": _Chart(_roofline, "none of its kernels computes anything that is counted"),
}
"""Name of the chart in the command → chart."""


def draw_chart(
    name: str,
    arguments: argparse.Namespace,
    dump: "Dump",
    graphs: "list[Graph]",
    place: "Callable[[Graph], Path]",
    write: Callable[[Path, bytes], None],
) -> None:
    """Write a chart of each graph at `place`, which is without extension, and print the path."""
    given = [f"--{option}" for option in _OF_SCHEDULES if getattr(arguments, option) not in (None, False)]
    if given:
        raise CommandError(f"{given[0]} chooses what is drawn of a schedule; {name} is drawn whole")
    ending = Path(arguments.output or "").suffix.lower()
    if (arguments.format or "svg") != "svg" or ending in (".png", ".dot"):
        raise CommandError(f"{name} is drawn as SVG alone, not as {arguments.format or ending[1:]}")
    drawn = 0
    for graph in graphs:
        svg = CHARTS[name].svg(dump, graph)
        if svg is None:
            sys.stderr.write(f"{unbroken(graph.graph)}: {CHARTS[name].nothing}\n")
            continue
        path = place(graph)
        path = path.with_name(f"{path.name}.svg")
        write(path, svg.encode())
        sys.stdout.write(f"{unbroken(str(path))}\n")
        drawn += 1
    if not drawn:
        raise CommandError(f"{dump.root}: no {name} to draw; the program may still be compiling")
