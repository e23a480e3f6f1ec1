"""Names in tables and sentences as links, commands in full, lines as paragraphs, parts packed."""

import base64
import re
import zlib

import pytest

from inspect_compile.facts import Node
from inspect_compile.report.blocks import shown, table
from inspect_compile.report.lines import LONGEST, paragraphs
from inspect_compile.report.links import Links
from inspect_compile.report.markup import Markup, element
from inspect_compile.report.packing import PLAIN, PLAIN_OF_MANY, first_plain, packed
from inspect_compile.report.places import Places
from inspect_compile.tables.columns import Column, Span, cell
from inspect_compile.tables.lowering.nodes import COLUMNS
from inspect_compile.tables.styled_text import Claim, Stack, StyledLine, Table, joined, styled
from tests.handmade import node

PLACES = Places(compiles=["0/0", "a b/1"], calls=["train.py:7"])


@pytest.mark.parametrize(
    ("said", "line", "place"),
    [
        ("show d findings", "inspect-compile show d findings", "#table-findings"),
        ("show d --rank 0 findings", "inspect-compile show d --rank 0 findings", "#table-findings"),
        ("inspect-compile show d findings --all", "inspect-compile show d findings --all", "#table-findings"),
        ("show d steps", "inspect-compile show d steps", None),
        ("why d op0 op1", "inspect-compile why d op0 op1", None),
        ("inspect-compile run --measure SCRIPT", "inspect-compile run --measure SCRIPT", None),
        ("show d kernel 'no quote", "inspect-compile show d kernel 'no quote", None),
    ],
)
def test_a_command_is_a_whole_line_and_leads_to_its_table(said: str, line: str, place: str | None) -> None:
    found = Links(PLACES, "d", ["findings"]).command(said)
    assert found is not None
    assert re.sub(r"<[^>]*>", "", found).replace("&#x27;", "'") == line
    assert ('<i class="dump">d</i>' in found) == (" d " in line)
    assert re.findall(r'href="([^"]*)"', found) == ([place] if place else [])


@pytest.mark.parametrize("text", ["", "findings", "showing d", "to do", "show"])
def test_other_words_are_no_command(text: str) -> None:
    assert Links(PLACES, "d").command(text) is None
    assert not Links(PLACES, "d").is_command(Span(text, "accent"))
    assert not Links(PLACES, "d").is_command(Span("show d findings", "dim"))


def test_names_are_linked_as_what_they_are() -> None:
    links = Links(PLACES)
    assert links.text("0/0 at train.py:7, 1/0, 0/00") == (
        '<a href="#compile=0/0">0/0</a> at <a href="#line=train.py:7">train.py:7</a>, 1/0, 0/00'
    )
    assert links.text("0/0", column="code") == "0/0", "code is the program's"
    assert links.prose("`x < 1` at train.py:7") == (
        '<code>x &lt; 1</code> at <a href="#line=train.py:7">train.py:7</a>'
    )


def test_lines_are_paragraphs_with_labels_and_counts() -> None:
    lines = [joined("   ", ("why    ", "dim"), "a <b>"), *[styled("    again", "dim")] * 3, styled("")]
    html = paragraphs(lines, Links())
    assert html == (
        '<div class="said in2 labelled"><span class="label"><i class="dim">why</i></span><div>a &lt;b&gt;</div></div>\n'
        '<div class="said in2"><i class="dim">again</i><i class="dim"> ×3</i></div>'
    )


def test_aligned_lines_keep_their_blanks() -> None:
    html = paragraphs([StyledLine(cell("a   b"), is_aligned=True), StyledLine(cell("aa  b"), is_aligned=True)], Links())
    assert html == '<pre class="text">a   b\naa  b</pre>'


def test_the_end_of_a_long_line_is_folded_and_nothing_is_lost() -> None:
    text = "".join(f"word{place} " for place in range(LONGEST))
    html = paragraphs([styled(text)], Links())
    assert '<details class="rest"><summary>…' in html
    said = re.sub(r"<summary>.*?</summary>|<[^>]*>", "", html)
    assert said == text


def test_equal_notes_stand_once_with_their_count() -> None:
    column: Column[int] = Column("n", str)
    notes = [styled("bytes only", "dim"), styled("of one", "dim")]
    block = Stack([Table([column], [1], notes=notes), Table([column], [2], notes=notes[:1])])
    html = shown(block).html
    assert html.count("bytes only") == 1
    assert re.search(r"bytes only</i><i class=\"dim\">   ×2", html)
    assert html.index("of one") < html.index("bytes only")


def test_parameters_are_folded_in_a_table_of_their_own() -> None:
    rows: list[Node] = [node(f"arg{place}", op="placeholder") for place in range(3)]
    html = table(Table(COLUMNS, [*rows, node("mul", "aten.mul.Tensor")]))
    folded, _, rest = html.partition("</details>")
    assert "<summary>3 parameters and placeholders</summary>" in folded
    assert folded.count("<tr><td>") == 3
    assert rest.count("<tr><td>") == 1
    assert "<details" not in table(Table(COLUMNS, rows)), "they are all that there is"


def test_the_end_of_a_long_cell_is_folded_between_two_words() -> None:
    names = " ".join(f"node_{place}" for place in range(60))
    html = table(Table([Column("list", lambda row: row)], [names]))
    start, _, rest = html.partition('<details class="rest"><summary>… more</summary>')
    assert start.endswith(" ")
    assert start.rpartition("<td>")[2] + rest.partition("</details>")[0] == names
    assert "<details" not in table(Table([Column("list", lambda row: row)], [names[:200]]))


def test_what_is_long_is_packed_and_comes_back() -> None:
    short, long = element("p", "x" * 10), element("p", "é<" * PLAIN)
    assert packed(short, "nothing") == short
    html = packed(long, "the <end>")
    assert len(html) < 0.1 * len(long)
    (data,) = re.findall(r'<template class="pack" data-kind="html">(.*)</template>', html)
    assert zlib.decompress(base64.b64decode(data), -15).decode() == long
    assert "the &lt;end&gt; (needs JavaScript)" in html


def test_of_many_parts_the_first_ones_are_plain() -> None:
    parts = [Markup(f"<p>{place}{'x' * (PLAIN_OF_MANY // 4)}</p>") for place in range(8)]
    first = first_plain(parts, "more")
    assert list(first[:-1]) == parts[: len(first) - 1]
    assert 1 < len(first) < len(parts)
    assert first_plain(parts[:2], "more") == parts[:2]


def test_a_long_table_has_its_first_rows_and_the_others_packed() -> None:
    column: Column[int] = Column("number", lambda row: f"{row} {'x' * 200}")
    html = table(Table([column], range(1000)))
    assert html.count("<tr><td>") == 40
    assert "960 more rows (needs JavaScript)" in html
    assert 'data-kind="rows"' in html
    assert "<template" not in table(Table([column], range(20)))


def test_a_claim_ends_in_its_command() -> None:
    html = shown(Claim(styled("one kernel"), "show d kernels"), Links(PLACES, "d", ["kernels"])).html
    assert html.endswith(
        '<a href="#table-kernels" class="cmd"><code class="cmd">inspect-compile show <i class="dump">d</i> kernels'
        "</code></a></div></div>"
    )
