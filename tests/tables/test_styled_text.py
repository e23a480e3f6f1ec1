"""Styled text in the views that show it: lines of a width, colours, plain text, HTML."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from inspect_compile.report.blocks import shown
from inspect_compile.tables.block_lines import laid_out, plain_text, wrapped
from inspect_compile.tables.columns import Column, Span, cell, plain
from inspect_compile.tables.styled_text import Block, Claim, Fitted, Stack, StyledLine, Table, joined, styled
from inspect_compile.tables.terminal import Drawn

TEXTS = (
    "",
    "short",
    "words that go on and on until there is no room for the last of them",
    "  an indented sentence, with   blanks between",
    "a_very_long_name_that_is_wider_than_anything and more",
    "全角の文字は二桁 で、 行の終わりで切れない",
    "ends in blanks          ",
)
COLUMNS: tuple[Column[str], ...] = (
    Column("name", lambda row: row, role="good"),
    Column("size", lambda row: str(len(row)), right=True),
)
PAGE: Block = Stack(
    [
        joined(("title", "strong"), "  ", ("about", "dim"), is_cut=True),
        Table(COLUMNS, ["a", "bcd"], title=styled("names", "strong"), notes=[styled("… 2 more", "dim")]),
        Claim(styled("a sentence with evidence", "warn"), "show d1 nodes"),
        Fitted(lambda width: [styled(f"{width:,} columns")]),
    ]
)


@pytest.mark.parametrize("width", [3, 8, 20, 79])
@pytest.mark.parametrize("text", TEXTS)
def test_a_line_is_broken_where_rich_breaks_it(text: str, width: int) -> None:
    lines = [plain(line) for line in wrapped(cell(text), width)]
    assert lines == [line.plain for line in Text(text).wrap(Console(), width)] or not text


def test_spans_keep_their_roles_where_a_line_is_broken() -> None:
    first, second = wrapped((Span("one two", "good"), Span(" three four", "bad")), 12)
    assert first == (Span("one two", "good"), Span(" ", "bad"))
    assert second == (Span("three four", "bad"),)


@pytest.mark.parametrize("width", [16, 30, 80])
def test_the_terminal_shows_the_text_of_a_file_in_colours(width: int) -> None:
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=True, color_system="standard", highlight=False).print(Drawn(PAGE))
    assert "\x1b[1mtitle\x1b[0m" in file.getvalue()
    assert Text.from_ansi(file.getvalue()).plain.rstrip("\n") == plain_text(PAGE, width).rstrip("\n")


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in (5, 12, 30):
        assert all(len(plain(line)) <= width for line in laid_out(PAGE, width))


def test_html_has_tables_as_tables_and_roles_as_classes() -> None:
    html = shown(PAGE)
    assert (html.rows, html.words) == (2, "title  about")
    assert '<i class="strong">title</i>  <i class="dim">about</i>' in html.html
    assert "<tr><td><i class=good>bcd</i><td>3" in html.html
    command = '<code class="cmd">inspect-compile show d1 nodes</code>'
    assert f'<i class="warn">a sentence with evidence</i>    {command}' in html.html


def test_nothing_of_a_dump_is_taken_for_markup_or_an_escape_sequence() -> None:
    hostile = Stack([StyledLine((Span("<b>[red]\x1b[31m", "bad"),))])
    assert plain_text(hostile) == "<b>[red]\n"
    assert "<b>" not in shown(hostile).html
