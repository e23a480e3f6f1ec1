"""How the compile of a graph stands."""

from typing import NamedTuple

from inspect_compile.analysis.run_state import run_state
from inspect_compile.dump import Dump
from inspect_compile.tables.text import one_line
from inspect_compile.tui.models.sheet import Span

Paragraph = list[Span]


class Page(NamedTuple):
    """Text to read: paragraphs, of which an empty one is a blank line."""

    paragraphs: list[Paragraph]


class GraphState(NamedTuple):
    """How the compile of a graph stands."""

    has_ended: bool
    failure: Page | None
    """Why it did not end well."""


def graph_state(dump: Dump, graph: str) -> GraphState:
    """Of a nested graph, how the compile around it stands."""
    end = dump.graph_end(graph.split("/", 1)[0])
    if end is None:
        if run_state(dump).is_growing:
            return GraphState(False, None)
        torn = "✗ The compile never ended: this is what was recorded up to then."
        return GraphState(False, Page([[Span(torn, "bad")]]))
    if end.status != "failed":
        return GraphState(True, None)
    exception = one_line(end.exception or "no exception was recorded")
    return GraphState(True, Page([[Span("✗ The compile failed. ", "bad"), Span(exception)]]))
