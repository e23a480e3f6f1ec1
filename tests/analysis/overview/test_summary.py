"""A graph and a run in a few numbers."""

import os
from pathlib import Path

import pytest

from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.overview.summary import summarize, summarize_run
from inspect_compile.commands import main
from inspect_compile.dump import open_dump
from inspect_compile.facts import GraphBreak, Hook, Run
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.handmade import GRAPH, ended, graph, made


def test_the_convolution(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("conv_bias").dump)

    found = summarize(CompiledGraph(dump, dump.outermost()[0].graph))

    assert (found.kind, found.compile_id, found.status) == ("forward", "0/0", "compiled")
    assert (found.nodes, found.operations, found.groups, found.launches) == (7, 4, 4, 3)
    assert found.kernels == {"cpp": 2, "extern": 1}
    assert (found.flops, found.flops_by_kind) == (12_355_200, {"convolution": 12_355_200})
    assert (found.accounted, found.missing) == (1.0, ())
    assert found.peak_bytes == found.allocated_bytes == 4 * (10 * 10 * 9 + 10 * 90 * 80 + 2 * 10 * 88 * 78)
    assert 0 < found.least_bytes < found.moved_bytes


def test_nested_graphs_count_with_the_one_around_them(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("conditional").dump)

    (only,) = dump.outermost()
    found = summarize(CompiledGraph(dump, only.graph))

    assert found.nested == 2
    assert found.kernels == {"cpp": 4}
    assert found.launches == 4


def test_a_graph_that_is_still_compiled(tmp_path: Path) -> None:
    running = made(tmp_path / "running", graph(), run=Run(status="running", pid=os.getpid()))
    found = summarize(CompiledGraph(running, graph().graph))

    assert (found.status, found.seconds, found.nodes, found.flops, found.peak_bytes) == ("open", None, 0, 0, 0)


@pytest.mark.parametrize(
    "run",
    [
        Run(status="finished"),
        Run(status="raised", exception="SystemExit: 3"),
        Run(status="raised", exception="KeyboardInterrupt"),
        Run(status="killed"),
        Run(status="running", pid=2**22 + 1),  # left by os._exit
    ],
)
def test_a_graph_that_the_program_left_behind(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = made(tmp_path, graph(), run=run)

    assert summarize(CompiledGraph(dump, graph().graph)).status == "unfinished"
    assert main(["show", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "not finished" in told
    assert "being compiled" not in told
    assert main(["show", str(tmp_path), "summary"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "not finished: the program ended before its compile did" in told
    assert "being compiled" not in told
    assert main(["show", str(tmp_path), "graphs"]) == 0
    assert "not finished" in capsys.readouterr().out


def test_the_run(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        ended(GRAPH),
        GraphBreak(graph="0/0", reason="print"),
        Hook(probe="a", target="torch.a", state="closed", seconds=0.5),
        Hook(probe="a", target="torch.b", state="missing", seconds=0.25),
    )

    found = summarize_run(dump)

    assert (found.graphs, found.graph_breaks, found.recompiles) == (1, 1, 0)
    assert (found.probe_seconds, found.failed_hooks) == (0.75, 1)


def test_misses_across_kernels_come_first(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("attention_block").dump)

    found = fusion(CompiledGraph(dump, dump.outermost()[0].graph))

    assert found.misses == [*found.apart, *found.beside, *found.beside_calls]
    for part in (found.apart, found.beside, found.beside_calls):
        saved = [miss.saved_bytes for miss in part]
        assert saved == sorted(saved, reverse=True)
    assert found.apart
    assert found.beside_calls
