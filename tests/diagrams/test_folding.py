"""Folded schedules: what repeats is found by what it is, every unit is in one box, and no dependency is lost."""

import gc
import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.diagrams.picture import boxes_in
from inspect_compile.diagrams.schedule.folded import folded_section
from inspect_compile.diagrams.schedule.folding import MOST, OUTPUT_ARROWS, Folded, folded, found_copies
from inspect_compile.diagrams.schedule.schedule import PHASES, schedule_dot, schedule_picture
from inspect_compile.diagrams.schedule.units import Phase, Schedule, schedule
from inspect_compile.dump import Dump, open_dump
from inspect_compile.graph import CompiledGraph, Id
from tests.conftest import TESTS
from tests.diagrams.pictures import say_results
from tests.diagrams.transformer import write_transformer

RECORDED = (TESTS / "data" / "tui" / "mixed", *(TESTS / "data" / "draw").iterdir())
DUMPS = [path for path in RECORDED if (path / "run.json").is_file()]


def unit_of(whole: Schedule) -> dict[Id, int]:
    return {Id.of(one): place for place, unit in enumerate(whole.units) for one in unit.operations()}


def holds(dump: Dump, graph: str, phase: Phase) -> Folded:
    """Each scheduler node is in one box, each dependency is drawn or inside of a fold, and each box with results of the
    graph has an arrow to the output, or a line that says so.
    """
    whole = schedule(CompiledGraph(dump, graph), phase)
    section, found = folded_section(CompiledGraph(dump, graph), phase, whole, None)
    assert sorted(unit for fold in found.folds for unit in fold.units) == list(range(len(whole.units)))
    boxes = list(boxes_in(section.inner))
    ids = [box.id for box in boxes]
    assert len(ids) == len(set(ids))
    assert {f"fold_{place}" for place in range(len(found.folds))} <= set(ids)
    drawn = {(arrow.tail, arrow.head) for arrow in section.arrows}
    assert all(end in ids for ends in drawn for end in ends)
    place = unit_of(whole)
    for link in whole.links:
        tail, head = place[link.tail], place[link.head]
        if not found.is_inside(tail, head):
            assert (f"fold_{found.fold_of[tail]}", f"fold_{found.fold_of[head]}") in drawn
    told = say_results(boxes)
    arrows = {tail for tail, head in drawn if head == "output"}
    given = {found.fold_of[place[Id.of(one)]] for unit in whole.units for one in unit.operations()
             if "OUTPUT" in one.users}  # fmt: skip
    assert told | arrows == {f"fold_{fold}" for fold in given}
    assert not told & arrows
    assert len(arrows) == (len(given) if len(given) <= OUTPUT_ARROWS else 1)
    for copies in found.repeats:
        assert len(copies) > 1
        assert len({len(copy) for copy in copies}) == 1
    return found


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_recorded_schedules(path: Path, phase: Phase) -> None:
    dump = open_dump(path)
    for graph in dump.outermost():
        holds(dump, graph.graph, phase)


@pytest.mark.parametrize("phase", PHASES)
def test_layers_are_drawn_once(tmp_path: Path, phase: Phase) -> None:
    write_transformer(tmp_path / "dump", 12)
    dump = open_dump(tmp_path / "dump")
    graph = dump.graphs()[0].graph
    found = holds(dump, graph, phase)
    (copies,) = found.repeats
    assert len(copies) == 6, "every second layer stores the residual"
    assert len(found.folds) <= 40
    texts = [frame.text for frame in schedule_picture(CompiledGraph(dump, graph), phase, fold=True).frames()]
    assert any(text.startswith("6 × the same") for text in texts)


def test_names_do_not_matter(tmp_path: Path) -> None:
    """Other names of operations, buffers and kernels give the same fold."""
    write_transformer(tmp_path / "one", 6)
    write_transformer(tmp_path / "other", 6)
    for file in (tmp_path / "other").rglob("*.jsonl"):
        text = file.read_text()
        for number, name in enumerate(("cpp_fused_add", "cpp_fused_cat", "cpp_fused_embedding")):
            text = text.replace(f'"{name}', f'"k{number}')
        file.write_text(re.sub(r"buf(\d)", r"value\1", re.sub(r"(?<![a-z])op(\d)", r"node\1", text)))
    dumps = open_dump(tmp_path / "one"), open_dump(tmp_path / "other")
    graph = dumps[0].graphs()[0].graph
    one, other = (folded(schedule(CompiledGraph(dump, graph), "post_fusion"), {}) for dump in dumps)
    assert one == other
    assert one.repeats


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(2, 6), st.lists(st.integers(4, 9), max_size=5))
def test_what_was_repeated_is_found(layer: list[int], count: int, before: list[int]) -> None:
    shapes = [*before, *layer * count, 99]
    feeds = [{place - 1} if place else set() for place in range(len(shapes))]
    copies = found_copies(shapes, feeds)
    places = [place for run in copies for copy in run for place in copy]
    assert len(places) == len(set(places))
    for run in copies:
        assert len({tuple(shapes[place] for place in copy) for copy in run}) == 1
    saved = sum(len(copy) for run in copies for copy in run[1:])
    if len(layer) * (count - 1) >= 3:
        assert saved >= len(layer) * (count - 1)


