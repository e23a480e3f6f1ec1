"""The rows of the table of passes, against the recorded passes and a walk from each to those around it."""

from pathlib import Path

import pytest

from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.dump import Dump
from inspect_compile.facts import Edit, Pass
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.passes.changes import PassRow, edit_sides, pass_rows, stages
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, made


def ran(index: int, parent: int | None, *edits: Edit, seconds: float = 1.0) -> Pass:
    return Pass(
        graph=GRAPH,
        index=index,
        parent=parent,
        stage="post_grad",
        kind="stage" if parent is None else "pass",
        name=f"p{index}",
        seconds=seconds,
        edits=edits,
    )


def test_depth_beginning_and_changes_of_each_pass(tmp_path: Path) -> None:
    edits = (Edit("added", "a", after="x"), Edit("changed", "b", "x", "y"), Edit("added", "c", after="x"))
    dump = made(tmp_path, graph(), ran(0, None), ran(1, 0), ran(2, 1), ran(3, 1, *edits), ran(4, 0))

    rows = pass_rows(Graphs(dump))

    assert [(row.index, row.depth, row.began, row.is_own, row.has_changed) for row in rows] == [
        (0, 0, 0.0, False, True),
        (1, 1, 0.0, False, True),
        (2, 2, 0.0, False, False),
        (3, 2, 1.0, True, True),
        (4, 1, 1.0, False, False),
    ]
    assert [row.changes for row in rows] == [{}, {}, {}, {"added": 2, "changed": 1}, {}]
    assert [row.index for row in rows if matches(row, ("b",))] == [3]
    (stage,) = stages(CompiledGraph(dump, graph().graph))
    assert [run.index for run in stage.inside(stage.runs[0])] == [2, 3]
    assert [(side.what, side.text) for side in edit_sides(edits[1])] == [("removed", "x"), ("added", "y")]


def test_a_stage_right_after_another_of_its_name_goes_on_with_it(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), ran(0, None, seconds=3.0), ran(1, 0), ran(2, None, seconds=4.0), ran(3, 2))

    (stage,) = stages(CompiledGraph(dump, graph().graph))

    assert (stage.seconds, [(run.index, run.began) for run in stage.runs]) == (7.0, [(1, 0.0), (3, 3.0)])


@pytest.mark.parametrize("sample", ["training_step", "conditional"])
def test_a_row_for_each_pass(dump_of: DumpOf, sample: str) -> None:
    dump = Dump(dump_of(sample).dump)

    rows = pass_rows(Graphs(dump))

    facts = {fact.index: fact for fact in dump.rows(Pass)}
    by_index: dict[int | None, PassRow] = {row.index: row for row in rows}
    assert len(by_index) == len(rows) == len(facts)
    for row in rows:
        assert all(getattr(row, name) == getattr(facts[row.index], name) for name in Pass.__struct_fields__)
        assert row.depth == (0 if row.parent is None else by_index[row.parent].depth + 1)
        assert sum(row.changes.values()) == len(row.edits)
        below = [other for other in rows if other.parent == row.index]
        assert row.has_changed == (row.is_own or any(other.has_changed for other in below))
