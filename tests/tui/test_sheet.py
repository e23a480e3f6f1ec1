"""Rows fitted to any width, and code that stays what it is when it gets colours."""

import argparse
import contextlib
import inspect
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rich.table
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspect_compile.tables.columns import Column, Span, cell
from inspect_compile.tables.layout import fitted
from inspect_compile.tables.styled_text import styled
from inspect_compile.tui.models.code import Code, CodeLine, code_of, highlighted
from inspect_compile.tui.models.open_strings import opened_in
from inspect_compile.tui.models.sheet import Row, Subject, Table

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
COLUMNS: tuple[Column[str], ...] = (
    Column("name", str, stretch=True, least=6, most=20),
    Column("number", str, right=True),
    Column("more", str, drop=1),
    Column("even more", str, stretch=True, least=4, drop=2),
)


def painted(spans: list[Span]) -> list[tuple[str, str]]:
    """Each character with its role."""
    return [(letter, span.role) for span in spans for letter in span.text]


def text_of(spans: list[Span]) -> str:
    return "".join(span.text for span in spans)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), max_size=5), st.integers(30, 200))
def test_a_row_is_never_wider_than_the_screen(texts: list[tuple[str, str, str, str]], width: int) -> None:
    rows = [Row(str(index), tuple(map(cell, row))) for index, row in enumerate(texts)]
    table = Table((COLUMNS[0], Column("number", str, stretch=True, least=6), *COLUMNS[2:]), rows)
    for index in range(len(rows)):
        assert cell_len(text_of(table.spans(index, width))) <= width


def test_columns_give_way_in_the_order_they_say() -> None:
    cells = (cell("a name as long as twenty"), cell("12345"), cell("more text"), cell("even more text"))
    table = Table(COLUMNS, [Row("row", cells)])
    assert text_of(table.titles(80)).split() == ["name", "number", "more", "even", "more"]
    assert text_of(table.titles(30)).split() == ["name", "number", "more"]
    assert text_of(table.titles(20)).split() == ["name", "number"]
    assert text_of(table.spans(0, 20)) == "a name as l…   12345"
    assert table.plain(0) == "a name as long as twenty  12345", "what is not shown is not found either"


def test_rows_that_are_not_seen_are_not_put_into_words() -> None:
    asked: list[int] = []

    def cells(index: int) -> tuple[tuple[Span, ...], ...]:
        asked.append(index)
        return (cell(f"row {index}"),)

    rows = [Row(str(index), lambda index=index: cells(index)) for index in range(50_000)]  # type: ignore[misc]
    table = Table((Column("row", str),), rows)
    assert len(asked) < 1_000
    assert text_of(table.spans(49_998, 20)) == "row 49998"


@pytest.mark.parametrize("width", range(5, 40))
def test_a_place_of_a_library_keeps_its_number(width: int) -> None:
    shown = text_of(fitted([Span("model.py:41"), Span(" ← pytorch_utils.py:119", "dim")], width))
    assert shown.endswith("119")
    assert cell_len(shown) <= width


@pytest.mark.parametrize(
    ("width", "told"),
    [(20, "kvcache.py:46 47 115"), (16, "kvcache.py:46 …"), (13, ":46 47 115"), (8, ":46 47 …")],
)
def test_lines_of_a_file_keep_their_numbers_before_its_name(width: int, told: str) -> None:
    assert text_of(fitted([Span("kvcache.py:46 47 115")], width)) == told


