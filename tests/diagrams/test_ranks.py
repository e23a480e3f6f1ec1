"""Ranks beside each other: of recorded dumps that stand in for ranks, and of what could be written into one."""

import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.analysis.compare.rank_grid import SINGLE, RankGrid, rank_grid
from inspect_compile.analysis.compare.ranks import agreement
from inspect_compile.analysis.dumps.parts import as_compiled
from inspect_compile.commands import main
from inspect_compile.diagrams.chart_file import DRAWN
from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import Drawn, Missing, Wanted
from inspect_compile.diagrams.render import chart
from inspect_compile.dump import Dump, Writer, open_dump
from inspect_compile.facts import Collective, Frame, Run
from tests.conftest import TESTS, Golden

WALKS, MIXED = "tui/walks", "tui/mixed"


def run_of(root: Path, *ranks: str) -> Dump:
    """A dump whose ranks are these recorded dumps."""
    writer = Writer(root)
    writer.run(Run(status="finished", argv=("torchrun", "train.py")))
    writer.flush()
    for rank, name in enumerate(ranks):
        shutil.copytree(TESTS / "data" / name, root / f"rank_{rank}")
    return open_dump(root)


def grid_of(dump: Dump) -> RankGrid:
    there = as_compiled(dump)
    return rank_grid(there, agreement(there))


def drawn_of(dump: Dump, *, fold: bool | None = None) -> str:
    (found,) = KINDS["ranks"].draw(dump, [], Wanted(fold=fold))
    assert isinstance(found, Drawn)
    return found.text


@pytest.mark.parametrize("ranks", [(WALKS, MIXED), (MIXED, WALKS, WALKS), (WALKS, WALKS)])
def test_cells_tell_the_differences_of_show_ranks(tmp_path: Path, ranks: tuple[str, ...]) -> None:
    dump = run_of(tmp_path / "dump", *ranks)
    found, grid = agreement(as_compiled(dump)), grid_of(dump)
    told = [one for row in grid.rows for cell in row.cells for one in cell.differences]
    told += [one for column in grid.columns for one in column.settings]
    assert Counter(map(_what, told)) == Counter(map(_what, found.differences))
    assert not any(row.cells[0].differences for row in grid.rows)


def _what(one: Difference) -> tuple[object, ...]:
    """A difference without the names of its sides."""
    return one.kind, one.compile_id, one.graph, one.other_graph, one.a, one.b


def test_every_frame_and_graph_of_every_rank_is_in_one_cell(tmp_path: Path) -> None:
    dump = run_of(tmp_path / "dump", WALKS, MIXED, WALKS)
    grid = grid_of(dump)
    for number, column in enumerate(grid.columns):
        own = open_dump(dump.root / f"rank_{column.ranks[0]}")
        cells = [row.cells[number] for row in grid.rows]
        graphs = [graph.content.graph for cell in cells for graph in cell.graphs]
        assert sorted(graphs) == sorted(graph.graph for graph in own.outermost())
        frames = [cell.frame.compile_id for cell in cells if cell.frame is not None]
        assert sorted(frames) == sorted({row.graph for row in own.rows(Frame)})


def test_ranks_that_compiled_the_same_are_one_column(tmp_path: Path) -> None:
    dump = run_of(tmp_path / "dump", *[WALKS] * SINGLE, MIXED)
    grid = grid_of(dump)
    assert [column.ranks for column in grid.columns] == [tuple(range(SINGLE)), (SINGLE,)]
    text = drawn_of(dump)
    assert f">ranks 0-{SINGLE - 1}</text>" in text
    assert f">rank {SINGLE}</text>" in text
    assert f"train.py · {SINGLE + 1} ranks" in text


def test_golden(tmp_path: Path, golden: Golden) -> None:
    golden.check(drawn_of(run_of(tmp_path / "dump", WALKS, MIXED)), ".svg")


def test_what_is_the_same_is_counted(tmp_path: Path) -> None:
    dump = run_of(tmp_path / "dump", WALKS, WALKS)
    count = len(grid_of(dump).rows)
    folded, whole = drawn_of(dump, fold=True), drawn_of(dump, fold=False)
    assert f"{count} compile" in folded
    assert ": the same on all ranks" in folded
    assert ": the same on all ranks" not in whole
    assert len(folded) < len(whole)


def test_collectives_outside_of_graphs_are_compared(tmp_path: Path) -> None:
    dump = run_of(tmp_path / "dump", WALKS, WALKS)
    calls = ("all_reduce",), ("all_reduce", "broadcast")
    for rank, operators in enumerate(calls):
        writer = Writer(dump.root / f"rank_{rank}")
        for op in operators:
            writer.add(
                Collective(op=op, backend="gloo", group="default_pg", dtype="float", by="program", count=2, bytes=64)
            )
        writer.flush()
    text = drawn_of(open_dump(dump.root))
    assert text.count(">all_reduce ×2, 64 B</text>") == 2
    assert 'fill="#c8102e" font-size="10">broadcast ×2, 64 B</text>' in text


def test_text_of_a_dump_is_no_markup(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    bad = "</text><script>alert(1)</script>\"'&\\ \u202e"
    for folder, rank in ((root, None), (root / "rank_0", 0), (root / "rank_1", 1)):
        writer = Writer(folder)
        writer.run(Run(status="finished" if rank is None else bad, argv=(bad,), rank=rank))
        if rank is not None:
            for number in range(3 * rank + 1):
                writer.add(Frame(graph=f"{bad}{number}", function=bad * 40, file=bad, line=1, status=bad))
            writer.add(Collective(op=bad, backend=bad, group=bad, dtype=bad, by=bad, count=2, bytes=64, hook=bad))
        writer.flush()
    text = drawn_of(open_dump(root))
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
    assert tags <= DRAWN
    if shutil.which("neato") is not None:
        assert chart(text, "png").startswith(b"\x89PNG")


def test_a_run_without_ranks_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    dump = TESTS / "data" / WALKS
    (found,) = KINDS["ranks"].draw(open_dump(dump), [], Wanted())
    assert isinstance(found, Missing)
    assert main(["draw", str(dump), "ranks"]) == 2
    assert "this is not a distributed run" in capsys.readouterr().err


def test_of_ranks_the_list_has_what_is_of_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = run_of(tmp_path / "dump", WALKS, MIXED)
    assert main(["draw", str(dump.root), "--list"]) == 2
    told = capsys.readouterr()
    assert " ".join(told.out.split()) == "graph draw what there is all startup yes all ranks 2 ranks"
    assert "other diagrams" in told.err
    assert "--rank (0-1)" in told.err
    assert main(["draw", str(dump.root), "--rank", "0", "--list"]) == 0


def test_long_names_and_many_compiles_stay_small(tmp_path: Path) -> None:
    root, name = tmp_path / "dump", "a" * 200_000
    for folder, rank in ((root, None), (root / "rank_0", 0), (root / "rank_1", 1)):
        writer = Writer(folder)
        writer.run(Run(status="finished", rank=rank))
        for number in range(0 if rank is None else 400 + rank):
            function = name if number == 3 else f"step_{number}"
            writer.add(Frame(graph=f"{number}/0", function=function, file="x.py", line=number, status=f"{rank}"))
        writer.flush()
    text = drawn_of(open_dump(root), fold=False)
    assert len(text) < 400_000
    assert "201 more compiles: show ranks has them all" in text
