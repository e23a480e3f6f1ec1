"""Figures of all graphs together: what was compiled, who holds most memory, what is accounted for."""

from collections import Counter
from collections.abc import Sequence

from inspect_compile.analysis.overview.records import GraphSummary, Totals
from inspect_compile.analysis.overview.summary import summarize
from inspect_compile.graph import Graphs


def graph_rows(graphs: Graphs) -> list[GraphSummary]:
    """The figures of each outermost graph, in order."""
    return [summarize(found) for found in graphs]


def totals(rows: list[GraphSummary], cold: Sequence[str] = ()) -> Totals:
    """The figures of these graphs together; `cold` names those whose times are left out of the lines' costs."""
    kernels = sum((Counter(row.kernels) for row in rows), Counter[str]())
    highest = max(rows, key=lambda row: row.peak_bytes, default=None)
    compiled = [row for row in rows if row.status == "compiled"]
    nodes = sum(row.nodes for row in compiled)
    missing = sum(len(row.missing) for row in compiled)
    return Totals(
        graphs=len(rows),
        nodes=sum(row.nodes for row in rows),
        operations=sum(row.operations for row in rows),
        groups=sum(row.groups for row in rows),
        kernels=dict(kernels),
        launches=sum(row.launches for row in rows),
        flops=sum(row.flops for row in rows),
        moved_bytes=sum(row.moved_bytes for row in rows),
        fused=sum(row.fused for row in rows),
        missed_pairs=sum(row.missed_pairs for row in rows),
        highest="" if highest is None else highest.graph,
        peak_bytes=0 if highest is None else highest.peak_bytes,
        peak_line=None if highest is None else highest.peak_line,
        accounted=1 - missing / nodes if nodes else 1.0,
        incomplete=tuple(row.graph for row in rows if row.status != "compiled"),
        cold=tuple(cold),
    )
