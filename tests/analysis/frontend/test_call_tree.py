"""The tree of calls: every compile below the lines of the program that led to it."""

from inspect_compile.analysis.frontend.call_tree import call_tree, compile_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Location
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.frontend.own_code import is_library
from tests.conftest import DumpOf


def test_the_way_to_a_compile_is_that_of_its_calls(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("graph_breaks").dump)
    rows = list(compile_rows(Graphs(dump)))
    callers = {row.graph: row.caller for row in dump.rows(Frame)}
    above: list[tuple[Location, ...]] = []
    found = []
    for line in call_tree(rows):
        assert line.depth <= len(above)
        del above[line.depth :]
        if line.compile is None:
            above.append(line.where)
            continue
        way = [where for lines in above for where in lines]
        caller = callers[line.compile.graph]
        own = [] if caller is None else [one for one in caller.calls() if not is_library(one.file)]
        assert [(one.file, one.line) for one in way] == [(one.file, one.line) for one in reversed(own)]
        found.append(line.compile)

    assert sorted(row.graph for row in found) == sorted(row.graph for row in rows)
    assert any(row.calls for row in rows)


def test_a_line_stands_once(dump_of: DumpOf) -> None:
    lines = list(call_tree(list(compile_rows(Graphs(Dump(dump_of("graph_breaks").dump))))))
    paths: list[tuple[Location, ...]] = []
    seen = set()
    for line in lines:
        if line.compile is None:
            del paths[line.depth :]
            paths.append(line.where)
            path = tuple((where.file, where.line) for lines in paths for where in lines)
            assert path not in seen
            seen.add(path)
    assert seen
