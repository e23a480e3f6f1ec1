"""Writes a picture as DOT. Everything from a dump is escaped here, and nowhere else."""

import html
import math
import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

import graphviz

from inspect_compile.diagrams.legend import legend
from inspect_compile.diagrams.look import (
    ARROWS,
    FAINT,
    FONT,
    FRAMES,
    INK,
    LEAST_BYTES,
    LOOKS,
    PAPER,
    THICKEST,
    THINNEST,
)
from inspect_compile.diagrams.picture import Arrow, Box, Frame, Picture, Section, Shade, boxes_in

_NO_TEXT: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""Characters that are not allowed in XML, and so in HTML-like labels and SVG; control characters; characters that
change the writing direction.
"""

_MEANING: Final = re.compile(r"\\|&(?=#?\w+;)")
_JOINER: Final = "\u2060"
"""An invisible character: after a backslash or an ampersand it removes the special meaning of what follows."""

_GRAPH: Final = {
    "bgcolor": PAPER,
    "charset": "UTF-8",
    "compound": "true",
    "fontcolor": INK,
    "fontname": FONT,
    "fontsize": "11",
    "newrank": "true",  # without it, dot 2.43 gives up on labels inside clusters ("trouble in init_rank")
    "nodesep": "0.28",
    "outputorder": "edgesfirst",
    "pad": "0.3",
    "ranksep": "0.3",
}
_NODE: Final = {
    "fontcolor": INK,
    "fontname": FONT,
    "fontsize": "11",
    "height": "0.3",
    "margin": "0.12,0.06",
    "penwidth": "1.2",
    "width": "0.5",
}
TITLE_SIZE: Final = 11
LINE_SIZE: Final = 9
POINTS_PER_INCH: Final = 72
_GAP: Final = "\u00a0\u00a0"
_HEADER: Final = """\
// Sections of one picture, and its legend. `inspect-compile draw` puts them side by side; else: dot -Tsvg -O FILE
"""
_LEFT: Final = '<br align="left"/>'
_WIDTHS: Final = {
    **dict.fromkeys("ijl'|", 0.22),
    **dict.fromkeys(" !,./:;I[]\\ft", 0.28),
    **dict.fromkeys("()-r`{}*", 0.34),
    **dict.fromkeys("ckJsvxyz", 0.5),
    **dict.fromkeys("ABEKPSVXYFTZ", 0.66),
    **dict.fromkeys("CDHNRUGOQwm&", 0.76),
    **dict.fromkeys("MW%@…", 0.95),
}
"""Widths in Helvetica, Arial and Liberation Sans as a fraction of the font size, from their published metrics; other
characters are as wide as a digit.
"""

_DIGIT: Final = 0.56
_BOLD: Final = 1.07
_HEADING: Final = 15
"""Size of a picture's title."""
_NARROWER: Final = {"ellipse": 1.12, "polygon": 1.24}
"""Shape → how much wider than its lines it has to be."""

_ENTERED: Final = ("repeat", "loop")
"""Frames whose boxes have arrows from outside: their title is a box, which no arrow crosses. Arrows to other frames
end at the border.
"""

_EDGE: Final = {"arrowsize": "0.7", "fontname": FONT, "fontsize": "9"}