def test_copies_that_depend_on_each_other_differently_are_not_the_same() -> None:
    shapes = [1, 2, 3, 4, 1, 2, 3, 4]
    chain: Sequence[set[int]] = [set(), {0}, {1}, {2}, {3}, {4}, {5}, {6}]
    fork: Sequence[set[int]] = [set(), {0}, {1}, {2}, {3}, {4}, {4}, {6}]
    assert found_copies(shapes, chain) == (((0, 1, 2, 3), (4, 5, 6, 7)),)
    assert found_copies(shapes, fork) == ()


def test_a_constant_of_all_layers_is_in_none() -> None:
    """The first layer makes it: found only where nothing else of it is rare, the first layer would be no copy."""
    layers, own = 20, 5
    shapes = ["input"]
    feeds: list[set[int]] = [set()]
    constant = 4
    for _ in range(layers):
        for part in range(own):
            reads = {len(shapes) - 1}
            if part == 3:
                if len(shapes) == constant:
                    shapes.append("full")
                    feeds.append(set())
                reads.add(constant)
            shapes.append(f"part {part}")
            feeds.append(reads)
    (copies,) = found_copies(shapes, feeds)
    assert [len(copies), len(copies[0])] == [layers, own]
    assert all(constant not in copy for copy in copies)


def test_constants_that_each_layer_makes_are_in_each() -> None:
    """Three readers of one kind do not take it out, as of q, k and v that are filled alike."""
    shapes: list[str] = []
    feeds: list[set[int]] = []
    for _ in range(6):
        start = len(shapes)
        shapes += ["full", "where", "where", "where", "cat"]
        feeds += [set(), {start}, {start}, {start}, {start + 1, start + 2, start + 3}]
    (copies,) = found_copies(shapes, feeds)
    assert [len(copy) for copy in copies] == [5] * 6


def test_what_merely_occurs_often_is_no_layer() -> None:
    """Convolutions with another kernel after each are a chain."""
    chain: Sequence[set[int]] = [{place - 1} if place else set() for place in range(16)]

    assert found_copies([place if place % 2 else 0 for place in range(16)], chain) == ()
    backward: list[set[int]] = []
    for start in range(0, 64, 4):  # a call, its two results, and what the next call reads
        backward += [{start - 1} if start else set(), {start}, {start}, {start + 2}]
    assert found_copies([place if place % 4 == 3 else place % 4 for place in range(64)], backward) == ()
    assert found_copies([0, 0, 0, 0, 1, 0, 0, 0, 0, 3], chain[:10]) == (
        tuple((place,) for place in (0, 1, 2, 3, 5, 6, 7, 8)),
    )


def test_without_repeats_modules_are_boxes(tmp_path: Path) -> None:
    """Whatever it is, the picture stays small: neighbours of one module, and where there is none, of each other."""
    write_transformer(tmp_path / "dump", 60)
    dump = open_dump(tmp_path / "dump")
    whole = schedule(CompiledGraph(dump, dump.graphs()[0].graph), "post_fusion")
    nodes = [Id(one.graph, node) for unit in whole.units for one in unit.operations() for node in one.nodes]
    odd = {key: f"part.{place * 20 // len(nodes)}.inner" for place, key in enumerate(nodes)}
    found = folded(whole, odd, most=12)
    assert len(found.folds) <= 12
    assert sorted(unit for fold in found.folds for unit in fold.units) == list(range(len(whole.units)))


def test_large_schedules_fold_by_themselves_and_soon(tmp_path: Path) -> None:
    nodes = write_transformer(tmp_path / "dump", 260)
    assert nodes > 300
    gc.collect()
    started = time.process_time()
    dump = open_dump(tmp_path / "dump")
    graph = dump.graphs()[0].graph
    text = schedule_dot(CompiledGraph(dump, graph), "post_fusion")
    assert time.process_time() - started < 6, "0.5 s where nothing else runs"
    assert len(text) < 100_000
    assert len(list(schedule_picture(CompiledGraph(dump, graph), "post_fusion").boxes())) < MOST + 20
    assert "435 operations" not in text
    whole = schedule_picture(CompiledGraph(dump, graph), "post_fusion", fold=False)
    assert len(list(whole.boxes())) > nodes
