"""Graphviz's SVG elements with nothing said twice: what several have in common stands once, around them.

`dot` writes every attribute at every element, each rounded box as eight curves, each straight arrow as curves, and
coordinates with two decimals. A text is as it was, and so is what a picture looks like, but for a tenth of a point.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final

_ELEMENT: Final = re.compile(r"<(path|polygon|polyline|ellipse|text)((?: [\w-]+=\"[^\"]*\")*)(/?)>(.*)")
_ATTRIBUTE: Final = re.compile(r' ([\w-]+)="([^"]*)"')
_GROUP: Final = re.compile(r'<g(?: id="[^"]*")? class="(node|edge|cluster)">')
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")

_LINE: Final = re.compile(r"M[^a-z]*(?:[hv][^a-z ]*|l[^a-z ]*[ -][^a-z ]*)")


@dataclass(frozen=True, eq=False)
class Look:
    """What an element looks like, as far as that matters for it; the same look is the same object."""

    values: dict[str, str]


INITIAL: Final = Look(
    {
        "fill": "#000000",
        "stroke": "none",
        "stroke-width": "1",
        "stroke-dasharray": "none",
        "font-size": "",
        "font-weight": "normal",
        "text-anchor": "start",
    }
)
"""That of an element that is told nothing: what elements inherit from those around them."""
STYLE: Final = "text{stroke:none}"
"""What the picture's style has to say of texts, which have no border and stand between lines that do."""
_OF_TEXT: Final = frozenset({"font-size", "font-weight", "text-anchor"})
_BORDER: Final = frozenset({"stroke"})
_OF_LINES: Final = frozenset({"stroke-width", "stroke-dasharray"})
_STRAIGHT: Final = 0.08
"""Points that a curve may be away from the straight line that is drawn for it."""
_KNOWN: Final = 1 << 12
"""Looks, and what was found of them, that are kept: a picture has few."""


@dataclass
class _Drawn:
    """One element."""

    tag: str
    place: str
    """The attributes that say where it is and what shape it has."""
    look: Look
    rest: str
    """Its end, with its text."""
    is_line: bool = False
    """It is one straight line, which has no area to be filled."""

    def written(self, inherited: Look) -> str:
        """The element, inside of others that have this look."""
        return f"<{self.tag}{_difference(self.look, inherited)}{self.place}{self.rest}"


@dataclass
class _Block:
    """One node, edge or cluster; or, without a class, what stands between them."""

    kind: str
    head: str
    """Its start tag and its tooltip."""
    elements: "list[_Drawn | str]"

    def looks(self) -> Iterator[Look]:
        return (one.look for one in self.elements if isinstance(one, _Drawn))

    def written(self, inherited: Look) -> Iterator[str]:
        """The lines of the block."""
        inside = _shared_in_block(tuple(self.looks()), inherited) if self.kind else inherited
        if self.kind:
            yield self.head.replace(f' class="{self.kind}"', _difference(inside, inherited), 1)
        for one in self.elements:
            yield one.written(inside) if isinstance(one, _Drawn) else one
        if self.kind:
            yield "</g>"


def compacted(lines: Iterable[str]) -> str:
    """The elements of one drawing, one on each line. Edges that follow each other stand in a group `edges`, and so on.

    A tooltip is the first element in the group of its node, edge or cluster.
    """
    found: list[str] = []
    for kind, run in groupby(_blocks(lines), key=lambda block: block.kind):
        blocks = list(run)
        inherited = shared((look for block in blocks for look in block.looks()), INITIAL) if kind else INITIAL
        within = (line for block in blocks for line in block.written(inherited))
        found += [f'<g class="{kind}s"{_difference(inherited, INITIAL)}>', *within, "</g>"] if kind else within
    text = "\n".join(line for line in found if line)
    return text.replace("&#10;", "\n").replace("&#160;", "\u00a0")


def shared(looks: Iterable[Look], inherited: Look) -> Look:
    """The look with which elements are shortest if one around them has it."""
    best = dict(inherited.values)
    found = Counter(looks).items()
    for name, now in inherited.values.items():
        length: Counter[str] = Counter()
        for look, count in found:
            if name in look.values:
                length[look.values[name]] += count * len(f' {name}="{look.values[name]}"')
        if not length:
            continue
        saved = {value: size - len(f' {name}="{value}"') * (value != now) for value, size in length.items()}
        value = max(saved, key=lambda value: (saved[value], value))
        if saved[value] > length[now]:
            best[name] = value
    return Look(best)


