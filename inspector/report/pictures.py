"""The drawings of `draw` as they stand in the page: without style elements and ids, which the page has itself."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.frontend.times import parts
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import Drawn, Kind, Missing, Wanted
from inspect_compile.diagrams.render import svg
from inspect_compile.diagrams.schedule.schedule import PHASES, schedule_dot
from inspect_compile.diagrams.schedule.sections import LONGEST
from inspect_compile.diagrams.timeline import timeline
from inspect_compile.errors import CommandError
from inspect_compile.facts import Operation
from inspect_compile.knowledge.origins import unknown_text
from inspect_compile.report.markup import Markup, element
from inspect_compile.report.packing import packed
from inspect_compile.tables.text import unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph

SECONDS: Final = 20.0
"""How long Graphviz may take for one picture of a page."""

LARGEST: Final = 2_500_000
"""Maximum size of a picture, in characters."""

UNFOLDED_UP_TO: Final = 600
"""Operations up to which a folded schedule also stands unfolded below."""

_STYLE: Final = re.compile(r"<style>[^<]*</style>")
_ID: Final = re.compile(r'<g id="[^"]*"')


def figure(drawing: str, title: str) -> Markup:
    """A drawing of ours with its title; its texts are escaped already."""
    start = drawing.find("<svg")
    inner = _ID.sub("<g", _STYLE.sub("", drawing[start:]))
    drawn = element("div", Markup(inner), class_="canvas", tabindex="0", role="img", aria_label=title)
    return element("figure", element("figcaption", title), packed(drawn, f"the picture of {title}"), class_="picture")


def missing(title: str, why: str) -> Markup:
    """What is said in place of a drawing."""
    return element("p", f"{title}: {unbroken(why)}", class_="dim")


def pictures(graph: "CompiledGraph") -> Iterator[Markup]:
    """Everything that can be drawn of one graph."""
    name = f"{unbroken(graph.name)}  {graph.fact.kind} {graph.fact.compile_id or ''}".rstrip()
    recorded = {row.phase for row in graph.rows(Operation)}
    if "post_fusion" in recorded:
        title = f"{name}: the schedule {PHASES['post_fusion']}"
        size = sum(row.phase == "pre_fusion" for row in graph.rows(Operation))
        yield _drawn(title, lambda: _schedule(graph, fold=size > LONGEST))
        if LONGEST < size <= UNFOLDED_UP_TO:
            whole = _drawn(f"{title}, each operation", lambda: _schedule(graph, fold=False))
            yield element("details", element("summary", "the same, unfolded: a box for each operation"), whole)
    for kind in KINDS.values():
        if kind.on_page is not None and not kind.is_of_run:
            yield from _of_kind(kind, kind.on_page, graph.dump, [graph], f"{name}: ")


def compile_timeline(dump: "Dump", title: str) -> Markup | None:
    """The timers of the whole run; None if none was recorded."""
    found = parts(dump)
    return figure(timeline(found, title), "where compile time is spent") if found else None


def _drawn(title: str, draw: Callable[[], str]) -> Markup:
    try:
        drawing = draw()
    except CommandError as error:
        return missing(title, str(error))
    if len(drawing) > LARGEST:
        return missing(title, "too large for this page; write it to a file with inspect-compile draw")
    return figure(drawing, title)


def folded_schedule(graph: "CompiledGraph") -> Markup:
    """The schedule after fusion in its smallest form."""
    return _drawn("the schedule after fusion, folded", lambda: _schedule(graph, fold=True))


def _schedule(graph: "CompiledGraph", *, fold: bool) -> str:
    return svg(schedule_dot(graph, "post_fusion", fold=fold), SECONDS)


def of_run(dump: "Dump") -> Iterator[Markup]:
    """What can be drawn of all that was compiled."""
    for kind in KINDS.values():
        if kind.on_page is not None and kind.is_of_run and not kind.is_of_ranks:
            yield from _of_kind(kind, kind.on_page, dump, [], "")


def of_ranks(dump: "Dump") -> Iterator[Markup]:
    """What can be drawn of all ranks of a run together."""
    for kind in KINDS.values():
        if kind.on_page is not None and kind.is_of_ranks:
            yield from _of_kind(kind, kind.on_page, dump, [], "")


def _of_kind(kind: Kind, wanted: Wanted, dump: "Dump", graphs: "list[CompiledGraph]", of: str) -> Iterator[Markup]:
    if unknown := unknown_text(dump.run.origin, f"draw {kind.name}"):
        yield missing(of.removesuffix(": "), unknown) if of else element("p", unknown, class_="dim")
        return
    try:
        found = list(kind.draw(dump, graphs, wanted))
    except CommandError as error:
        yield missing(f"{of}{kind.name}", str(error))
        return
    for one in found:
        if isinstance(one, Missing):
            yield missing(f"{of}{kind.name}", one.why)
        else:
            yield _drawn(f"{of}{one.title}", partial(_text_of, one))


def _text_of(drawn: Drawn) -> str:
    return drawn.text if drawn.form == "svg" else svg(drawn.text, SECONDS)
