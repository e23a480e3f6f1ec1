"""Graphs and kernels of several compiles beside each other."""

import shutil
from pathlib import Path

from inspect_compile.analysis.compare.ranks import RankSummary, rank_rows
from inspect_compile.analysis.compare.side_by_side import Side, launches_of, side_by_side
from inspect_compile.dump import Dump
from inspect_compile.facts import Run
from inspect_compile.graph import CompiledGraph
from tests.handmade import made

MIXED = Path(__file__).resolve().parents[2] / "data" / "tui" / "mixed"
FORWARD = "model__0_forward_1.0"
CHANGED = "cpp_fused_gelu_view_2"


def changed(root: Path) -> Dump:
    """The recorded dump with one kernel renamed and another source in it."""
    shutil.copytree(MIXED, root)
    folder = root / "torchinductor" / FORWARD
    source = folder / "kernels" / CHANGED / "source.cpp"
    source.write_text(source.read_text("utf-8") + "int more;\n", "utf-8")
    return Dump(root)


def test_a_compile_beside_itself_is_the_same_and_costs_what_the_traffic_says() -> None:
    dump = Dump(MIXED)

    rows = side_by_side([Side("a", dump), Side("b", Dump(MIXED)), Side("c", Dump(MIXED))])

    assert all(row.is_same and len(set(row.sides)) == 1 and len(row.sides) == 3 for row in rows)
    graphs = [row for row in rows if not row.kernel]
    assert [row.graph for row in graphs] == [graph.graph for graph in dump.outermost()]
    for row in graphs:
        (side,) = set(row.sides)
        assert side is not None
        kernels = [one.sides[0] for one in rows if one.kernel and one.graph == row.graph]
        assert side.bytes == CompiledGraph(dump, row.graph).traffic.moved == sum(one.bytes for one in kernels if one)
        assert side.launches == len(CompiledGraph(dump, row.graph).traffic.launches)
        assert side.kernels == len(kernels)


def test_a_kernel_with_another_source_finds_its_counterpart_by_what_it_computes(tmp_path: Path) -> None:
    rows = side_by_side([Side("old", Dump(MIXED)), Side("new", changed(tmp_path / "new"))])

    other = [row for row in rows if not row.is_same]
    assert [(row.graph, row.kernel) for row in other] == [(FORWARD, ""), (FORWARD, CHANGED)]
    assert all(side is not None and side.kernel == CHANGED for side in other[1].sides)
    assert rows[1].kernel == CHANGED  # those that differ come first


def test_ranks_have_what_their_launches_cost(tmp_path: Path) -> None:
    for rank in range(2):
        shutil.copytree(MIXED, tmp_path / "run" / f"rank_{rank}")
    dump = made(tmp_path / "run", run=Run(status="finished"))

    rows = [row for row in rank_rows(dump) if isinstance(row, RankSummary)]

    own = Dump(MIXED)
    sums = [launches_of(own, graph.graph) for graph in own.outermost()]
    assert len(rows) == 2
    for row in rows:
        assert row.bytes == sum(one.bytes for one in sums) > 0
        assert row.launches == sum(one.launches for one in sums) > 0