def dot_text(picture: Picture) -> str:
    """`picture` as DOT: a graph for each section, in order, and one for the legend.

    They are separate because `dot` lays out several small graphs much faster than a large one; its own way to do so
    (`pack`) loses clusters. `render.svg` puts them side by side.
    """
    most = max((arrow.bytes for arrow in picture.arrows()), default=0)
    texts = [_HEADER]
    for number, section in enumerate(picture.sections, 1):
        graph = _new(f"section_{number}", number)
        if len(picture.sections) > 1 and not picture.are_apart:
            graph.attr(
                label=f"section {number} of {len(picture.sections)}", labelloc="t", fontcolor=FAINT, fontsize="13"
            )
        if not picture.has_curves:
            graph.attr(splines="polyline")
        _fill(graph, section, max(most, LEAST_BYTES), labels=picture.has_labels)
        texts.append(graph.source)
    graph = _new("legend", 0)
    graph.node("legend_title", label=_title(picture), shape="plain")
    explained = legend(picture)
    _fill(graph, explained, LEAST_BYTES, labels=True)
    for box in islice(boxes_in(explained.inner), 1):
        graph.edge("legend_title", box.id, style="invis")
        for one in explained.inner[1:]:
            if isinstance(one, Frame) and one.kind in _ENTERED:  # else what comes in stands beside the title
                graph.edge(box.id, _title_id(one), style="invis")
    texts.append(graph.source)
    return _NO_TEXT.sub("\ufffd", "\n".join(texts))


def _new(name: str, place: int) -> graphviz.Digraph:
    return graphviz.Digraph(name, graph_attr={**_GRAPH, "sortv": str(place)}, node_attr=_NODE, edge_attr=_EDGE)


def _fill(graph: graphviz.Digraph, section: Section, most: int, *, labels: bool) -> None:
    for one in section.inner:
        _add(graph, one)
    for arrow in section.arrows:
        _arrow(graph, arrow, most, labels=labels)
    for above, below in section.below:
        graph.edge(above, below, style="invis", weight="0")
    for row in section.rows:
        with graph.subgraph() as beside:
            beside.attr(rank="same")
            for name in row:
                beside.node(name)


def _add(graph: graphviz.Digraph, one: Frame | Box) -> None:
    if isinstance(one, Box):
        _box(graph, one)
        return
    with graph.subgraph(name=f"cluster_{one.id}") as cluster:
        is_entered = one.kind in _ENTERED
        cluster.attr(
            label="" if is_entered else _lines([one.text]),
            labeljust="l",
            tooltip=_tooltip(one.tooltip),
            fontsize=str(LINE_SIZE if one.kind == "group" else TITLE_SIZE),
            fontcolor=FAINT if one.kind == "group" else INK,
            **{**dict(FRAMES[one.kind]), **_border(one.shade)},
        )
        if is_entered:
            title = _title_id(one)
            cluster.node(title, label=f"<{_bold(one.text)}>", shape="plain", id=title)
            for box in islice(boxes_in(one.inner), 1):
                cluster.edge(title, box.id, style="invis")
        for inside in one.inner:
            _add(cluster, inside)


def _title_id(frame: Frame) -> str:
    return f"title_{frame.id}"


def _box(graph: graphviz.Digraph, box: Box) -> None:
    look = LOOKS[box.kind]
    graph.node(
        box.id,
        label=_label(box),
        id=box.id,
        shape=look.shape,
        style=look.style,
        fillcolor=box.shade.fill if box.shade is not None else look.fill,
        color=box.shade.line if box.shade is not None else look.line,
        **_size(box, look.slant),
        tooltip=_tooltip(box.tooltip),
        **dict(look.extra),
    )


def _border(shade: Shade | None) -> dict[str, str]:
    return {} if shade is None else {"color": shade.line, "penwidth": "2"}


def _size(box: Box, slant: float) -> dict[str, str]:
    """Width and height in inches for a shape that Graphviz sizes badly; empty for others."""
    if not slant:
        return {}
    head = _text_width(box.title, TITLE_SIZE, bold=True) + _text_width(f"{_GAP}{box.beside}", TITLE_SIZE)
    lines = (*((box.mark,) if box.mark else ()), *box.lines)
    widest = max([head, *(_text_width(line, LINE_SIZE) for line in lines)])
    if lines:  # they are not where the shape is widest
        widest *= _NARROWER.get(LOOKS[box.kind].shape, 1)
    height = 1.3 * (TITLE_SIZE + LINE_SIZE * len(lines)) + 7
    return {
        "width": f"{(widest + 2 * slant) / POINTS_PER_INCH:.3f}",
        "height": f"{height / POINTS_PER_INCH:.3f}",
        "fixedsize": "true",
    }


