"""The Numerics view: the checked launches in order, the selection that they move, and what made a NaN."""

import msgspec
import pytest
from textual.pilot import Pilot

from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.numerics.verdicts import VERDICTS
from inspect_compile.tables.columns import plain
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code
from inspect_compile.tui.models.numerics import error_bar, numerics
from tests.tui.checked import GELU, SOFTMAX, launches, with_finding, with_launches
from tests.tui.driving import BACKWARD, FORWARD, go_to, lines, marked, press, row, said, settled, shown


def text(pilot: Pilot[None], name: str) -> str:
    sheet = lines(pilot, name).sheet
    return " ".join(" ".join(sheet.plain(index) for index in range(len(sheet))).split())


async def test_a_launch_moves_the_selection(mixed: Dump) -> None:
    app = InspectApp(with_launches(mixed))
    async with app.run_test(size=(200, 60)) as pilot:
        await press(pilot, "x")
        assert shown(pilot) == ["source", "numerics", "kernels"]
        assert "2 wrong, 1 worse of 11" in said(pilot, "numerics-title")
        assert "wrong" in row(pilot, "numerics-rows")  # it begins at the first one
        go_to(pilot, "numerics-rows", "view_2")
        await settled(pilot)
        assert said(pilot, "context").startswith(" view_2 · mixed.py:19")
        assert len(marked(pilot, "source")) == 1
        page = text(pilot, "numerics-detail")
        assert f"written buf9 by {GELU}, line 686 of output_code.py, call 1" in page
        assert "worst [1, 7, 30, 2]: 0.84, eager 0.23, exact 0.230004" in page
        assert "line mixed.py:19 z = self.down(gelu(self.up(y)))" in page
        assert "show mixed numerics view_2 --graph" in said(pilot, "command")
        go_to(pilot, "numerics-rows", "sum_1")
        await press(pilot, "enter")
        assert SOFTMAX in row(pilot, "kernels-rows")


async def test_the_selection_marks_launches(mixed: Dump) -> None:
    async with InspectApp(with_launches(mixed)).run_test(size=(200, 60)) as pilot:
        await press(pilot, "x", "6")
        go_to(pilot, "kernels-rows", "softmax")
        await press(pilot, "x")  # beside the kernels there is no room for its nodes
        nodes = {"amax", "sum_1", "argmax"}
        sheet = lines(pilot, "numerics-rows").sheet
        rows = [sheet.plain(at) for at in range(len(sheet)) if lines(pilot, "numerics-rows").is_marked(at)]
        assert {node for line in rows for node in nodes if node in line.split()} == nodes


async def test_the_first_nan_is_there(mixed: Dump) -> None:
    async with InspectApp(with_finding(mixed)).run_test(size=(120, 40)) as pilot:
        await press(pilot, "x")
        assert row(pilot, "numerics-rows").startswith("first NaN: sub_1 (mixed.py:20)")
        go_to(pilot, "numerics-rows", "first NaN")
        await settled(pilot)
        assert said(pilot, "context").startswith(" sub_1 · mixed.py:20")
        page = text(pilot, "numerics-detail")
        assert "sub_1[2, 0, 0, 0] = nan, as 8 of 65,536 elements" in page
        assert f"in {SOFTMAX}, line 699: auto tmp3 = tmp0 - tmp2;" in page


async def test_what_was_not_checked_says_how(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "x")
        assert lines(pilot, "numerics-rows").empty == "Not checked. To check: inspect-compile numerics SCRIPT"


def test_each_result_has_a_row_with_its_verdict_and_its_story(mixed: Dump) -> None:
    dump = with_launches(mixed)

    view = numerics(dump, Chain(CompiledGraph(dump, FORWARD)))

    rows = list(judged(Graphs(dump, FORWARD)))
    assert len(rows) == len(launches()) - 1
    assert {found.verdict for found in rows} == set(VERDICTS)
    for at, one in enumerate(rows):
        assert one.verdict in [plain(cell) for cell in view.sheet.cells(at)]
        story = view.details[view.sheet.key(at)](60)
        assert isinstance(story, Code)
        assert story.plain(0).startswith(one.verdict)
        assert max(len(story.plain(index)) for index in range(len(story))) <= 60
    assert numerics(dump, Chain(CompiledGraph(dump, BACKWARD))).empty == "No call of this graph was checked."


def test_a_dump_without_nan_says_so(mixed: Dump) -> None:
    dump = with_finding(mixed)

    assert numerics(dump, Chain(CompiledGraph(dump, BACKWARD))).empty == "No result of this graph had NaN or Inf."


@pytest.mark.parametrize(
    ("times", "columns"), [(0.01, 0), (0.1, 0), (1.0, 1), (10.0, 2), (1e6, 7), (1e7, 8), (1e12, 8)]
)
def test_each_column_of_the_bar_is_a_factor_of_ten(mixed: Dump, times: float, columns: int) -> None:
    one = next(row for row in judged(Graphs(with_launches(mixed))) if row.verdict == "wrong" and row.times_rounding)

    bar = error_bar(msgspec.structs.replace(one, times_rounding=times))

    assert len(bar) == columns


def test_the_bar_is_full_where_what_is_wrong_is_no_distance(mixed: Dump) -> None:
    integers = next(row for row in judged(Graphs(with_launches(mixed))) if row.node == "argmax")

    assert (integers.times_rounding, error_bar(integers)) == (None, "█" * 8)
