"""The list of kinds: each draws what it says, of every recorded dump, and looks the same every time."""

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from inspect_compile.analysis.lookup.nodes import find_nodes
from inspect_compile.commands.drawing.asked import wanted as wanted_of
from inspect_compile.diagrams.chart_file import DRAWN
from inspect_compile.diagrams.dot import dot_text
from inspect_compile.diagrams.dynamo import dynamo_picture
from inspect_compile.diagrams.fx.picture import fx_picture
from inspect_compile.diagrams.kernel import kernel_picture
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import STAGES, Wanted
from inspect_compile.diagrams.legend import legend
from inspect_compile.diagrams.node import node_picture
from inspect_compile.diagrams.picture import Picture, boxes_in
from inspect_compile.diagrams.render import chart, svg
from inspect_compile.diagrams.schedule.findings import findings_picture
from inspect_compile.diagrams.schedule.joined import joined_picture
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Node
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.lookup_text import resolved
from tests.conftest import TESTS, Golden
from tests.diagrams.pictures import FOLDERS, drawings, holds_together, one_of_each, recorded

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot (Graphviz)")


def pictures(dump: Dump) -> list[Picture]:
    """All pictures that Graphviz draws of the new kinds."""
    found: list[Picture | None] = [dynamo_picture(dump)]
    for graph in dump.outermost():
        found += [findings_picture(CompiledGraph(dump, graph.graph))]
        found += [joined_picture(CompiledGraph(dump, graph.graph), fold=fold) for fold in (None, True, False)]
        for stage in STAGES:
            for unfold in (None, True, False):
                found.append(
                    fx_picture(CompiledGraph(dump, graph.graph), stage, unfold=unfold, everything=bool(unfold))
                )
        names = [node.name for node in dump.rows(Node, graph.graph)][::90]
        for name in names:
            for meant in resolved(find_nodes(Graphs(dump, graph.graph), name)):
                found.append(node_picture(dump, meant, name))
    for kernel in dump.rows(Kernel):
        found += [
            kernel_picture(dump, kernel, unfold=unfold, everything=bool(unfold)) for unfold in (None, True, False)
        ]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("name", FOLDERS)
def test_every_picture_holds_together(name: str) -> None:
    found = pictures(recorded(name))
    assert found
    for picture in found:
        holds_together(picture)
        drawn = legend(picture)
        holds_together(Picture("", (), (drawn,)))
        assert {box.kind for box in picture.boxes()} - {"elsewhere"} <= {box.kind for box in boxes_in(drawn.inner)}
        arrows = {arrow.kind for arrow in picture.arrows()} - {"kept", "call"}
        assert arrows <= {arrow.kind for arrow in drawn.arrows}
        assert dot_text(picture) == dot_text(picture)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_of_some_recorded_dump(kind: str) -> None:
    if kind == "roofline":
        pytest.skip("what the devices of these dumps can do is not known")
    if KINDS[kind].is_of_ranks:
        pytest.skip("none of these dumps is of ranks: test_ranks.py makes some")
    assert any(True for name in FOLDERS for _ in drawings(recorded(name), KINDS[kind]))


def test_each_kind_is_documented() -> None:
    text = (TESTS.parent / "docs" / "commands.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        usage = f"draw [DUMP] {kind.name}" + (f" {kind.named}" if kind.named else "")
        assert f"`inspect-compile {usage}" in text or f"`{usage}`" in text, usage


def test_what_can_be_chosen_is_what_kinds_take() -> None:
    """Every option of `Wanted` is taken by some kind, and kinds take no other."""
    fields = set(Wanted.__dataclass_fields__) - {"name"}
    assert {name for kind in KINDS.values() for name in kind.options} == fields
    assert callable(wanted_of)


@needs_dot
@pytest.mark.parametrize("name", FOLDERS)
def test_graphviz_draws_every_kind(name: str) -> None:
    """Text and shapes only, and each picture is one SVG."""
    for drawn in one_of_each(recorded(name)):
        root = ET.fromstring(svg(drawn.text) if drawn.form == "dot" else drawn.text)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        if drawn.form == "svg":
            assert tags <= DRAWN
            assert chart(drawn.text, "png").startswith(b"\x89PNG")
        else:
            assert tags <= {"svg", "style", "rect", "g", "title", "path", "polygon", "polyline", "ellipse", "text"}
        assert not [key for element in root.iter() for key in element.attrib if "href" in key or key.startswith("on")]


@needs_dot
def test_a_chart_as_pdf_has_text(tmp_path: Path) -> None:
    drawn = next(drawings(recorded("tui/mixed"), KINDS["memory"]))
    data = chart(drawn.text, "pdf")
    assert data.startswith(b"%PDF")
    assert b"/Font" in data


class TestGolden:
    """Small pictures, as they are."""

    def test_fx(self, golden: Golden) -> None:
        dump = recorded("draw/conditional")
        found = fx_picture(CompiledGraph(dump, dump.graphs()[0].graph), "post_grad")
        assert found is not None
        golden.check(dot_text(found), ".dot")

    def test_fx_of_dynamo(self, golden: Golden) -> None:
        dump = recorded("tui/walks")
        found = fx_picture(CompiledGraph(dump, dump.graphs()[0].graph), "dynamo")
        assert found is not None
        golden.check(dot_text(found), ".dot")

    def test_kernel(self, golden: Golden) -> None:
        dump = recorded("tui/walks")
        kernel = next(row for row in dump.rows(Kernel) if row.name == "cpp_fused__softmax_gelu_mul_0")
        found = kernel_picture(dump, kernel)
        assert found is not None
        golden.check(dot_text(found), ".dot")

    def test_node(self, golden: Golden) -> None:
        dump = recorded("tui/walks")
        graph = dump.graphs()[0].graph
        last = [node.name for node in dump.rows(Node, graph) if node.op.startswith("call")][-1]
        (meant,) = resolved(find_nodes(Graphs(dump, graph), last))
        golden.check(dot_text(node_picture(dump, meant, last)), ".dot")

    def test_fusion(self, golden: Golden) -> None:
        dump = recorded("tui/walks")
        found = joined_picture(CompiledGraph(dump, dump.graphs()[0].graph))
        assert found is not None
        golden.check(dot_text(found), ".dot")

    def test_findings(self, golden: Golden) -> None:
        dump = recorded("tui/walks")
        found = findings_picture(CompiledGraph(dump, dump.graphs()[0].graph))
        assert found is not None
        golden.check(dot_text(found), ".dot")

    def test_dynamo(self, golden: Golden) -> None:
        found = dynamo_picture(recorded("tui/walks"))
        assert found is not None
        golden.check(dot_text(found), ".dot")
