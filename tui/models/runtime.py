"""What was recorded when the compiled code ran: CUDA graphs and measured times."""

from inspect_compile.analysis.dumps.graphs import outermost
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.analysis.runtime.measured import measured_graph
from inspect_compile.dump import Dump
from inspect_compile.facts import Launched
from inspect_compile.tables.columns import Span
from inspect_compile.tables.runtime.cudagraphs import function_words, graph_words
from inspect_compile.tables.runtime.measured import sum_words
from inspect_compile.tui.models.state import Paragraph

_MOST = 20


def runtime_summary(dump: Dump) -> list[Paragraph]:
    """A line for each graph; empty if nothing was recorded."""
    shown: list[Paragraph] = []
    if rows := cudagraph_rows(dump):
        names = dict.fromkeys(row.graph for row in rows)
        shown += [[], [Span("CUDA graphs", "title"), Span(f"   inspect-compile show {dump.root} cudagraphs", "dim")]]
        for name in list(names)[:_MOST]:
            own = [row for row in rows if row.graph == name]
            style = "warn" if any(row.skipped for row in own) else ""
            shown.append([Span(name or function_words(own[0]), "name"), Span(f"  {graph_words(own)}", style)])
        if len(names) > _MOST:
            shown.append([Span(f"… {len(names) - _MOST:,} more graphs", "dim")])
    if dump.rows(Launched):
        shown += [[], [Span("Measured", "title"), Span(f"   inspect-compile show {dump.root} measured", "dim")]]
        for graph in outermost(dump)[:_MOST]:
            if (found := measured_graph(dump, graph.graph)) is not None:
                shown.append([Span(graph.graph, "name"), Span(f"  {sum_words(found)}")])
    return shown
