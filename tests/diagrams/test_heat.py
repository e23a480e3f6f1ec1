"""`draw schedule --heat error`: operations and launches have the colour, and the words, of their worst verdict."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.analysis.numerics.worst import worst, worst_of
from inspect_compile.diagrams.legend import legend
from inspect_compile.diagrams.look import SHADES
from inspect_compile.diagrams.picture import Picture, boxes_in
from inspect_compile.diagrams.schedule.heat import error
from inspect_compile.diagrams.schedule.schedule import schedule_picture
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, ROUNDING, WRONG
from tests.handmade import graph, made, operation
from tests.running import COMMAND, run
from tests.tui.checked import GELU, SOFTMAX, found, with_launches
from tests.tui.driving import BACKWARD, FORWARD, RECORDED


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    """A dump in which the forward graph was checked."""
    shutil.copytree(RECORDED, tmp_path / "mixed")
    return with_launches(Dump(tmp_path / "mixed"))


def picture(dump: Dump) -> Picture:
    return schedule_picture(CompiledGraph(dump, FORWARD), "post_fusion", heat=error(CompiledGraph(dump, FORWARD)))


def test_each_operation_is_coloured_by_what_it_wrote(dump: Dump) -> None:
    verdicts = {row.buffer: row.verdict for row in judged(Graphs(dump)) if not row.level}
    operations = {row.name: row for row in dump.rows(Operation, FORWARD) if row.phase == "pre_fusion"}

    boxes = {box.tooltip[0].partition(" · ")[0]: box for box in picture(dump).boxes() if box.tooltip}

    coloured = 0
    for name, row in operations.items():
        shade, mark = boxes[name].shade, boxes[name].mark
        assert shade is not None
        expected = [verdicts[buffer] for buffer in row.buffers if buffer in verdicts]
        assert shade.name == (expected[0] if expected else "not checked"), name
        assert mark.partition(",")[0] == (expected[0] if expected else ""), name
        coloured += bool(expected)
    assert coloured == len(verdicts)
    assert boxes["op9"].mark == "wrong, 3.4e+05 × rounding"


def test_each_launch_has_its_worst_verdict(dump: Dump) -> None:
    frames = {frame.tooltip[0]: frame for frame in picture(dump).frames() if frame.kind == "kernel"}

    assert frames[GELU].text == f"{GELU}: wrong, 3.4e+05 × rounding"
    assert frames[SOFTMAX].text.endswith("wrong")
    shades = [frames[name].shade for name in (GELU, SOFTMAX)]
    assert [shade.line for shade in shades if shade is not None] == 2 * [SHADES["hottest"][1]]
    assert frames["cpp_fused_abs_amax_mean_sub_sum_4"].shade is None


def test_the_legend_says_what_each_colour_means(dump: Dump) -> None:
    drawn = picture(dump)

    explained = list(boxes_in(legend(drawn).inner))

    colours = [box for box in explained if box.kind == "shade"]
    assert [box.title for box in colours][:2] == ["wrong", "worse than eager"]
    assert {box.title for box in colours} == {row.verdict for row in judged(Graphs(dump))} | {"not checked"}
    assert len({box.id for box in explained}) == len(explained)
    assert all(box.lines and box.shade is not None for box in colours)
    assert any("worst verdict" in line for line in drawn.subtitles)


def test_without_heat_kinds_have_their_colours(dump: Dump) -> None:
    drawn = schedule_picture(CompiledGraph(dump, FORWARD), "post_fusion")

    assert {box.shade for box in drawn.boxes()} == {None}
    assert not [box for box in boxes_in(legend(drawn).inner) if box.kind == "shade"]


def test_the_worst_of_several_calls_counts(dump: Dump) -> None:
    rows = [row for row in judged(Graphs(dump)) if not row.level]

    assert worst_of(rows).node == "view_2"
    assert worst_of([row for row in rows if row.verdict in (EXACT, ROUNDING)]).verdict == ROUNDING
    assert worst_of([row for row in rows if row.verdict in (EXACT, NOT_COMPARABLE)]).verdict == EXACT
    summed = worst(CompiledGraph(dump, FORWARD))
    assert summed.calls == 1
    assert sum(row.verdict == WRONG for row in summed.of_launch.values()) == 2
    assert len(summed.of_pass) == 1


def test_an_operation_that_changes_an_input_in_place_is_coloured_by_that(tmp_path: Path) -> None:
    made_of = [operation(f"op{at}", reads={}, writes={f"buf{at}": 4}) for at in (4, 5)]
    rows = [
        replace(row, nodes=(node,), writes=(replace(row.writes[0], into="arg0_1"),))
        for row, node in zip(made_of, ("copy_", "copy__1"), strict=True)
    ]
    wrong = found(0, "k", 1, "arg0_1", "copy__1", rmse=1.0, worst_error=2.0, unexplained=1, compiled=3.0, exact=1.0)
    right = found(0, "k", 1, "arg0_1", "copy_", is_equal=True)
    heat = error(CompiledGraph(made(tmp_path / "dump", graph(), *rows, wrong, right), FORWARD))

    assert heat is not None
    coloured = [heat.operation(row) for row in rows]
    assert [one.shade.name for one in coloured if one is not None] == [EXACT, WRONG]


def test_the_command_draws_what_was_checked(dump: Dump, tmp_path: Path) -> None:
    done = run([*COMMAND, "draw", "mixed", "--heat", "error", "--format", "dot"], tmp_path)

    assert done.returncode == 0
    folder = Path("torchinductor", FORWARD)
    names = [f"schedule_{phase}_fusion_error.dot" for phase in ("pre", "post")]
    assert [Path(line).name for line in done.stdout.splitlines()] == names
    assert "wrong, 3.4e+05 × rounding" in (dump.root / folder / names[1]).read_text("utf-8")
    assert f"{BACKWARD}: no launch was checked" in done.stderr
    nothing = run([*COMMAND, "draw", "mixed", "--heat", "error", "--graph", "backward"], tmp_path)
    assert nothing.returncode == 2
    assert "nothing to draw, no launch was checked (inspect-compile numerics SCRIPT)" in nothing.stderr
    chart = run([*COMMAND, "draw", "mixed", "memory", "--heat", "error"], tmp_path)
    assert chart.returncode == 2
    assert "draw memory takes no --heat: that option is for schedule" in chart.stderr
