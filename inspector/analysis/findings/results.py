"""Results that a check of numerics found wrong or not the same each time, and memory that could be less."""

from collections.abc import Iterator

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding, parts_at
from inspect_compile.analysis.findings.trials import setting_of, trial_of
from inspect_compile.analysis.memory.remarks import CODE, memory_remarks
from inspect_compile.analysis.numerics.remarks import numerics_remarks
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, Graphs, outermost
from inspect_compile.knowledge.cost.sure import MEASURED
from inspect_compile.knowledge.overview.findings import MEMORY, NUMERICS, WORDS


def numerics(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each kernel, or level, with a wrong result, with one that varies, and for each first NaN and Inf."""
    names = {graph.name for graph in graphs}
    for row in numerics_remarks(Graphs(dump)):
        if outermost(row.graph) in names:
            yield Finding(
                kind=NUMERICS,
                graph=row.graph,
                what=WORDS[NUMERICS].what,
                parts=parts_at(row.place, row.ids[-1] if row.ids else ""),
                sure=MEASURED,
                why=row.message,
                names=row.ids[:1],
            )


def memory(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Graphs whose peak would be lower if buffers were not reused."""
    for graph in graphs:
        for row in memory_remarks(graph):
            if row.code == CODE:
                knob = setting_of(row)
                yield Finding(
                    kind=MEMORY,
                    graph=graph.name,
                    what=WORDS[MEMORY].what,
                    bytes=int(row.numbers["peak"]) - int(row.numbers["without"]),
                    why=row.message,
                    knob=knob,
                    trial=trial_of(graph, knob),
                    names=(graph.name,),
                )