@lru_cache(_KNOWN)
def _shared_in_block(looks: tuple[Look, ...], inherited: Look) -> Look:
    return shared(looks, inherited)


@lru_cache(_KNOWN)
def _difference(look: Look, inherited: Look) -> str:
    return "".join(f' {name}="{value}"' for name, value in look.values.items() if inherited.values[name] != value)


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    """The nodes, edges and clusters, and between them what is none; groups inside of a block are dissolved."""
    between = _Block("", "", [])
    block = between
    depth = 0
    for line in lines:
        start = _GROUP.match(line)
        if depth == 0 and start is not None:
            if between.elements:
                yield between
                between = _Block("", "", [])
            block, depth = _Block(start[1], line, []), 1
            if line.endswith("<g>"):
                block.head, depth = line.removesuffix("<g>"), 2
        elif depth and line == "</g>":
            depth -= 1
            if not depth:
                block.elements = list(_joined(block.elements))
                yield block
                block = between
        elif depth and line == "<g>":
            depth += 1
        else:
            block.elements.append(_element(line))
    if between.elements:
        yield between


def _joined(elements: "Iterable[_Drawn | str]") -> "Iterator[_Drawn | str]":
    """Lines become a part of the path before or after them that is drawn as they are: a fill makes no difference."""
    last: _Drawn | None = None
    for one in elements:
        if isinstance(one, _Drawn) and last is not None and _is_one(last, one):
            look = last.look if one.is_line else one.look
            last = _Drawn(
                "path", last.place[:-1] + one.place.removeprefix(' d="'), look, last.rest, last.is_line and one.is_line
            )
            continue
        if last is not None:
            yield last
        last = one if isinstance(one, _Drawn) else None
        if last is None:
            yield one
    if last is not None:
        yield last


def _is_one(one: _Drawn, other: _Drawn) -> bool:
    if one.tag != "path" or other.tag != "path" or not (one.is_line or other.is_line):
        return False
    return _is_same_line(one.look, other.look)


@lru_cache(_KNOWN)
def _is_same_line(one: Look, other: Look) -> bool:
    return {**one.values, "fill": ""} == {**other.values, "fill": ""}


def _element(line: str) -> _Drawn | str:
    found = _ELEMENT.fullmatch(line)
    if found is None:
        return line
    tag, given, end, rest = found.groups()
    attributes = dict(_ATTRIBUTE.findall(given))
    is_text = tag == "text"
    look = _look(tuple(attributes.pop(name, value) for name, value in INITIAL.values.items()), is_text)
    tag, attributes = _shape(tag, attributes)
    place = "".join(f' {name}="{value}"' for name, value in attributes.items())
    if is_text:
        rest = f"{rest.removesuffix('</text>').strip()}</text>"
    is_line = tag == "path" and _LINE.fullmatch(attributes["d"]) is not None
    return _Drawn(tag, place, look, f"{end}>{rest}", is_line)


@lru_cache(_KNOWN)
def _look(values: tuple[str, ...], is_text: bool) -> Look:
    """The look with these values, in the order of `INITIAL`."""
    found = dict(zip(INITIAL.values, map(_short, values), strict=True))
    if found["stroke"] == "transparent":
        found["stroke"] = "none"
    has_stroke = not is_text and found["stroke"] != "none"
    left_out = (_BORDER if is_text else _OF_TEXT) | (frozenset() if has_stroke else _OF_LINES)
    return Look({name: value for name, value in found.items() if name not in left_out})


