"""The section of compiles: an index of ids, failures together, the lines that led to each."""

import re
from pathlib import Path

from inspect_compile.dump import open_dump
from inspect_compile.facts import Frame, GraphBreak, Location
from inspect_compile.report.packing import unpacked
from inspect_compile.report.places import Places
from tests.handmade import ended, graph, made, node
from tests.report.pages import failed, recorded, seen, written


def section(page: str, name: str) -> str:
    """The HTML of one section."""
    return page[page.index(f'<section id="{name}"') :].partition("</section>")[0]


def test_every_compile_is_in_the_index_and_in_the_tree(tmp_path: Path) -> None:
    dump = open_dump(recorded(tmp_path))
    compiles = {frame.graph for frame in dump.rows(Frame)}
    page = unpacked(written(tmp_path, dump.root))
    own = section(page, "compiles")
    chips = re.findall(r'<a href="#compile=([^"]*)" class="chip', own)
    assert set(chips) == compiles
    assert len(chips) == len(compiles)
    assert set(re.findall(r'<li class="compile" id="compile=([^"]*)"', own)) == compiles
    assert "failures" not in own, "nothing failed"
    for graph_of in dump.outermost():
        assert f'<a href="#graph={graph_of.graph}">' in own


def test_failures_stand_together_with_their_tracebacks(tmp_path: Path) -> None:
    page = unpacked(written(tmp_path, failed(tmp_path / "dump").root))
    own = section(page, "compiles")
    failures = own[own.index('class="failures"') : own.index("<h3>Index")]
    assert "the program ended with RuntimeError: no fake impl was registered" in failures
    assert failures.index(">0/1</a>") < failures.index(">1/0</a>"), "what failed before what was skipped"
    assert '<td><a href="#compile=0/0"' not in failures
    assert "Traceback: &lt;/pre&gt;" in failures
    assert 'href="#failures">Where did it fail?' in section(page, "overview")
    assert 'href="#table-dynamo">Why was it compiled again?' in section(page, "overview")
    assert ">1 failed, 1 skipped</i>" in page[page.index("<nav") : page.index("</nav>")]
    assert "again, since <a" in own
    assert not seen(page).faults


def test_the_line_of_a_graph_break_leads_to_what_dynamo_did(tmp_path: Path) -> None:
    """Nodes come from other lines: this one has a place where the break is told of, once."""
    stops = [
        GraphBreak(graph=name, reason="print", where=Location("/train.py", 5, "step", code="print(x)"))
        for name in ("0/0", "0/1")
    ]
    frames = [
        Frame(graph=name, function="step", file="/train.py", line=3, status="compiled", graphs=1)
        for name in ("0/0", "0/1")
    ]
    root = made(tmp_path / "dump", *frames, *stops, graph(compile_id="0/0"), ended()).root
    page = unpacked(written(tmp_path, root))
    assert len(re.findall(r'id="line=train.py:5">', page)) == 1
    assert '<i class="bad">graph break </i><a href="#line=train.py:5">' in section(page, "frontend")
    assert '<a href="#line=train.py:5">train.py:5</a>' in section(page, "overview")


def test_an_equal_name_in_a_second_graph_names_its_graph(tmp_path: Path) -> None:
    names = ("model__0_inference_0.0", "model__1_inference_1.1")
    rows = [row for name in names for row in (graph(name), node("mul", "aten.mul.Tensor", graph=name), ended(name))]
    root = made(tmp_path / "dump", *rows, node("sin", "aten.sin.default", graph=names[1])).root
    page = unpacked(written(tmp_path, root))
    assert 'id="node=mul"' in page
    assert f'id="graph={names[1]}&amp;node=mul"' in page
    assert 'id="node=sin"' in page
    assert f'<a href="#graph={names[1]}&amp;node=mul">mul</a>' in page
    assert Places().place("node", "mul") is None


def test_200_graphs(tmp_path: Path) -> None:
    names = [f"model__{place}_inference_{place}.{place}" for place in range(200)]
    rows = [
        row
        for place, name in enumerate(names)
        for row in (
            Frame(
                graph=f"{place}/0", function=f"f{place}", file="/net.py", line=place + 1, status="compiled", graphs=1
            ),
            graph(name, compile_id=f"{place}/0"),
            node("mul", "aten.mul.Tensor", graph=name),
            ended(name),
        )
    ]
    page = written(tmp_path, made(tmp_path / "dump", *rows).root)
    everything = unpacked(page)
    assert len(page) < len(everything), "not all of it stands in the page as it is"
    for place, name in enumerate(names):
        assert f'id="graph={name}"' in everything
        assert f'id="compile={place}/0"' in everything
    assert section(page, "overview").count("<tr>") < 60, "the first screen stays one"
