"""The way between two operations, against all paths of random schedules."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.diagrams.schedule.part import on_the_way, restricted, units_with
from inspect_compile.diagrams.schedule.schedule import schedule_picture
from inspect_compile.diagrams.schedule.units import schedule
from inspect_compile.graph import CompiledGraph, Graphs, Id
from inspect_compile.tables.lookup_text import resolved
from tests.diagrams.pictures import holds_together, recorded
from tests.handmade import GRAPH, graph, made, operation

edges = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]), max_size=16)


def paths(first: int, last: int, pairs: set[tuple[int, int]]) -> set[int]:
    """All operations of all paths, by going each of them."""
    if first == last:
        return {first}
    found: set[int] = set()
    for tail, head in pairs:
        if tail == first and (rest := paths(head, last, pairs)):
            found |= {first} | rest
    return found


@settings(max_examples=40, deadline=None)
@given(edges, st.integers(0, 7), st.integers(0, 7))
def test_what_is_on_the_way(pairs: set[tuple[int, int]], first: int, last: int) -> None:
    with TemporaryDirectory() as folder:
        dump = made(
            Path(folder),
            graph(),
            *(
                operation(
                    f"op{number}",
                    reads={f"buf{tail}": 4 for tail, head in sorted(pairs) if head == number},
                    writes={f"buf{number}": 4},
                )
                for number in range(8)
            ),
        )
        whole = schedule(CompiledGraph(dump, GRAPH), "post_fusion")
        found = on_the_way(whole, {Id(GRAPH, f"op{first}")}, {Id(GRAPH, f"op{last}")})
        assert {int(name[2:]) for _, name in found} == paths(first, last, pairs)
        part = restricted(whole, units_with(whole, found))
        assert {(link.tail, link.head) for link in part.links} == {
            (link.tail, link.head) for link in whole.links if {link.tail, link.head} <= found
        }


@pytest.mark.parametrize("phase", ["pre_fusion", "post_fusion"])
def test_a_path_of_a_recorded_schedule(phase: str) -> None:
    """The kernels of the operations, whole; whichever end is named first."""
    dump = recorded("tui/walks")
    name = dump.graphs()[0].graph
    ((one, other),) = resolved(find_operations(Graphs(dump, name), ("op0", "op6")))
    pictures = [schedule_picture(CompiledGraph(dump, name), phase, path=ends) for ends in ((one, other), (other, one))]  # type: ignore[arg-type]
    assert pictures[0] == pictures[1]
    holds_together(pictures[0])
    assert any("on the way from op0 to op6" in line for line in pictures[0].subtitles)
    assert not [box for box in pictures[0].boxes() if box.kind == "elsewhere"]
    told = {box.tooltip[0].partition(" · ")[0] for box in pictures[0].boxes()}
    assert {"op0", "op6"} <= told
    assert "op1" not in told
