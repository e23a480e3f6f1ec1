"""The page as a file: what is in it without a browser, and that nothing in a dump becomes markup."""

import ast
import base64
import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import DynamoNode, Kernel, Node
from inspect_compile.graph import CompiledGraph
from inspect_compile.report.fx_text import graph_lines
from inspect_compile.report.markup import Markup, element, escaped, joined
from inspect_compile.report.packing import unpacked
from tests.report.pages import HOSTILE, MIXED, hostile, recorded, seen, written
from tests.stages import LABELS, staged_dump

OURS = frozenset(
    (
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "script",
            "body",
            "header",
            "h1",
            "h2",
            "h3",
            "h4",
            "p",
            "nav",
            "a",
        ),
        *("noscript", "main", "section", "details", "summary", "b", "i", "div", "pre", "table", "thead", "tr", "th"),
        *("tbody", "td", "u", "code", "span", "figure", "figcaption", "ul", "li", "footer"),
        *("svg", "g", "rect", "text", "line", "path", "polygon", "polyline", "ellipse", "circle"),
    )
)
"""Every element that a page can have; those of drawings last."""
LINKS = ("src", "href", "xlink:href", "action", "formaction", "srcdoc", "data", "style")


@given(st.text())
def test_a_text_comes_back_from_a_parser_and_nothing_else_does(text: str) -> None:
    found = seen(element("p", text, title=text))
    (tag, attributes), *others = found.elements
    assert not others
    assert tag == "p"
    assert set(attributes) == {"title"}
    assert attributes["title"] == "".join(data for _, data in found.texts)


def test_markup_is_not_escaped_again() -> None:
    assert escaped(Markup("<b>")) == "<b>"
    assert joined("<", Markup("<br>"), between="&") == "&lt;&amp;<br>"
    assert element("p", "a", hidden=True, class_=None, data_n="1 2") == '<p hidden data-n="1 2">a</p>'


def test_a_recorded_dump(tmp_path: Path) -> None:
    page = written(tmp_path, recorded(tmp_path))
    found = seen(page)
    assert not found.faults
    assert {tag for tag, _ in found.elements} <= OURS
    links = [value for tag, attributes in found.elements for name, value in attributes.items() if name in LINKS]
    assert links
    assert all(link and link.startswith("#") for link in links), "nothing is loaded from anywhere"
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {f"#{name}" for name in ids} >= set(links)
    _has_its_policy(page)


def _has_its_policy(page: str) -> None:
    """The one script and the one style are those that the policy names, and it stands before both."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
        assert policy.start() < page.index(f"<{name}>")


def test_all_is_there(tmp_path: Path) -> None:
    """Names of every node and kernel, the source of every kernel, and the program's lines are text of the page, packed
    or not.
    """
    dump = open_dump(recorded(tmp_path))
    text = " ".join(seen(written(tmp_path, dump.root)).text().split())
    for node in dump.rows(Node):
        if node.stage == "post_grad":
            assert node.name in text
            assert node.where is None or " ".join(node.where.code.split()) in text
    sources = 0
    for kernel in dump.rows(Kernel):
        assert kernel.name in text
        source = dump.text(kernel.graph, kernel.source) if kernel.source else None
        for line in (source or "").splitlines():
            assert " ".join(line.split()) in text
            sources += 1
    assert sources > 50


def test_lines_nodes_and_statements_share_numbers(tmp_path: Path) -> None:
    """The linear layer's line, its node and its kernel's statements: what the TUI marks is what the page marks."""

    dump = open_dump(recorded(tmp_path))
    page = unpacked(written(tmp_path, dump.root))
    for graph in dump.outermost():
        of = CompiledGraph(dump, graph.graph).provenance
        code = page[page.index(f'id="graph={graph.graph}"') :].partition('<details class="code"')[0]
        for number, node in enumerate(of.nodes[:40]):
            name = of.key(node.graph, node.name)
            assert re.search(rf'<div data-n="{number}" id="[^"]*"><u>{number}</u><code>{re.escape(name)} = ', code)
            line = of.line_of_node.get(name)
            if line is not None:
                marked = re.findall(rf'<div data-n="([\d ]+)" id="[^"]*"><u>{line.number}</u>', code)
                assert any(str(number) in numbers.split() for numbers in marked), name


def test_stages_of_a_gpu(tmp_path: Path) -> None:
    staged_dump(tmp_path / "dump")
    page = unpacked(written(tmp_path, tmp_path / "dump"))
    found = seen(page)
    assert not found.faults
    for stage, words in (("ptx", ".target sm_90a"), ("sass", "LDC R1, c[0x0][0x28]"), ("ttgir", "#blocked = ")):
        assert f"<summary>{stage}  {LABELS[0]}</summary>" in page
        assert words in found.text()
    stores = re.findall(r'<div data-n="0"><u>\d+</u><code>[^<]*st\.global[^<]*</code><i>source (\d+)', page)
    assert stores == ["26"], "the store of the kernel's source, and so of its node and of line 7"


def test_nothing_hostile_becomes_markup(tmp_path: Path) -> None:
    page = written(tmp_path, hostile(tmp_path / "dump").root)
    found = seen(page)
    assert not found.faults
    assert {tag for tag, _ in found.elements} <= OURS
    for tag, attributes in found.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert all((attributes[name] or "").startswith("#") for name in LINKS if name in attributes)
    _has_its_policy(page)
    text = " ".join(found.text().split())
    for attempt in HOSTILE:
        assert attempt in text, "it is shown as what it is"


def test_rows_are_limited_and_it_is_told(tmp_path: Path) -> None:
    page = written(tmp_path, recorded(tmp_path), "--rows", "3")
    assert re.search(r"… \d+ more", page)
    assert len(page) < len(written(tmp_path, tmp_path / "mixed"))


@pytest.mark.parametrize("words", [["--rows", "0"], ["nowhere"]])
def test_bad_input_is_one_line(tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from inspect_compile.commands import main

    assert main(["report", *words, "-o", str(tmp_path / "page.html")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


def test_a_stage_as_text_is_a_program(tmp_path: Path) -> None:
    dump = Dump(MIXED)
    rows = dump.rows_of_compile(DynamoNode, "0/0")

    lines = list(graph_lines(rows))

    computed = [line for line in lines if not line.startswith("# ")]
    assert len(computed) == len(rows)
    for row, line in zip(rows, computed, strict=True):
        assert line.startswith("return " if row.op == "output" else row.name)
    calls = [line.partition(" = ")[2] for row, line in zip(rows, computed, strict=True) if row.op == "call_function"]
    assert calls
    for call in calls:
        ast.parse(call, mode="eval")
    page = unpacked(written(tmp_path, MIXED))
    assert escaped("\n".join(lines)) in page
