"""The state of a graph's compile, and what is being compiled at the moment."""

import time
from typing import Final, NamedTuple

from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.overview.nothing import advice_for
from inspect_compile.tables.styled_text import StyledLine, joined, styled
from inspect_compile.tables.text import one_line

WHAT_TO_DO: Final = "→ 4 shows how far the lowering got; `inspect-compile doctor` checks this machine"


class GraphState(NamedTuple):
    """The state of a graph's compile."""

    has_ended: bool
    failure: list[StyledLine] | None
    """Why it did not end well."""


def graph_state(graph: CompiledGraph) -> GraphState:
    """The state of a graph's compile; for a nested graph that of the enclosing one."""
    end = graph.dump.graph_end(graph.name.split("/", 1)[0])
    if end is None:
        if run_state(graph.dump).is_growing:
            return GraphState(False, None)
        torn = "✗ The compile never ended: this was recorded before the program stopped."
        return GraphState(False, [styled(torn, "bad")])
    if end.status == "stopped":
        sentence = "▲ Recorded in part: the dump reached its size limit before this compile ended."
        return GraphState(True, [styled(sentence, "warn")])
    if end.status != "failed":
        return GraphState(True, None)
    exception = one_line(end.exception or "no exception was recorded")
    advice = advice_for(exception)
    what_to_do = f"→ {advice}" if advice is not None else WHAT_TO_DO
    return GraphState(True, [joined(("✗ The compile failed. ", "bad"), exception), styled(what_to_do, "good")])


def still_compiling(dump: Dump, graph: str) -> str:
    """Why something of a graph is not there yet; empty once its compile has ended."""
    if dump.graph_end(graph.partition("/")[0]) is not None or not run_state(dump).is_growing:
        return ""
    return "Not there yet: the graph is still being compiled."


def progress_now(dump: Dump) -> tuple[str, str]:
    """The stage in short, for the line at the top, and everything in a sentence; empty if nothing is compiled."""
    from inspect_compile.analysis.frontend.progress import progress  # only of a dump that grows
    from inspect_compile.tables.frontend.progress import progress_text, short_progress_text

    found = progress(dump, time.time())
    return ("", "") if found is None else (short_progress_text(found), progress_text(found))
