"""No arrow crosses the title of a frame, in what Graphviz draws."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspect_compile.diagrams.dot import dot_text
from inspect_compile.diagrams.dynamo import dynamo_picture
from inspect_compile.diagrams.fx.picture import fx_picture
from inspect_compile.diagrams.kernel import kernel_picture
from inspect_compile.diagrams.picture import Picture
from inspect_compile.diagrams.schedule.joined import joined_picture
from inspect_compile.diagrams.schedule.schedule import PHASES, schedule_picture
from inspect_compile.dump import open_dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph
from tests.diagrams.pictures import recorded
from tests.diagrams.transformer import GRAPH, write_transformer

pytestmark = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot (Graphviz)")

SVG = "{http://www.w3.org/2000/svg}"
Place = tuple[float, float]


def curve(path: str) -> Iterator[Place]:
    """Points of a path of Graphviz: a start, and cubic curves."""
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    for start in range(0, len(points) - 3, 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points[start : start + 4]
        for step in range(31):
            t = step / 30
            a, b, c, d = (1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3
            yield a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3


def title_box(text: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of a title, a little smaller than it is."""
    size = float(text.attrib["font-size"])
    width = 0.42 * size * len((text.text or "").strip())
    x, y = float(text.attrib["x"]), float(text.attrib["y"])
    left = {"start": x, "middle": x - width / 2, "end": x - width}[text.attrib.get("text-anchor", "start")]
    return left, y - 0.65 * size, left + width, y


def crossings(picture: Picture) -> tuple[list[str], int]:
    """The titles that an arrow crosses, and how many there are."""
    found, titles = [], 0
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot_text(picture), capture_output=True, text=True, check=True).stdout
    for drawing in map(ET.fromstring, re.findall(r"<svg .*?</svg>", drawn, re.DOTALL)):
        boxes = []
        for group in drawing.iter(f"{SVG}g"):
            if group.attrib.get("class") == "cluster" or group.attrib.get("id", "").startswith("title_"):
                boxes += [(one.text or "", title_box(one)) for one in group.iter(f"{SVG}text")]
        titles += len(boxes)
        edges = [group for group in drawing.iter(f"{SVG}g") if group.attrib.get("class") == "edge"]
        paths = [path.attrib["d"] for group in edges for path in group.iter(f"{SVG}path")]
        places = [place for path in paths for place in curve(path)]
        for words, (left, top, right, bottom) in boxes:
            if any(left < x < right and top < y < bottom for x, y in places):
                found.append(words)
    return found, titles


def pictures(folder: Path) -> Iterator[tuple[str, Picture | None]]:
    for name in ("tui/mixed", "tui/walks"):
        dump = recorded(name)
        yield f"{name} dynamo", dynamo_picture(dump)
        for graph in dump.outermost()[:2]:
            for phase in PHASES:
                yield f"{name} {phase}", schedule_picture(CompiledGraph(dump, graph.graph), phase)
            yield f"{name} fusion", joined_picture(CompiledGraph(dump, graph.graph))
            yield f"{name} fx", fx_picture(CompiledGraph(dump, graph.graph), "post_grad", unfold=False)
        for kernel in [row for row in dump.rows(Kernel) if row.kind == "cpp"][:4]:
            yield f"{name} {kernel.name}", kernel_picture(dump, kernel)
    for name in ("draw/conditional", "draw/softmax_mlp_cuda"):
        dump = recorded(name)
        yield name, schedule_picture(CompiledGraph(dump, dump.graphs()[0].graph), "post_fusion")
    write_transformer(folder, 12)
    for fold in (True, False):
        yield f"transformer {fold}", schedule_picture(CompiledGraph(open_dump(folder), GRAPH), "post_fusion", fold=fold)


def test_no_arrow_crosses_a_title(tmp_path: Path) -> None:
    seen = 0
    for name, picture in pictures(tmp_path):
        if picture is not None:
            found, titles = crossings(picture)
            assert not found, name
            seen += titles
    assert seen > 40
