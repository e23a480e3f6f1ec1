"""All findings of a dump: what each kind finds, equal ones as one, the most expensive first."""

from collections.abc import Callable, Iterator
from typing import Final

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.findings import copies, frames, fusions, kernels, oddities, operators, results
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding, merged
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph

Kind = Callable[[Dump, list[Graph], Costs], Iterator[Finding]]
"""Finds what there is of one kind in these outermost graphs of a dump."""

KINDS: Final[tuple[Kind, ...]] = (
    results.numerics,
    frames.breaks,
    frames.recompiles,
    frames.caches,
    fusions.found,
    copies.found,
    operators.found,
    kernels.spills,
    kernels.cudagraphs,
    results.memory,
    oddities.found,
)
"""Every kind of finding; new ones are added here."""


def findings(dump: Dump, graph: str | None = None) -> list[Finding]:
    """The findings of `graph`, its compile and the run; without a graph those of the whole dump."""
    graphs, costs = graphs_of(dump, graph), Costs(dump)
    found = [row for kind in KINDS for row in kind(dump, graphs, costs)]
    if graph is not None:
        about = {"", *(one.compile_id for one in graphs)}
        found = [row for row in found if row.graph in about or row.graph == graph or row.graph.startswith(f"{graph}/")]
    return merged(found)
