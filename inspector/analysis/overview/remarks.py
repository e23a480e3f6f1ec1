"""All remarks of a dump: those that were recorded, and those that are derived from its facts."""

from inspect_compile.analysis.memory.remarks import memory_remarks
from inspect_compile.analysis.numerics.remarks import numerics_remarks
from inspect_compile.analysis.runtime.collectives import collective_remarks
from inspect_compile.facts import Remark
from inspect_compile.graph import Graphs


def remark_rows(graphs: Graphs) -> list[Remark]:
    """The remarks about `graph`, graphs nested in it, its compile and the run; without a graph all of them."""
    found = list(graphs.dump.rows(Remark))
    if graphs.name is not None:
        about = {"", graphs.name, *(row.compile_id for row in graphs.facts)}
        found = [row for row in found if row.graph in about or row.graph.startswith(f"{graphs.name}/")]
    derived = memory_remarks(graphs), collective_remarks(graphs), numerics_remarks(graphs)
    return [*found, *(row for rows in derived for row in rows)]
