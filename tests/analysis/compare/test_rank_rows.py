"""The rows of the table of ranks: who compiled the same, and who did not."""

from pathlib import Path

from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.analysis.compare.ranks import RankSummary, rank_rows
from inspect_compile.facts import Frame, Run
from tests.handmade import graph, made


def test_a_rank_that_differs_names_the_ranks_that_it_differs_from(tmp_path: Path) -> None:
    for rank in range(4):
        status = "skipped" if rank == 2 else "compiled"
        frame = Frame(graph="0/0", function="f", file="a.py", line=1, status=status)
        made(tmp_path / f"rank_{rank}", graph(), frame, run=Run(status="finished", rank=rank))
    dump = made(tmp_path, run=Run(status="finished"))

    rows = list(rank_rows(dump))

    found = [(row.rank, row.same_as, row.unlike) for row in rows if isinstance(row, RankSummary)]
    assert found == [(0, 0, ()), (1, 0, ()), (2, 2, (0, 1, 3)), (3, 0, ())]
    assert [row.kind for row in rows if isinstance(row, Difference)] == ["frames"]


def test_a_run_without_ranks_has_no_rows(tmp_path: Path) -> None:
    assert list(rank_rows(made(tmp_path, graph()))) == []
