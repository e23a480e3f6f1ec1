"""Filtered and sorted lists: the rows are the same ones, in the order of their values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspect_compile.tables.columns import Column, cell
from inspect_compile.tables.layout import widths_in
from inspect_compile.tables.styled_text import styled
from inspect_compile.tui.models.arranged import AS_IT_COMES, Arrangement, arranged, order_key
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Row, Table

COLUMNS: tuple[Column[str], ...] = (
    Column("name", str, stretch=True, least=6),
    Column("bytes", str, right=True),
    Column("where", str, drop=1),
)


def table(*rows: tuple[str, str, str] | str) -> Table:
    """A table; a text is a heading."""
    made = [Row.title(row, row) if isinstance(row, str) else Row(row[0], tuple(map(cell, row))) for row in rows]
    return Table(COLUMNS, made)


def keys(found: Table, how: Arrangement) -> list[str]:
    shown, rows, _ = arranged(found, how)
    assert [shown.key(place) for place in range(len(shown))] == [found.key(index) for index in rows]
    return [found.key(index) for index in rows]


@pytest.mark.parametrize(
    "ordered",
    [
        ["op2", "op9", "op10", "op10_op11"],
        ["9 B", "1,023 B", "1.5 kB", "262 kB", "≤ 300 kB", "1.2 MB", "3 GB"],
        ["2 ns", "1 µs", "900 µs", "1 ms", "2.5 s", "1 min", "2 h"],
        ["-3", "-1.5", "0", "1e-3 s", "0.5 %", "12.5 %", "100.00 %"],
        ["2×", "10×", "300×"],
        ["4.19 k", "12.6 M", "1 G", "7", ][:3],
        ["3 kernels", "12 kernels"],
        ["1 FLOP", "2 kFLOP", "1 MFLOP"],
        ["5 B", "word", ""],
    ],
)  # fmt: skip
def test_amounts_are_ordered_by_what_they_are_worth(ordered: list[str]) -> None:
    assert sorted(sorted(ordered), key=lambda text: order_key(cell(text))) == ordered


@given(st.lists(st.text(max_size=12), max_size=8))
def test_any_texts_have_an_order(texts: list[str]) -> None:
    assert sorted(texts, key=lambda text: order_key(cell(text))) is not None


def test_rows_are_sorted_by_a_column_and_the_empty_ones_come_last() -> None:
    found = table("first part", ("a", "9 kB", "x"), ("b", "", "y"), "second part", ("c", "1.2 MB", ""), "a note")
    assert keys(found, Arrangement(column="bytes")) == ["a", "c", "b", "a note"]
    assert keys(found, Arrangement(column="bytes", is_descending=True)) == ["c", "a", "b", "a note"]
    assert keys(found, Arrangement(column="no such column")) == [found.key(index) for index in range(len(found))]
    titles = "".join(span.text for span in arranged(found, Arrangement(column="bytes")).sheet.titles(40))
    assert titles.split() == ["name", "bytes", "▲", "where"]


def test_a_filter_keeps_the_heading_of_what_it_finds() -> None:
    found = table("first part", ("add_1", "9 kB", ""), "second part", ("mul_1", "8 kB", ""), ("mul_2", "9 kB", ""))
    assert keys(found, Arrangement("MUL")) == ["second part", "mul_1", "mul_2"]
    assert keys(found, Arrangement("9 kB", "name", is_descending=True)) == ["mul_2", "add_1"]
    assert keys(found, Arrangement("nowhere")) == []


def test_columns_are_hidden_and_the_room_goes_to_the_others() -> None:
    found = table(("a", "9 kB", "somewhere"))
    shown = arranged(found, Arrangement(hidden=frozenset({"bytes"}))).sheet
    assert "".join(span.text for span in shown.titles(40)).split() == ["name", "where"]
    assert shown.plain(0) == "a  somewhere"
    assert arranged(found, AS_IT_COMES).sheet is found


def test_code_is_filtered_line_by_line_and_keeps_its_numbers() -> None:
    code = Code([styled("model.py", "title"), CodeLine("x = 1", 7, language="python"), CodeLine("y = x", 9)])
    shown, rows, _ = arranged(code, Arrangement("y ="))
    assert list(rows) == [0, 2]
    assert "".join(span.text for span in shown.fixed(1)).strip() == "9"
    assert shown.key(1) == "9"


SHAPES = st.lists(st.tuples(st.integers(1, 30), st.booleans(), st.integers(0, 3)), min_size=1, max_size=7)


@given(st.integers(4, 120), SHAPES)
def test_a_column_is_there_whole_or_not_at_all(width: int, of: list[tuple[int, bool, int]]) -> None:
    columns = [
        Column(f"title {index}", str, right=not stretch, stretch=stretch, drop=drop if index else 0)
        for index, (_, stretch, drop) in enumerate(of)
    ]
    natural = [max(size, cell_len(column.title)) for (size, _, _), column in zip(of, columns, strict=True)]
    sizes = widths_in(width, columns, natural)
    there = [index for index, size in enumerate(sizes) if size]
    assert there
    assert sum(sizes) + 2 * (len(there) - 1) <= width
    if len(there) > 1:
        for index in there:
            has_title = columns[index].stretch and sizes[index] >= cell_len(columns[index].title)
            assert sizes[index] == natural[index] or has_title
