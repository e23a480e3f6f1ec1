"""A dump of many compiles: what is told of it all, and that no view goes through its tables again for each of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.overview.summary import incomplete
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import (
    CacheLookup,
    DynamoNode,
    Fact,
    Frame,
    GraphEnd,
    Guard,
    Kernel,
    Pass,
    Remark,
    Run,
    Timed,
)
from inspect_compile.facts.compile_id import compile_name
from inspect_compile.graph import Graphs
from inspect_compile.tables import TABLES
from tests.handmade import graph, made, node

GRAPHS = 40


def name(number: int) -> str:
    return f"model__{number}_inference_{number}.{number}"


def swept(root: Path, *, graphs: int = GRAPHS, ended: int = GRAPHS, failed: int = -1, unread: int = -1) -> Dump:
    """A sweep in which torch was reset before each compile."""
    facts: list[Fact] = []
    for number in range(graphs):
        own, of = name(number), compile_name("0/0", number + 1)
        facts += [
            Frame(graph=of, function="f", file="net.py", line=1, status="compiled", graphs=1),
            *(Guard(graph=of, kind="TENSOR_MATCH", source=f"L['x{index}']") for index in range(3)),
            DynamoNode(graph=of, stage="dynamo", index=0, name="l_x_", op="placeholder", target="l_x_"),
            Pass(graph=of, index=2 * number, parent=None, stage="joint", kind="stage", name="joint"),
            Pass(graph=own, index=2 * number + 1, parent=None, stage="post_grad", kind="stage", name="post_grad"),
            CacheLookup(graph=of, cache="fx_graph", outcome="miss", key=str(number), components={"gm": str(number)}),
            Remark(graph=own, kind="analysis", code="strides", message="as in eager", ids=("relu",)),
            Timed(graph=of, name="dynamo", start=100.0 + number, seconds=0.5),
            graph(own, kind="inference", compile_id=of),
            node("x", graph=own),
            node("relu", "aten.relu.default", graph=own),
        ]
        if number != unread:
            facts.append(Kernel(graph=own, name="cpp_fused_relu_0", kind="cpp", nodes=("relu",)))
        if number < ended:
            facts.append(GraphEnd(graph=own, status="failed" if number == failed else "compiled", seconds=0.5))
    return made(root, *facts, run=Run(status="finished", argv=("sweep.py",), device="cpu"))


def test_rows_are_of_one_compile(tmp_path: Path) -> None:
    dump = swept(tmp_path)

    for number in (0, 1, GRAPHS - 1):
        of = compile_name("0/0", number + 1)
        for kind, count in ((Guard, 3), (Frame, 1), (DynamoNode, 1), (Pass, 1)):
            assert [row.graph for row in dump.rows_of_compile(kind, of)] == [of] * count
        assert [found.graph for found in dump.graphs_of_compile(of)] == [name(number)]


def test_the_summary_names_the_graphs_that_it_does_not_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swept(tmp_path / "whole")
    torn = swept(tmp_path / "torn", ended=GRAPHS - 2, failed=20, unread=30)

    assert [(one.graph.graph, one.status) for one in incomplete(torn, Graphs(torn))] == [
        (name(20), "failed"),
        (name(30), "compiled"),
        (name(38), "unfinished"),
        (name(39), "unfinished"),
    ]
    assert main(["show", str(tmp_path / "whole"), "summary"]) == 0
    whole = capsys.readouterr().out
    assert main(["show", str(tmp_path / "torn"), "summary"]) == 0
    told = " ".join(capsys.readouterr().out.split())

    assert "34 more graphs, all of them complete" in whole
    assert f"1 did not compile: {name(20)}" in told
    assert f"1 with nodes that are not accounted for: {name(30)} (50.0%)" in told
    assert f"2 not finished, as the program ended before: {name(38)}, {name(39)}" in told


def test_what_could_be_meant_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swept(tmp_path)

    assert main(["show", str(tmp_path), "remarks", "--graph", "inference"]) == 2
    assert capsys.readouterr().err.rstrip().endswith(f"{name(7)} and {GRAPHS - 8} more")


def test_a_frame_that_did_not_end_has_no_name_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed = Run(status="killed", argv=("net.py",))
    made(tmp_path, CacheLookup(graph="0/0", cache="fx_graph", outcome="miss"), run=killed)

    assert main(["show", str(tmp_path), "dynamo"]) == 0
    told = capsys.readouterr().out
    assert "a frame whose compile did not end" in told
    assert ":0" not in told


@pytest.mark.parametrize("view", TABLES)
def test_twice_the_compiles_are_twice_the_rows(view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view that looks at whole tables for each graph would take four times as many."""
    taken = 0

    def counted(of: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def count(*words: Any) -> list[Any]:
            nonlocal taken
            found = of(*words)
            taken += len(found)
            return found

        return count

    for method in ("rows", "graphs", "outermost", "graphs_of_compile"):
        monkeypatch.setattr(Dump, method, counted(getattr(Dump, method)))
    costs = []
    for graphs in (GRAPHS // 2, GRAPHS):
        swept(tmp_path / str(graphs), graphs=graphs)
        for more in ("--all", "--json"):
            taken = 0
            assert main(["show", str(tmp_path / str(graphs)), view, more]) == 0
            costs.append(taken)
    for earlier, later in zip(costs[:2], costs[2:], strict=True):
        assert later <= 2.2 * earlier + 20, view
