"""DOT to SVG: what the SVG holds, that nothing of a dump turns into markup, and a `dot` that misbehaves."""

import contextlib
import os
import re
import shutil
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from inspect_compile.diagrams.render import MissingError, _dense, _in_rows, png, svg
from inspect_compile.diagrams.schedule.schedule import schedule_dot
from inspect_compile.dump import Dump, open_dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Location
from inspect_compile.graph import CompiledGraph
from tests.diagrams.test_schedule import DATA, RECORDED, outer
from tests.diagrams.transformer import GRAPH, write_transformer
from tests.handmade import GRAPH as MADE
from tests.handmade import graph, kernel, made, node, operation

JOINER = "\u2060"
"""Invisible: what keeps a text from being read as an escape."""

NAMESPACE = "{http://www.w3.org/2000/svg}"

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot (Graphviz)")


def tags(root: ET.Element) -> set[str]:
    return {element.tag.removeprefix(NAMESPACE) for element in root.iter()}


def texts(root: ET.Element, tag: str = "text") -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}{tag}")]


@needs_dot
class TestSvg:
    """A recorded schedule."""

    @pytest.fixture(params=RECORDED)
    def drawn(self, request: pytest.FixtureRequest) -> tuple[Dump, ET.Element]:
        dump = open_dump(DATA / request.param)
        return dump, ET.fromstring(svg(schedule_dot(CompiledGraph(dump, outer(dump)), "post_fusion")))

    def test_text_and_tooltips(self, drawn: tuple[Dump, ET.Element]) -> None:
        dump, root = drawn
        program = dump.run.argv[0]
        assert f"{program} · inference 0/0 · after fusion" in texts(root)
        assert f"source lines are those of {program}" in texts(root)
        assert any(f"{program}:" in tooltip and "writes buf0" in tooltip for tooltip in texts(root, "title"))
        assert "a buffer and its bytes" in {text.strip() for text in texts(root)}

    def test_nothing_but_drawing(self, drawn: tuple[Dump, ET.Element]) -> None:
        _, root = drawn
        assert tags(root) <= {"svg", "style", "rect", "g", "title", "path", "polygon", "polyline", "ellipse", "text"}
        attributes = {name for element in root.iter() for name in element.attrib}
        assert not [name for name in attributes if "href" in name or name.startswith("on")]

    def test_boxes_have_ids(self, drawn: tuple[Dump, ET.Element]) -> None:
        ids = [element.attrib["id"] for element in drawn[1].iter() if "id" in element.attrib]
        assert len(ids) == len(set(ids))
        assert {"op0", "op1", "op2"} <= set(ids)

    def test_it_is_the_same_every_time(self, drawn: tuple[Dump, ET.Element]) -> None:
        dump, _ = drawn
        text = schedule_dot(CompiledGraph(dump, outer(dump)), "post_fusion")
        assert svg(text) == svg(text)


@needs_dot
def test_sections_stand_side_by_side_and_in_rows(tmp_path: Path) -> None:
    write_transformer(tmp_path, 40)
    root = ET.fromstring(svg(schedule_dot(CompiledGraph(open_dump(tmp_path), GRAPH), "post_fusion", fold=False)))
    places = [
        tuple(float(number) for number in re.findall(r"[\d.]+", element.attrib["transform"]))
        for element in root
        if "transform" in element.attrib
    ]
    assert places[0] == (0, 0)
    assert len({y for _, y in places}) > 1
    assert len(places) == len(set(places)) > 10
    width, height = float(root.attrib["width"][:-2]), float(root.attrib["height"][:-2])
    assert 0.7 < width / height < 4


HOSTILE = (
    r"\N",
    r"\G\E\T\H\L\l\r",
    "\\",
    'a"b',
    "<b>bold</b>",
    "</text><script>alert(1)</script>",
    "<TABLE>",
    "&amp;<>",
    "]]>",
    "-->",
    "a:b:c",
    "op,1;{}[]",
    "ünï→名前",
    "\x1b[31mred",
    "\x9b31mred",
    "new\nline\ttab\r",
    "\x00\x01\x7f\ufffe",
    "digraph x {",
    "a" * 5000,
    "",
)