def _shape(tag: str, given: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The element that draws the same in the fewest letters."""
    if tag == "path":
        numbers = [float(number) for number in _NUMBER.findall(given["d"])]
        return _rounded(numbers) or ("path", {"d": _path(numbers)})
    if tag in ("polygon", "polyline"):
        numbers = [float(number) for number in _NUMBER.findall(given["points"])]
        corners = list(zip(numbers[::2], numbers[1::2], strict=False))
        if tag == "polygon" and corners[0] == corners[-1]:
            return "path", {"d": f"{_lines(corners[:-1])}z"}
        return "path", {"d": _lines(corners)}
    return tag, {name: _short(value) for name, value in given.items()}


def _rounded(numbers: Sequence[float]) -> tuple[str, dict[str, str]] | None:
    """`dot`'s box with round corners, a start and eight curves, as a rectangle; None for any other path."""
    if len(numbers) != 2 + 8 * 6:
        return None
    x, y = numbers[::2], numbers[1::2]
    left, right, top, bottom = min(x), max(x), min(y), max(y)
    if abs(x[0] - x[-1]) > _STRAIGHT or abs(y[0] - y[-1]) > _STRAIGHT:
        return None
    ends = list(zip(x[::3], y[::3], strict=True))
    radius = min(max(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in pairwise(ends))
    corners = {(across, down) for across in (left, right) for down in (top, bottom)}
    for at in ends:
        if not any(
            abs(abs(at[0] - across) - radius * on) < 1 and abs(abs(at[1] - down) - radius * (1 - on)) < 1
            for across, down in corners
            for on in (0, 1)
        ):
            return None
    return "rect", {
        "x": _decimal(left),
        "y": _decimal(top),
        "width": _decimal(right - left),
        "height": _decimal(bottom - top),
        "rx": _decimal(radius),
    }


def _path(numbers: Sequence[float]) -> str:
    """A start and Bézier curves, relative to each other; straight ones as lines."""
    at = _Pen(numbers[0], numbers[1])
    for place in range(2, len(numbers) - 5, 6):
        points = list(zip(numbers[place : place + 6 : 2], numbers[place + 1 : place + 6 : 2], strict=True))
        if _is_straight((at.x, at.y), points):
            at.to(points[-1])
        else:
            at.to(*points)
    return at.text


def _lines(corners: Sequence[tuple[float, float]]) -> str:
    at = _Pen(*corners[0])
    for corner in corners[1:]:
        at.to(corner)
    return at.text


class _Pen:
    """Where a path is; what is written so far is exact to a tenth of a point wherever it goes."""

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = round(x, 1), round(y, 1)
        self.text = f"M{_pair(self.x, self.y)}"
        self._last = "M"

    def to(self, *points: tuple[float, float]) -> None:
        """Draw a line to a point, or a curve to the last of three."""
        moved = [(round(x - self.x, 1), round(y - self.y, 1)) for x, y in points]
        across, down = moved[-1]
        if len(points) == 1 and not across:
            self._write("v", [down] if down else [])
        elif len(points) == 1 and not down:
            self._write("h", [across])
        else:
            self._write("l" if len(points) == 1 else "c", [number for pair in moved for number in pair])
        self.x, self.y = round(self.x + across, 1), round(self.y + down, 1)

    def _write(self, command: str, numbers: list[float]) -> None:
        if numbers:
            operands = "".join(map(_after, numbers))
            self.text += operands if self._last == command else f"{command}{operands.removeprefix(' ')}"
            self._last = command


def _after(number: float) -> str:
    """A number behind another one: a minus sign divides them, too."""
    text = _decimal(number)
    return text if text.startswith("-") else f" {text}"


def _pair(x: float, y: float) -> str:
    return _decimal(x) + _after(y)


def _is_straight(start: tuple[float, float], points: Sequence[tuple[float, float]]) -> bool:
    """Whether a curve's two control points are on the line to its end, and between its ends."""
    (x, y), (end_x, end_y) = start, points[-1]
    across, down = end_x - x, end_y - y
    length = (across * across + down * down) ** 0.5
    if length == 0:
        return all(abs(at_x - x) + abs(at_y - y) < _STRAIGHT for at_x, at_y in points)
    for at_x, at_y in points[:-1]:
        off = abs((at_x - x) * down - (at_y - y) * across) / length
        along = ((at_x - x) * across + (at_y - y) * down) / length
        if off > _STRAIGHT or not -_STRAIGHT <= along <= length + _STRAIGHT:
            return False
    return True


def _decimal(number: float) -> str:
    """A number with one decimal, none if that is 0."""
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


@lru_cache(maxsize=1 << 14)
def _short(value: str) -> str:
    """A number of `dot`'s with one decimal at most; other values as they are."""
    return f"{round(float(value), 1):g}" if re.fullmatch(r"-?\d+\.\d+", value) else value
