"""A recording in a notebook: overview, findings and one picture, small, and with no text of the program unescaped."""

import base64
import shlex
from typing import TYPE_CHECKING, Final

from inspect_compile import tables
from inspect_compile.diagrams.render import svg
from inspect_compile.diagrams.schedule.schedule import schedule_dot
from inspect_compile.errors import CommandError, DumpError
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.report.blocks import shown
from inspect_compile.report.markup import Markup, element, escaped

if TYPE_CHECKING:
    from inspect_compile.api.recording import Recording

FINDINGS: Final = 5
"""Findings that are listed; the overview says how many there are."""
SECONDS: Final = 5.0
"""How long Graphviz may take: whoever looks at a cell waits for it."""
LARGEST: Final = 300_000
"""Maximum size of the picture, in characters: a notebook keeps what it shows."""

STYLE: Final = Markup(
    "<style>"
    ".inspect-compile i { font-style: normal; }"
    ".inspect-compile pre, .inspect-compile table { font: 12px/1.4 monospace; text-align: left; }"
    ".inspect-compile pre { white-space: pre-wrap; }"
    ".inspect-compile td, .inspect-compile th { text-align: left; padding: 0 1em 0 0; }"
    ".inspect-compile .dim { opacity: .7; } .inspect-compile .strong { font-weight: bold; }"
    ".inspect-compile .good { color: #00805f; } .inspect-compile .warn { color: #b06a00; }"
    ".inspect-compile .bad { color: #d0311c; }"
    ".inspect-compile img { max-width: 100%; background: white; }"
    "</style>"
)


def page(recording: "Recording") -> str:
    """The HTML of `recording`. What cannot be read of it is said in a line; nothing is raised."""
    try:
        blocks = list(_blocks(recording))
    except (CommandError, DumpError) as error:
        blocks = [element("p", str(error))]
    return element("div", STYLE, *blocks, class_="inspect-compile")


def _blocks(recording: "Recording") -> list[Markup]:
    called = shlex.quote(str(recording.root))
    if not recording.graphs():
        told = recording.nothing or "nothing is recorded yet"
        return [element("p", f"{told}. Recorded in {called}")]
    graphs = Graphs(recording)
    overview = shown(tables.table("overview", graphs, dump_argument=called)).html
    findings = shown(tables.table("findings", graphs, limit=FINDINGS, dump_argument=called)).html
    first, *others = recording.outermost()
    more = f", the first of {len(others) + 1} graphs" if others else ""
    return [
        overview,
        element("details", element("summary", "findings"), findings),
        element(
            "details",
            element("summary", f"what became one kernel{more}"),
            _picture(CompiledGraph(recording, first.graph)),
        ),
        element("p", f"inspect-compile open {called}", class_="dim"),
    ]


def _picture(graph: CompiledGraph) -> Markup:
    """As an image, in which nothing reaches the page around it."""
    try:
        drawn = svg(schedule_dot(graph, "post_fusion", fold=True), SECONDS)
    except CommandError as error:
        return element("p", str(error), class_="dim")
    if len(drawn) > LARGEST:
        return element("p", f"too large for a notebook: inspect-compile draw {graph.dump.root} schedule", class_="dim")
    data = base64.b64encode(drawn.encode()).decode()
    return Markup(f'<img alt="{escaped("the schedule after fusion")}" src="data:image/svg+xml;base64,{data}">')