@needs_dot
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stay_names(tmp_path: Path, name: str) -> None:
    """Whatever a dump calls its things, they are drawn as text, and nothing else comes of them."""
    where = Location(f"/x/{name}", 7, name, name)
    dump = made(
        tmp_path,
        graph(),
        node(name or "n", "aten.relu", where=where),
        operation("op0", reads={f"in{name}": 4}, writes={f"b{name}": 4}, nodes=(name,), members=("op0",)),
        operation(
            f"op1{name}",
            reads={f"b{name}": 4},
            writes={f"c{name}": 4},
            kind="extern",
            users=("OUTPUT",),
            members=(f"op1{name}",),
        ),
        kernel(f"k{name}", "op0", launches=(3,)),
        kernel(f"e{name}", f"op1{name}", kind="extern", launches=(4,)),
    )
    text = schedule_dot(CompiledGraph(dump, MADE), "post_fusion")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
    root = ET.fromstring(svg(text))
    assert tags(root) <= {"svg", "style", "rect", "g", "title", "path", "polygon", "polyline", "ellipse", "text"}
    assert len([element for element in root.iter() if element.attrib.get("class") == "graph"]) == 2
    shown = {text.replace(JOINER, "").strip() for text in texts(root)}
    tooltips = [text.replace(JOINER, "") for text in texts(root, "title")]
    if name.isprintable() and len(name) < 30:
        assert {f"k{name}".strip(), f"e{name}".strip()} <= shown
        assert any(f"op1{name} reads b{name}" in tooltip for tooltip in tooltips)


@needs_dot
def test_png_is_one_picture() -> None:
    dump = open_dump(DATA / "conditional")
    drawn = png(schedule_dot(CompiledGraph(dump, outer(dump)), "post_fusion"))
    assert drawn.startswith(b"\x89PNG")
    assert drawn.count(b"IEND") == 1


DOT = "digraph a {\n\tb\n}\n"


def program(folder: Path, text: str) -> None:
    path = folder / "dot"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_without_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match=r"^dot is not installed; install Graphviz \(apt-get install graphviz"):
        svg(DOT)


def test_a_dot_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; wait")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    started = time.monotonic()
    with pytest.raises(CommandError, match=r"^dot did not finish in 0.5 s; draw a part with --around"):
        svg(DOT, 0.5)
    assert time.monotonic() - started < 10
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, 0)
            time.sleep(0.1)
            continue
        break
    else:
        pytest.fail(f"process {child} still runs")


def test_a_dot_that_fails_is_asked_for_a_simpler_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simple = '<svg width="8pt" height="8pt"\n viewBox="0.00 0.00 8.00 8.00"><g id="graph0" class="graph"></g></svg>'
    program(tmp_path, f"case \"$*\" in *splines=line*) echo '{simple}';; *) echo 'no way' >&2; exit 1;; esac")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert 'class="graph"' in svg(DOT)


def test_a_dot_that_fails_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "echo 'Error: lost in space' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CommandError, match=r"^dot failed: Error: lost in space; draw a part"):
        svg(DOT)


def test_a_dot_that_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CommandError, match="dot wrote no SVG"):
        svg(DOT)


@pytest.mark.parametrize("sizes", [[(100.0, 50.0)], [(300.0, 200.0), (500.0, 900.0), *[(200.0, 90.0)] * 9]])
def test_drawings_do_not_overlap(sizes: list[tuple[float, float]]) -> None:
    places, (width, height) = _dense(sizes)
    for number, ((x, y), (wide, high)) in enumerate(zip(places, sizes, strict=True)):
        assert 0 <= x <= width - wide
        assert 0 <= y <= height - high
        for (left, top), (other, tall) in zip(places[:number], sizes, strict=False):
            assert x >= left + other or left >= x + wide or y >= top + tall or top >= y + high


def test_low_drawings_stand_below_each_other_in_one_row() -> None:
    places, _ = _in_rows([(100.0, 50.0), (100.0, 300.0), (100.0, 90.0), (100.0, 90.0)], 400.0)
    assert places == [(0.0, 0.0), (108.0, 0.0), (216.0, 0.0), (216.0, 98.0)]