@pytest.mark.parametrize(
    ("name", "width", "told"),
    [
        ("missed_fusion.py:22", 17, "missed_fusion…:22"),
        ("missed_fusion.py:22 23", 10, ":22 23"),
        ("aten.var_mean.correction", 20, "aten.var_mean"),
        ("aten.var_mean.correction", 9, "var_mean"),
        ("aten.add.Tensor", 15, "aten.add.Tensor"),
        ("torch.ops.aten.cumsum.default", 24, "aten.cumsum.default"),
        ("torch.ops.aten.cumsum.default", 18, "aten.cumsum"),
        ("torch.ops.mylib.mine.default", 12, "mylib.mine"),
        ("torch.ops.higher_order.cond", 10, "cond"),
        ("mylib.mine.default", 12, "mylib.mine"),
        ("torch._C._nn.linear", 10, "linear"),
        ("operator.getitem", 12, "getitem"),
        ("extern_kernels.addmm", 16, "addmm"),
        ("aten.convolution_backward.default", 12, "convolution…"),
        ("train.forward.py", 10, "train.for…"),
    ],
)
def test_an_operator_and_a_line_keep_what_tells_them_apart(name: str, width: int, told: str) -> None:
    for middle in (False, True) if name.startswith(("aten.var", "torch.ops")) else (False,):
        assert text_of(fitted([Span(name)], width, middle=middle)) == told


@given(TEXTS, st.integers(1, 40), st.booleans())
def test_a_text_is_cut_to_the_width(text: str, width: int, middle: bool) -> None:
    assert cell_len(text_of(fitted([Span(text)], width, middle=middle))) <= width


def test_a_name_keeps_its_end_where_that_tells_it_apart() -> None:
    name = [Span("cpp_fused_native_layer_norm_relu_12")]
    assert text_of(fitted(name, 20, middle=True)) == "…native_layer…elu_12"
    assert text_of(fitted(name, 20)) == "…native_layer_norm_…"
    assert text_of(fitted(name, 26)) == "…native_layer_norm_relu_12"
    assert text_of(fitted([Span("triton_red_fused__softmax_3")], 12)) == "…softmax_3"


@pytest.mark.parametrize(
    ("spans", "width", "middle", "shown"),
    [
        (("f32[2, 32, 128]",), 13, False, "f32[2, 32, …"),
        (("op16_op235",), 9, False, "op16_op…"),
        (("1,024 rows",), 4, False, "…"),
        (("33.25 kB",), 4, False, "…"),
        (("modeling_gpt2.py:1305 forward",), 20, True, "modeling_gpt2…orward"),
        (("   ", "modeling_gpt2.py:1305", " forward"), 20, True, "   modeling_gp…:1305"),
        (("   ", "modeling_gpt2.py:13052", " forward"), 18, True, "   modeling_…13052"),
        (("kernel_12345678",), 11, True, "kernel_…"),
    ],
)
def test_a_number_is_never_cut(spans: tuple[str, ...], width: int, middle: bool, shown: str) -> None:
    assert text_of(fitted([Span(text) for text in spans], width, middle=middle)) == shown


@pytest.mark.parametrize(
    ("spans", "width", "shown"),
    [
        (("train.py:41", " ← adam.py:414"), 25, "train.py:41 ← adam.py:414"),
        (("train.py:41", " ← adam.py:414"), 20, "← adam.py:414"),
        (("mul · train.py:41", " ← adam.py:414"), 20, "mul ← adam.py:414"),
        (("mul · train.py:41", " ← _multi_tensor_adam.py:414"), 20, "mul ← _multi_t…y:414"),
        (("softmax · model.py:9",), 15, "softmax :9"),
        (("softmax · model.py:9 12",), 15, "softmax :9 12"),
        (("addmm · nothing of that kind",), 10, "addmm · n…"),
    ],
)
def test_a_place_that_does_not_fit_keeps_what_tells_rows_apart(spans: tuple[str, ...], width: int, shown: str) -> None:
    assert text_of(fitted([Span(text) for text in spans], width)) == shown


def test_nothing_from_a_dump_moves_the_cursor_or_turns_the_text() -> None:
    hostile = "a\x1b[2Jb\x07c\u202ed\x9b31me\nf"
    table = Table((Column("text", str),), [Row("row", (cell(hostile),))])
    code = Code([CodeLine(hostile, 1, language="python"), styled(hostile, "title")])
    code.spans(0, 80)
    code.colour()
    for spans in (table.spans(0, 80), code.spans(0, 80), code.spans(1, 80)):
        assert not set(text_of(spans)) & set("\x1b\x07\u202e\x9b")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=20), max_size=9))
def test_colours_change_no_text(lines: list[str]) -> None:
    for language in ("python", "cpp", ""):
        assert [text_of(spans) for spans in highlighted(lines, language)] == lines


