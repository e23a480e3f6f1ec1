"""All remarks of a dump: those that were recorded, and those that are derived from its facts."""

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.memory.remarks import memory_remarks
from inspect_compile.analysis.numerics.remarks import numerics_remarks
from inspect_compile.analysis.runtime.collectives import collective_remarks
from inspect_compile.dump import Dump
from inspect_compile.facts import Remark


def remark_rows(dump: Dump, graph: str | None = None) -> list[Remark]:
    """The remarks about `graph`, graphs nested in it, its compile and the run; without a graph all of them."""
    found = list(dump.rows(Remark))
    if graph is not None:
        about = {"", graph, *(row.compile_id for row in graphs_of(dump, graph))}
        found = [row for row in found if row.graph in about or row.graph.startswith(f"{graph}/")]
    derived = memory_remarks(dump, graph), collective_remarks(dump, graph), numerics_remarks(dump, graph)
    return [*found, *(row for rows in derived for row in rows)]
