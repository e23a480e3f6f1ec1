"""The drawings of `dot` in fewer letters: the same texts, tooltips, places and colours, as another reader sees them."""

import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from inspect_compile.diagrams import render
from inspect_compile.diagrams.compact import INITIAL, STYLE
from inspect_compile.diagrams.schedule.schedule import schedule_dot
from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from tests.diagrams.test_schedule import DATA, RECORDED, outer

pytestmark = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot (Graphviz)")

NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
SHAPES = {"path", "polygon", "polyline", "rect", "ellipse"}


def before(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The drawing as `dot` makes it."""
    with monkeypatch.context() as patched:
        patched.setattr(render, "compacted", "\n".join)
        return render.svg(text)


def resolved(
    element: ET.Element, inherited: dict[str, str] = INITIAL.values
) -> Iterator[tuple[ET.Element, dict[str, str]]]:
    """Each element with the values that hold for it, also by the rule of style that texts have."""
    own = {name: element.attrib.get(name, value) for name, value in inherited.items()}
    if element.tag.endswith("}text"):
        own["stroke"] = "none"
    yield element, own
    for inner in element:
        yield from resolved(inner, own)


def corners(element: ET.Element) -> Iterator[tuple[float, float]]:
    """Where the parts of a shape end; of a box with round corners, the corners of the box around it."""
    given = element.attrib
    tag = element.tag.rpartition("}")[2]
    if tag == "rect":
        x, y, width, height = (float(given[name]) for name in ("x", "y", "width", "height"))
        yield from ((x, y), (x + width, y + height))
    elif tag == "ellipse":
        yield float(given["cx"]), float(given["cy"])
    elif tag in ("polygon", "polyline"):
        numbers = [float(number) for number in NUMBER.findall(given["points"])]
        yield from zip(numbers[::2], numbers[1::2], strict=True)
    else:
        at = (0.0, 0.0)
        for command, arguments in re.findall(r"([A-Za-z])([^A-Za-z]*)", given["d"]):
            numbers = [float(number) for number in NUMBER.findall(arguments)]
            size = {"M": 2, "C": 6, "c": 6, "l": 2, "h": 1, "v": 1, "z": 1}[command]
            for start in range(0, len(numbers), size):
                last = numbers[start : start + size][-2:]
                across, down = {"h": (last[0], 0.0), "v": (0.0, last[0])}.get(command, (last[0], last[-1]))
                at = (across, down) if command in "MC" else (at[0] + across, at[1] + down)
                yield at


@pytest.mark.parametrize("name", RECORDED)
def test_nothing_is_lost_or_moved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = open_dump(DATA / name)
    text = schedule_dot(CompiledGraph(dump, outer(dump)), "post_fusion")
    old, new = before(text, monkeypatch), render.svg(text)
    assert len(new) < 0.75 * len(old)
    assert STYLE in new
    was, now = (
        [(one, own) for one, own in resolved(ET.fromstring(drawing)) if "width" not in one.attrib or "rx" in one.attrib]
        for drawing in (old, new)
    )
    for tag in ("text", "title"):
        texts = [[(one.text or "").strip() for one, _ in found if one.tag.endswith(f"}}{tag}")] for found in (was, now)]
        assert texts[0] == texts[1]
    looks = [
        [
            (own["fill"], float(own["font-size"]), own["font-weight"], own["text-anchor"], own["stroke"])
            for one, own in found
            if one.tag.endswith("}text")
        ]
        for found in (was, now)
    ]
    assert looks[0] == looks[1]
    places = [
        [(round(float(one.attrib["x"])), round(float(one.attrib["y"]))) for one, _ in found if "}text" in one.tag]
        for found in (was, now)
    ]
    assert places[0] == places[1]
    shapes = [[(one, own) for one, own in found if one.tag.rpartition("}")[2] in SHAPES] for found in (was, now)]
    ends = [[at for one, _ in found for at in corners(one)] for found in shapes]
    away = [min(max(abs(x - a), abs(y - b)) for a, b in ends[0]) for x, y in ends[1]]
    boxes = sum(2 for one, _ in shapes[1] if one.tag.endswith("rect"))  # their corners were round before
    assert sum(far > 0.15 for far in away) <= boxes
    for what in ("fill", "stroke"):
        colours = [{own[what].replace("transparent", "none") for _, own in found} for found in shapes]
        assert colours[0] == colours[1]
