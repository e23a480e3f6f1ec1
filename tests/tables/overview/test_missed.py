"""What the summary says was missed: in which order, and nothing twice."""

from pathlib import Path

from msgspec.structs import replace

from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.facts import Remark
from inspect_compile.graph import Graphs
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.fusion.why_text import order_text
from inspect_compile.tables.overview.summary import summary
from inspect_compile.tables.parts import Request
from tests.handmade import GRAPH, graph, made


def miss(*, one_kernel: bool) -> Miss:
    return Miss(GRAPH, "op0", "op1", "no-shared-data", "", 8, 8, ("buf0",), (1,), (), ("relu",), one_kernel)


def test_the_order_is_told_as_it_is() -> None:
    launches, loops = miss(one_kernel=False), miss(one_kernel=True)
    assert order_text([launches]) == order_text([loops, loops]) == "most expensive first"
    assert order_text([launches, loops]) == "most expensive first, then two loops of one launch"
    calls = replace(launches, code="unfusable")
    assert order_text([loops, calls]) == "most expensive first, then library calls"
    assert (
        order_text([launches, loops, calls]) == "most expensive first, then two loops of one launch, then library calls"
    )


def test_a_remark_of_a_line_that_runs_several_times_stands_once(tmp_path: Path) -> None:
    rows = [
        Remark(graph=GRAPH, kind="missed", code="fallback", message="aten.sort", where="net.py:5") for _ in range(4)
    ]
    other = Remark(graph=GRAPH, kind="missed", code="fallback", message="aten.sort", where="net.py:6")
    more = [Remark(graph=GRAPH, kind="missed", code="x", message=f"m{at}", where="net.py:7") for at in range(3)]
    text = plain_text(summary(Request(Graphs(made(tmp_path, graph(), *rows, other, *more)))), 160)
    assert text.count("net.py:5  aten.sort   4 times") == 1
    assert text.count("net.py:6  aten.sort") == 1
    assert "… 3 more remarks" in text
