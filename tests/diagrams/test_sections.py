"""Cutting a schedule, and stacking what no arrow joins."""

from graphlib import TopologicalSorter

from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.diagrams.schedule.sections import LONGEST, cuts
from inspect_compile.diagrams.schedule.stacking import below
from inspect_compile.diagrams.schedule.units import Group, Link, Unit
from inspect_compile.facts import Operation
from inspect_compile.graph import Id

SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=120)


@given(SIZES, st.data())
def test_sections_hold_each_unit_once_and_in_order(sizes: list[int], data: st.DataObject) -> None:
    place = st.integers(0, len(sizes) - 1)
    arrows = data.draw(st.lists(st.tuples(place, place), max_size=80))
    sections = cuts(sizes, arrows)
    assert [index for section in sections for index in section] == list(range(len(sizes)))
    assert all(sections)
    largest = max(sizes)
    assert all(sum(sizes[index] for index in section) <= 2 * LONGEST + largest for section in sections)


def test_a_short_schedule_is_not_cut() -> None:
    assert cuts([1] * LONGEST, []) == [range(LONGEST)]
    assert cuts([], []) == []


def test_cuts_fall_where_few_arrows_cross() -> None:
    """Chains of 30 operations, each operation read by the next two: only between chains nothing crosses."""
    arrows = [(start + i, start + i + step) for start in range(0, 300, 30) for i in range(28) for step in (1, 2)]
    assert [section.start for section in cuts([1] * 300, arrows)] == list(range(0, 300, 30))


def unit(first: int, number: int) -> Unit:
    groups = []
    for index in range(first, first + number):
        name = f"op{index}"
        row = Operation(
            graph="g", phase="pre_fusion", order=index, name=name, kind="pointwise", node_type="SchedulerNode"
        )
        groups.append(Group(Id("g", name), (row,)))
    return Unit("g", tuple(groups))


@given(st.lists(st.integers(1, 12), min_size=1, max_size=12), st.data())
def test_stacking_makes_no_circle(sizes: list[int], data: st.DataObject) -> None:
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    units = [unit(start, size) for start, size in zip(starts, sizes, strict=True)]
    place = st.integers(0, sum(sizes) - 1)
    pairs = data.draw(st.lists(st.tuples(place, place).filter(lambda pair: pair[0] != pair[1]), max_size=60))
    ends = [(f"op{min(pair)}", f"op{max(pair)}") for pair in pairs]
    links = [Link(Id("g", tail), Id("g", head), Id("g", head), False) for tail, head in ends]
    found = below(units, links)
    graph: dict[Id, set[Id]] = {}
    for above, under in [*((link.tail, link.head) for link in links), *found]:
        graph.setdefault(under, set()).add(above)
    assert list(TopologicalSorter(graph).static_order()) or not graph
    assert not set(found) & {(link.tail, link.head) for link in links}


def test_many_independent_operations_stand_in_rows() -> None:
    units = [unit(index, 1) for index in range(40)]
    under = {head: tail for tail, head in below(units, [])}
    heights: dict[Id, int] = {}
    for key in [Id("g", f"op{index}") for index in range(40)]:
        heights[key] = heights[under[key]] + 1 if key in under else 0
    widest = max(list(heights.values()).count(height) for height in set(heights.values()))
    assert 4 <= widest <= 10
