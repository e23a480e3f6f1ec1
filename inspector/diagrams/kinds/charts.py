"""Charts of one graph, drawn without Graphviz: its memory, its kernels under the roofline, its compile's timers."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.diagrams.kinds.kind import Drawn, Kind, Missing, Pictures, Wanted
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph, Graphs


def _memory(graph: "CompiledGraph", wanted: Wanted) -> str | None:
    from inspect_compile.analysis.memory.holders import holders
    from inspect_compile.analysis.memory.lanes import lanes, step_memory
    from inspect_compile.diagrams.memory import FOLDED, folded_chart, memory_chart
    from inspect_compile.diagrams.schedule.schedule import title

    found = graph.memory
    if not found.steps:
        return None
    held = holders(graph, found)
    if wanted.fold is False or (wanted.fold is None and len(held) < FOLDED):
        return memory_chart(found, held, title(graph, "memory"))
    return folded_chart(found, lanes(graph, found, held), step_memory(graph), title(graph, "memory"))


def _roofline(graph: "CompiledGraph", _: Wanted) -> str | None:
    from inspect_compile.analysis.cost.roofline import roofline
    from inspect_compile.analysis.cost.roofline_plot import plot
    from inspect_compile.analysis.cost.roofs import roof_of
    from inspect_compile.diagrams.roofline import roofline_svg
    from inspect_compile.diagrams.schedule.schedule import title
    from inspect_compile.tables.cost.roofline import no_roof_text

    roof = roof_of(graph.dump)
    if roof is None:
        raise CommandError(no_roof_text(graph.dump))
    found = plot(roofline(graph, roof), roof)
    return roofline_svg(found, title(graph, "roofline")) if found.points else None


def _timeline(graph: "CompiledGraph", _: Wanted) -> str | None:
    from inspect_compile.analysis.frontend.times import parts
    from inspect_compile.diagrams.schedule.schedule import title
    from inspect_compile.diagrams.timeline import timeline

    found = [part for part in parts(graph.dump) if part.graph == graph.fact.compile_id]
    return timeline(found, title(graph, "compile time")) if found else None


def _chart(
    name: str,
    what: str,
    nothing: str,
    svg: "Callable[[CompiledGraph, Wanted], str | None]",
    on_page: Wanted | None = None,
    options: frozenset[str] = frozenset(),
) -> Kind:
    """`svg` gives None for a graph that has `nothing` of it."""

    def draw(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
        for graph in graphs:
            found = svg(graph, wanted)
            yield Missing(graph.fact, nothing) if found is None else Drawn(graph.fact, name, what, found, "svg")

    def listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
        for graph in graphs:
            try:
                status = nothing if svg(graph, Wanted()) is None else "yes"
            except CommandError as error:
                status = str(error)
            yield name, status

    return Kind(name, what, draw, listed, options, on_page=on_page)


MEMORY = _chart(
    "memory",
    "memory in use after each line, and what each source line holds",
    "no lines of a wrapper were recorded",
    _memory,
    Wanted(),
    frozenset({"fold"}),
)
ROOFLINE = _chart(
    "roofline",
    "each kernel against the device's roofline",
    "none of its kernels computes anything that is counted",
    _roofline,
    Wanted(),
)
_NOT_TIMED: Final = "no timers were recorded"
TIMELINE = _chart("timeline", "where compile time is spent", _NOT_TIMED, _timeline)


def _startup(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.analysis.frontend.whole_start import start_of_run
    from inspect_compile.diagrams.startup import startup_svg
    from inspect_compile.tables.text import program_words

    found = start_of_run(dump)
    if found is None:
        yield Missing(None, _NOT_TIMED)
        return
    drawn = startup_svg(found, " ".join(program_words(dump.run.argv)) or "torch.compile")
    yield Drawn(None, "startup", "all processes from the start of the first to the last compile", drawn, "svg")


def _startup_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.analysis.frontend.whole_start import start_of_run

    yield "startup", _NOT_TIMED if start_of_run(graphs.dump) is None else "yes"


STARTUP = Kind(
    "startup",
    "all processes from the first start to the last compile: imports, Dynamo, AOTAutograd, Inductor, kernels, caches",
    _startup,
    _startup_listed,
    is_of_run=True,
    is_of_ranks=True,
)
