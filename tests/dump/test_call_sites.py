"""Each line that a dump is read of has the calls that led to it, whatever the table of calls holds."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from inspect_compile.dump import Dump
from inspect_compile.dump.call_sites import DEEPEST, locations_in
from inspect_compile.facts import FACTS, CallSite, Edit, Location, Node, Pass
from tests.handmade import graph, made, node


def site(number: int, caller: int = 0, line: int | None = None) -> CallSite:
    return CallSite(site=number, caller=caller, file="net.py", line=number if line is None else line)


def at(line: int, site: int) -> Location:
    return Location("net.py", line, site=site)


def lines(where: Location | None) -> list[int]:
    return [] if where is None else [one.line for one in where.calls()]


def first(dump: Dump) -> Node:
    return dump.rows(Node)[0]


def test_a_line_has_what_called_it(tmp_path: Path) -> None:
    dump = made(tmp_path, site(1), site(2, 1), site(3, 2), graph(), node("x", where=at(3, 3)))

    assert lines(first(dump).where) == [3, 2, 1]


def test_calls_below_a_line_are_not_above_it(tmp_path: Path) -> None:
    """The innermost call is in a function of torch's that the line calls."""
    dump = made(tmp_path, site(1), site(2, 1), site(3, 2), graph(), node("x", where=at(2, 3)))

    where = first(dump).where
    assert lines(where) == [2, 1]
    assert where is not None
    assert [one.line for one in dump.calls_to(where)] == [3, 2, 1]


@pytest.mark.parametrize(
    "sites",
    [
        [],
        [site(3, 3)],
        [site(3, 9)],
        [site(0), site(-1, 0), site(3, 0)],
        [site(3, 4), site(4, 3)],
        [site(3, line=8)],
    ],
)
def test_a_damaged_table_of_calls_leaves_the_line_alone(tmp_path: Path, sites: list[CallSite]) -> None:
    dump = made(tmp_path, *sites, graph(), node("x", where=at(3, 3)))

    assert lines(first(dump).where) == [3]


def test_of_very_deep_calls_the_innermost_are_kept(tmp_path: Path) -> None:
    count = 3 * DEEPEST
    deep = [site(number, number - 1) for number in range(1, count + 1)]
    dump = made(tmp_path, *deep, graph(), node("x", where=at(count, count)))

    found = lines(first(dump).where)
    assert found[:2] == [count, count - 1]
    assert len(found) <= DEEPEST
    assert msgspec.json.encode(first(dump))


def test_calls_that_are_recorded_later_are_read_when_they_are_needed(tmp_path: Path) -> None:
    made(tmp_path, site(1), graph(), node("x", where=at(1, 1)))
    dump = Dump(tmp_path)
    assert lines(first(dump).where) == [1]

    made(tmp_path, site(2, 1), node("y", where=at(2, 2)))
    dump.refresh()
    assert [lines(row.where) for row in dump.rows(Node)] == [[1], [2, 1]]


def test_a_table_that_grows_by_its_first_line_with_a_call_is_read_again(tmp_path: Path) -> None:
    made(tmp_path, graph(), node("x"))
    dump = Dump(tmp_path)
    assert lines(first(dump).where) == []

    made(tmp_path, site(1), node("y", where=at(1, 1)))
    assert dump.refresh()
    assert [lines(row.where) for row in dump.rows(Node)] == [[], [1]]


def test_the_lines_in_the_parts_of_a_fact_have_them_too(tmp_path: Path) -> None:
    edit = Edit("added", "x", where=at(2, 2))
    one = Pass(graph="0/0", index=0, parent=None, stage="joint", kind="pass", name="p", edits=(edit,))
    dump = made(tmp_path, site(1), site(2, 1), graph(), one)

    assert lines(dump.rows(Pass)[0].edits[0].where) == [2, 1]


def test_every_kind_of_fact_with_a_line_is_known() -> None:
    def holds(kind: Any) -> bool:
        return "Location" in str([field.type for field in msgspec.structs.fields(kind)])

    assert {kind.__name__ for kind in FACTS if holds(kind)} <= {kind.__name__ for kind in FACTS if locations_in(kind)}
    assert locations_in(Pass)
    assert not locations_in(CallSite)
