"""What programs print, as a terminal would show it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.tui.terminal import MOST_LINES, Terminal
from inspect_compile.tui.widgets.terminal_lines import typed


def shown(*pieces: bytes, rows: int = 5, columns: int = 20) -> list[str]:
    """The lines after `pieces` of output."""
    terminal = Terminal(rows, columns)
    for piece in pieces:
        terminal.feed(piece)
    return [terminal.plain(index) for index in range(len(terminal))]


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (b"one\r\ntwo", ["one", "two"]),
        (b"10%\r 50%\r100%\r\ndone", ["100%", "done"]),
        (b"a long bar\r\x1b[Kshort", ["short"]),
        (b"first\r\nsecond\x1b[1A\x1b[2K\rFIRST\x1b[1B", ["FIRST", "second"]),
        (b"ab\b\bX", ["Xb"]),
        (b"a\tb", ["a       b"]),
        (b"x" * 25, ["x" * 20, "x" * 5]),
        (b"\x1b]0;a title\x07text", ["text"]),
        (b"\x1b]8;;http://host\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        (b"\x1b[?25l\x1b[1;31mred\x1b[0m\x1b[?25h", ["red"]),
        ("wide 語 e\u0301".encode(), ["wide 語 e\u0301"]),
        (b"bad \xff\xfe bytes", ["bad \ufffd\ufffd bytes"]),
        (b"old\r\n\x1b[2J\x1b[Hnew", ["old", "new"]),
        (b"\x1b[3;4Hhere", ["", "", "   here"]),
        (b"1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[Htop", ["1", "top", "3", "4", "5", "6"]),
    ],
)
def test_output_as_a_terminal_shows_it(output: bytes, lines: list[str]) -> None:
    assert shown(output) == lines


@given(st.binary(max_size=60), st.integers(0, 60))
def test_where_output_is_cut_makes_no_difference(output: bytes, cut: int) -> None:
    assert shown(output[:cut], output[cut:]) == shown(output)


@given(st.lists(st.sampled_from([b"\x1b[", b"9999", b";", b"m", b"H", b"J", b"A", b"P", b"X", b"\n", b"ab", b"\x1b"])))
def test_no_sequence_breaks_it(pieces: list[bytes]) -> None:
    terminal = Terminal(4, 10)
    terminal.feed(b"".join(pieces))
    for index in range(len(terminal)):
        assert len("".join(span.text for span in terminal.spans(index, 10))) <= 10


@pytest.mark.parametrize(
    ("sequence", "role"),
    [
        (b"\x1b[31m", "=color(1)"),
        (b"\x1b[1;97;44m", "=bold color(15) on color(4)"),
        (b"\x1b[38;5;208m", "=color(208)"),
        (b"\x1b[48;2;1;2;255m", "=on #0102ff"),
        (b"\x1b[3;4m\x1b[23m", "=underline"),
        (b"\x1b[31m\x1b[39m", ""),
        (b"\x1b[31;7m\x1b[m", ""),
    ],
)
def test_colours(sequence: bytes, role: str) -> None:
    terminal = Terminal()
    terminal.feed(sequence + b"x")
    assert terminal.spans(0, 80)[0].role == role


def test_old_lines_are_forgotten() -> None:
    terminal = Terminal()
    terminal.feed(b"line\r\n" * (2 * MOST_LINES))
    assert len(terminal) <= 1.2 * MOST_LINES
    assert terminal.forgotten > 0
    assert terminal.key(0) == str(terminal.forgotten)


@pytest.mark.parametrize(
    ("key", "character", "keys"),
    [
        ("a", "a", b"a"),
        ("é", "é", "é".encode()),
        ("enter", "\r", b"\r"),
        ("up", None, b"\x1b[A"),
        ("ctrl+c", "\x03", b"\x03"),
        ("ctrl+d", None, b"\x04"),
        ("tab", "\t", b"\t"),
        ("f5", None, b""),
    ],
)
def test_keys_as_a_terminal_sends_them(key: str, character: str | None, keys: bytes) -> None:
    assert typed(key, character) == keys


@pytest.mark.parametrize(
    "piece", ["\x1b]", "\x1b]0;a", "\x1b[", "\x1b[1", "\x1b[1m", "\x1bP", "a", "é", "\x1b", "\x07"]
)
def test_twice_the_output_takes_twice_the_time(piece: str) -> None:
    """A sequence without an end too, and thousands of them."""

    def seconds(times: int) -> float:
        data = (piece * times).encode()
        start = time.process_time()
        Terminal().feed(data)
        return time.process_time() - start

    for _ in range(3):  # a busy machine may be slow once
        once, twice = seconds(20_000), seconds(40_000)
        if twice <= max(2.5 * once, 0.05):
            return
    pytest.fail(f"{once:.3f} s, then {twice:.3f} s")
