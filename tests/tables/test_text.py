"""Words for values."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.facts import Location
from inspect_compile.tables import text


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("a\x08\x08\x07b\rc\x7fd\x9bm", "abcdm"),
        ("\x1bcreset", "reset"),
        ("left \u202eright", "left right"),
        ("a\tb", "a   b"),
        ("two\nlines [bold]kept[/bold] :smile:", "two\nlines [bold]kept[/bold] :smile:"),
    ],
)
def test_nothing_of_a_dump_steers_the_terminal(hostile: str, harmless: str) -> None:
    assert text.clean(hostile) == harmless


@given(st.text())
def test_cleaned_text_is_only_letters_and_lines(anything: str) -> None:
    cleaned = text.clean(anything)

    assert not any((ord(letter) < 32 and letter != "\n") or 127 <= ord(letter) < 160 for letter in cleaned)
    assert text.clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1024, "1.02 kB"),
        (99_900, "99.9 kB"),
        (262_144, "262 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (4_100_000, "4.1 MB"),
        (2 << 40, "2.2 TB"),
        (-262_144, "-262 kB"),
        (None, "?"),
    ],
)
def test_bytes(count: int | None, told: str) -> None:
    assert text.byte_text(count) == told


def test_multiples() -> None:
    assert text.multiple_text(12_355_200, "FLOP") == "12.4 MFLOP"
    assert text.multiple_text(7, "FLOP") == "7 FLOP"


@pytest.mark.parametrize(
    ("total", "told"), [(0, "0"), (960, "960"), (12_355_200, "12355.200K"), (283_115_520, "283.116M")]
)
def test_flops_take_the_suffix_of_their_table(total: int, told: str) -> None:
    assert text.flop_text(total, text.flop_suffix(total)) == told


@pytest.mark.parametrize(
    ("seconds", "told"), [(11.28, "11.3 s"), (0.1, "0.1 s"), (0.0296, "30 ms"), (0.0003, "0.3 ms"), (None, "?")]
)
def test_seconds(seconds: float | None, told: str) -> None:
    assert text.seconds_text(seconds) == told


def test_places() -> None:
    lines = [
        Location("/a/net.py", 3),
        Location("C:\\b\\loss.py", 7),
        Location("/a/net.py", 5),
        Location("/a/net.py", 3),
    ]

    assert text.place_text(lines[0]) == "net.py:3"
    assert text.place_text(None) == ""
    assert text.lines_text(lines) == "net.py:3 5  loss.py:7"


def test_exceptions_without_advice_on_torch() -> None:
    told = "InductorError: no compiler\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace"

    assert text.exception_text(told) == "InductorError: no compiler"


@given(st.text())
def test_json_means_the_same_and_steers_nothing(anything: str) -> None:
    encoded = text.terminal_safe(msgspec.json.encode([anything]))

    assert msgspec.json.decode(encoded) == [anything]
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in encoded.decode())


def test_a_process_that_python_starts_is_not_called_by_its_code() -> None:
    code = "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=4, pipe_handle=6)"
    assert text.program_words(["-B", "-c", code, "--multiprocessing-fork"]) == ["process of multiprocessing"]
    assert text.program_words(["/usr/bin/python3", "/home/me/train.py", "-c", "x"]) == ["train.py", "-c", "x"]


def test_numbers_of_things() -> None:
    assert text.number_of(1, "kernel") == "1 kernel"
    assert text.number_of(1024, "kernel") == "1,024 kernels"
    assert text.number_of(2, "process", "processes") == "2 processes"


def test_columns() -> None:
    assert text.columns([("a", "10", "x"), ("bcd", "7", "")], right=frozenset({1})) == ["a    10  x", "bcd   7"]
    assert text.columns([]) == []


def test_one_very_long_cell_does_not_make_all_lines_as_long() -> None:
    lines = text.columns([("x" * 100_000, "end"), ("y", "end")])

    assert len(lines[0]) > 100_000
    assert len(lines[1]) < 1_000


def test_a_cell_is_one_line() -> None:
    assert text.columns([("a\n::error::b", "c"), ("d", "e")]) == ["a ::error::b  c", "d             e"]


def test_a_log_carries_nothing_out() -> None:
    assert (
        text.log_safe("::error::a\n  ::group::b\nc ##vso[x] ##[y]") == ": :error::a\n  : :group::b\nc # #vso[x] # #[y]"
    )
    for kept in ("std::max(a)", "a::b", "## title", ":: x", "1::2"):
        assert text.log_safe(kept) == kept
