"""What differs between two accesses of one buffer."""

import pytest

from inspect_compile.facts import Access
from inspect_compile.graph.indexing.difference import Difference, differences


def access(index: str | None, *ranges: str, buffer: str = "buf0") -> Access:
    return Access(buffer=buffer, index=index, ranges=ranges, kind="star" if index is None else "memory")


def difference(a: Access, b: Access) -> Difference:
    (found,) = differences([a], [b])
    return found


def marked(found: Difference) -> tuple[list[str], list[str]]:
    a, b = found.a.index or "", found.b.index or ""
    return [a[start:end] for start, end in found.a_marks], [b[start:end] for start, end in found.b_marks]


ROWS = access("32*c0 + c1", "c0=32", "c1=64")
FLAT = access("c0", "c0=1024")


@pytest.mark.parametrize(
    ("a", "b", "kind", "a_marked", "b_marked"),
    [
        (ROWS, access("32*i0 + i1", "i0=32", "i1=64"), "same", [], []),
        (access("32*c0 + c1", "c0=32", "c1=32"), FLAT, "same", [], []),  # one contiguous stretch
        (access("c0 + c1*s7", "c0=s7", "c1=s7"), access("c0", "c0=s7**2"), "transposed", ["c0", "c1*s7"], ["c0"]),
        (access("c0*s7 + c1", "c0=s7", "c1=s7"), access("c0", "c0=s7**2"), "same", [], []),
        (FLAT, access("c0 + 32*c1", "c0=32", "c1=32"), "transposed", ["c0"], ["c0", "32*c1"]),
        (ROWS, access("32*c0 + c1 + 16", "c0=32", "c1=64"), "offset", [], ["16"]),
        (access("c0 + s0", "c0=8"), access("c0 + 2*s0", "c0=8"), "offset", ["s0"], ["2*s0"]),
        (access("c0", "c0=32"), access("c1", "c0=8", "c1=32"), "broadcast", ["c0"], ["c1"]),
        (FLAT, access("c0", "c0=256"), "sizes", ["c0"], ["c0"]),
        (access("0"), access("c0", "c0=3"), "sizes", ["0"], ["c0"]),
        (
            access("c1 + 32*((c0//4)) + 256*(ModularIndexing(c0, 1, 4))", "c0=32", "c1=32"),
            FLAT,
            "tiling",
            ["32*((c0//4))", "256*(ModularIndexing(c0, 1, 4))"],
            [],
        ),
        (access("2*c0 + 64*c1", "c0=32", "c1=32"), FLAT, "unknown", ["2*c0", "64*c1"], ["c0"]),
        (access(None), FLAT, "whole", [], []),
        (access(None), access(None), "whole", [], []),
        (access("tmp0 + c0", "c0=1024"), FLAT, "unknown", [], []),
    ],
)
def test_what_differs(a: Access, b: Access, kind: str, a_marked: list[str], b_marked: list[str]) -> None:
    found, turned = difference(a, b), difference(b, a)

    assert (found.kind, *marked(found)) == (kind, a_marked, b_marked)
    assert (turned.kind, *marked(turned)) == (kind, b_marked, a_marked)
    assert 20 < len(found.words) < 300


def test_words_tell_numbers() -> None:
    assert difference(ROWS, access("32*c0 + c1 + 16", "c0=32", "c1=64")).words == "another start: element 0 against 16"
    assert difference(FLAT, access("c0", "c0=256")).words == "a different number of elements: 1,024 against 256"
    assert difference(access("s7*c0", "c0=4"), access("c0", "c0=4")).words == (
        "other strides: 4 (stride s7) against 4 (stride 1)"
    )


def test_of_several_accesses_the_nearest_are_told_and_the_nearest_buffer_comes_first() -> None:
    ones = [access("0"), access("c0", "c0=8"), access("c0", "c0=8", buffer="buf1"), access("c0", "c0=8", buffer="buf2")]
    others = [access("c0 + 8", "c0=8"), access("c0", "c0=8"), access(None, buffer="buf1")]

    found = differences(ones, others)

    assert [(one.buffer, one.kind) for one in found] == [("buf0", "same"), ("buf1", "whole")]


@pytest.mark.parametrize(
    "index",
    [
        "__import__('os').system('true')",
        "c0" + " + c0" * 5_000,
        "(" * 3_000,
        "*".join(["(c0 + c1 + s0 + s1)"] * 60),
        "9" * 3_900 + "**4",
        "c0 if c0 else 1",
        "c0**99999",
        "-" * 3_000 + "c0",
        "c0\x00",
        "",
    ],
)
def test_a_strangers_index_is_looked_at_and_nothing_more(index: str) -> None:
    assert difference(access(index, "c0=8"), FLAT).kind == "unknown"