@pytest.mark.parametrize(
    ("language", "line", "word"), [("python", "def f(): pass", "def"), ("cpp", "float x;", "float")]
)
def test_code_gets_its_colours_when_asked(language: str, line: str, word: str) -> None:
    code = code_of(line, language)
    assert code.spans(0, 80) == [Span(line)]
    assert code.wants_colour
    code.colour()
    assert not code.wants_colour
    found = next(span for span in code.spans(0, 80) if span.text.strip() == word)
    assert found.role in ("keyword", "type")


def test_one_thread_at_a_time_finds_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view that is drawn again asks anew, while the thread that it asked first is still at work."""
    code = code_of("x = 1\n" * 600, "python")
    for index in range(0, 600, 100):
        code.spans(index, 80)
    together = threading.Barrier(2)
    met = []

    def find(_: int) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(0.2)
            met.append(True)

    monkeypatch.setattr(code, "_colour", find)
    with ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(code.colour) for _ in range(2)]:
            job.result()
    assert not met
    assert not code.wants_colour


@pytest.mark.parametrize("file", [inspect.getfile(argparse), inspect.getfile(textwrap), inspect.getfile(rich.table)])
def test_a_piece_has_the_colours_of_the_whole_file(file: str) -> None:
    """Wherever it is scrolled to first: also in the middle of a docstring."""
    lines = [line.expandtabs(4) for line in Path(file).read_text("utf-8").splitlines()]
    whole = highlighted(lines, "python")
    for index in range(0, len(lines), 40):
        code = code_of("\n".join(lines), "python")
        code.spans(index, 80)
        code.colour()
        assert painted(code.spans(index, 80)) == painted(whole[index]), lines[index]


def test_an_excerpt_that_begins_in_a_comment_has_the_colours_of_the_whole_file() -> None:
    lines = ["int a; /* one", "two", "three */ int b;", "// /* four", "int c;"]
    opened = opened_in(lines, "cpp")
    assert opened == {1: "/*", 2: "/*"}
    code = Code([CodeLine(lines[place], place, language="cpp", opened=opened[place]) for place in (2,)])
    code.spans(0, 80)
    code.colour()
    assert painted(code.spans(0, 80)) == painted(highlighted(lines, "cpp")[2])


def test_a_kernel_in_generated_code_is_no_string() -> None:
    code = Code(
        [
            CodeLine("k = async_compile.triton('k', '''", 1, language="python"),
            CodeLine("import triton", 2, language="python", begins=True),
            CodeLine("''', device_str='cuda')", 3),
        ]
    )
    for index in range(3):
        code.spans(index, 80)
    code.colour()
    assert code.spans(1, 80)[0] == Span("import", "keyword")


def test_languages_do_not_run_into_each_other() -> None:
    code = Code(
        [
            CodeLine("k = f('''", 1, language="python"),
            CodeLine("float x;", 2, language="cpp"),
            CodeLine("''')", 3),
            CodeLine("import torch", 4, language="python"),
        ]
    )
    for index in range(4):
        code.spans(index, 80)
    code.colour()
    assert code.spans(2, 80) == [Span("''')")]
    assert code.spans(3, 80)[0] == Span("import", "keyword")


def test_a_line_knows_its_key_after_others_came_before_it() -> None:
    subject = Subject("line", (), "x")
    before = Code([CodeLine("a", 1), CodeLine("b", 2, subject=subject)])
    after = Code([styled("heading", "title"), CodeLine("a", 1), CodeLine("b", 2)])
    assert before.key(1) == after.key(2)


def test_a_megabyte_in_one_line_does_not_hold_up_the_screen() -> None:
    huge = "tmp0 = " + "x" * 1_000_000
    table = Table((Column("text", str, stretch=True),), [Row("row", (cell(huge),))])
    code = Code([CodeLine(huge, 1, language="python")])
    code.spans(0, 80)
    code.colour()
    assert cell_len(text_of(table.spans(0, 80))) == 80
    assert len(text_of(code.spans(0, 80))) < 10_000
    assert code.width < 10_000
