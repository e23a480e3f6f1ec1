"""A chart as PNG and PDF: Graphviz cannot read an SVG, but it draws what a graph has as its background, and charts
consist of few kinds of elements.

No other program that turns an SVG into pixels is needed, and none is a dependency.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Final

from inspect_compile.diagrams.look import FONT

_NAMESPACE: Final = "{http://www.w3.org/2000/svg}"
_FONT: Final = FONT
_SIDES: Final = {"start": -1, "middle": 0, "end": 1}
_INK: Final = "#1f2933"
_LARGEST: Final = 20_000.0
"""Maximum width and height in points."""
_LONGEST: Final = 4000
"""Characters of a string: dot 2.43 reads no more than 16,384 bytes of one, and puts together what stands with a `+`."""


def chart_dot(svg: str) -> str:
    """A graph for `neato -n2` that looks like `svg`, a chart of this package: its shapes and texts, without tooltips.

    Text that is turned stands upright.
    """
    root = ET.fromstring(svg)
    width, height = (min(float(root.attrib[side]), _LARGEST) for side in ("width", "height"))
    size = float(root.attrib.get("font-size", "11"))
    drawn = " ".join(part for element in root for part in _element(element, height, size))
    quoted = " + ".join(f'"{piece}"' for piece in _pieces(drawn))
    corners = f'a [pos="0,0"]; b [pos="{width:.1f},{height:.1f}"];'
    return (
        f"graph chart {{ graph [pad=0 margin=0 bgcolor=white _background={quoted}];\n"
        f'node [shape=point width=0.01 height=0.01 style=invis label=""];\n{corners} }}\n'
    )


def _pieces(drawn: str) -> Iterator[str]:
    """Strings that are short enough for Graphviz, none of which ends within an escape."""
    start = 0
    while start < len(drawn):
        end = start + _LONGEST
        while drawn[end - 1 : end] == "\\":
            end += 1
        yield drawn[start:end]
        start = end


def _element(element: ET.Element, height: float, size: float) -> Iterator[str]:
    kind = element.tag.removeprefix(_NAMESPACE)
    if kind == "g":
        for inside in element:
            yield from _element(inside, height, size)
    elif kind == "text":
        yield from _text(element, height, size)
    elif kind in _SHAPES:
        yield from _pens(element)
        yield _SHAPES[kind](element, height)


def _pens(element: ET.Element) -> Iterator[str]:
    fill, stroke = element.attrib.get("fill", "none"), element.attrib.get("stroke", "none")
    alpha = f"{round(255 * float(element.attrib.get('fill-opacity', '1'))):02x}"
    yield _of("S", "dashed" if "stroke-dasharray" in element.attrib else "solid")
    yield _of("S", f"setlinewidth({float(element.attrib.get('stroke-width', '1')):.1f})")
    yield _of("c", _colour(stroke) if stroke != "none" else f"{_colour(fill)}00")
    if fill != "none":
        yield _of("C", f"{_colour(fill)}{alpha}")


def _text(element: ET.Element, height: float, size: float) -> Iterator[str]:
    words = "".join(element.itertext()).replace("\\", "\u29f5")  # a backslash would change what follows it
    if not words:
        return
    x, y = float(element.attrib["x"]), height - float(element.attrib["y"])
    side = _SIDES[element.attrib.get("text-anchor", "start")]
    yield _of("c", _colour(element.attrib.get("fill", _INK)))
    yield f"F {float(element.attrib.get('font-size', size)):.1f} {len(_FONT)} -{_FONT}"
    yield f"t {int('font-weight' in element.attrib)}"
    written = words.replace('"', r"\"")
    yield f"T {x:.1f} {y:.1f} {side} 0 {len(words.encode())} -{written}"


def _rect(element: ET.Element, height: float) -> str:
    x, y = float(element.attrib.get("x", "0")), float(element.attrib.get("y", "0"))
    right, bottom = x + float(element.attrib["width"]), y + float(element.attrib["height"])
    return _polygon([(x, y), (right, y), (right, bottom), (x, bottom)], height)


def _line(element: ET.Element, height: float) -> str:
    x, y, to_x, to_y = (float(element.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
    return f"L 2 {x:.1f} {height - y:.1f} {to_x:.1f} {height - to_y:.1f}"


def _points(element: ET.Element, height: float) -> str:
    pairs = (pair.split(",") for pair in element.attrib["points"].split())
    return _polygon([(float(x), float(y)) for x, y in pairs], height)


def _circle(element: ET.Element, height: float) -> str:
    x, y, radius = (float(element.attrib[name]) for name in ("cx", "cy", "r"))
    return f"E {x:.1f} {height - y:.1f} {radius:.1f} {radius:.1f}"


def _polygon(points: list[tuple[float, float]], height: float) -> str:
    return f"P {len(points)} " + " ".join(f"{x:.1f} {height - y:.1f}" for x, y in points)


def _of(kind: str, value: str) -> str:
    return f"{kind} {len(value)} -{value}"


def _colour(name: str) -> str:
    """Six digits, also for `#444` and the names that charts use."""
    name = {"white": "#ffffff", "black": "#000000"}.get(name, name)
    return f"#{''.join(digit * 2 for digit in name[1:])}" if len(name) == 4 else name


_SHAPES: Final = {"rect": _rect, "line": _line, "polygon": _points, "circle": _circle}
"""Element → what draws it, in Graphviz's words (xdot)."""

DRAWN: Final = frozenset({"svg", "style", "g", "text", "title", *_SHAPES})
"""The elements that charts may have."""