def _text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The estimated width of `text` in points at a font of `size` points."""
    return sum(_WIDTHS.get(letter, _DIGIT) for letter in text) * size * (_BOLD if bold else 1)


def _arrow(graph: graphviz.Digraph, arrow: Arrow, most: int, *, labels: bool) -> None:
    attributes = dict(ARROWS[arrow.kind])
    if arrow.bytes:
        attributes["penwidth"] = f"{THINNEST + (THICKEST - THINNEST) * (arrow.bytes / most) ** 0.5:.2f}"
    if arrow.into is not None:
        attributes["lhead"] = f"cluster_{arrow.into}"
    if arrow.lines and labels:
        attributes["label"] = _lines(f" {line} " for line in arrow.lines)  # spaces keep it off the line
    elif arrow.kind == "refused":
        attributes["constraint"] = "false"  # not with a label: dot 2.43 crashes on it
    graph.edge(arrow.tail, arrow.head, edgetooltip=_tooltip(arrow.tooltip or arrow.lines), **attributes)


def _tooltip(lines: tuple[str, ...]) -> str:
    """Lines as a tooltip. Text that looks like an HTML-like label is not used as one."""
    text: str = graphviz.nohtml(r"\n".join(graphviz.escape(_inert(line)) for line in lines))
    return text


def _inert(text: str) -> str:
    r"""`text` without escapes such as \N and character entities.

    Doubling alone is not enough: Graphviz resolves them once or twice, depending on the place.
    """
    return _MEANING.sub(rf"\g<0>{_JOINER}", text)


def _lines(lines: Iterable[str]) -> str:
    """Lines as a plain label, if nothing in them could be read as an escape."""
    found = list(lines)
    if any(_MEANING.search(line) for line in found):
        return f"<{'<br/>'.join(map(_markup, found))}>"
    text: str = graphviz.nohtml(r"\n".join(found))
    return text


def _label(box: Box) -> str:
    """An HTML-like label: the title is emphasised, the last lines are subdued."""
    if box.kind == "elsewhere":
        return _faint([box.title, *box.lines])
    head = _bold(box.title, _GAP if box.beside else "") + _markup(box.beside)
    mark = "" if box.shade is None or not box.mark else _mark(box.mark, box.shade.line)
    return f"<{head}{mark}{''.join(f'<br/>{_faint_line(line)}' for line in box.lines)}>"


def _mark(words: str, colour: str) -> str:
    return f'<br/><font color="{colour}" point-size="{LINE_SIZE}">{_bold(words)}</font>'


def _title(picture: Picture) -> str:
    """The title and the lines below it, in a cell that is as wide as the title: Graphviz takes bold text for narrower
    than it is, and what stands beside the legend would begin in it.
    """
    lines = [f'<font point-size="{_HEADING}">{_bold(picture.title)}</font>']
    lines += [f'<font color="{FAINT}">{_markup(line)}</font>' for line in picture.subtitles]
    width = math.ceil(_text_width(picture.title, _HEADING, bold=True))
    text = "".join(f"{line}{_LEFT}" for line in lines)
    cell = f'<td align="text" width="{width}">{text}</td>'
    return f'<<table border="0" cellpadding="0" cellspacing="0"><tr>{cell}</tr></table>>'


def _faint(lines: list[str]) -> str:
    return f"<{'<br/>'.join(map(_faint_line, lines))}>"


def _faint_line(line: str) -> str:
    return f'<font color="{FAINT}" point-size="{LINE_SIZE}">{_markup(line) or " "}</font>'


def _bold(text: str, behind: str = "") -> str:
    """Graphviz takes no element without a text, and a name may be nothing but characters that are not shown."""
    return f"<b>{_markup(text) or ' '}{behind}</b>"


def _markup(text: str) -> str:
    """Text inside of an HTML-like label."""
    return html.escape(_inert(text), quote=True)
