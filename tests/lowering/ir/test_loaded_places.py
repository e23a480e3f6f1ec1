"""Gathers of one table: which of them are of the same rows, in what torch compiled."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph
from tests.misses import check_misses
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "gathers.py"
ROWS, WIDTH, WORDS = 64, 32, 500
ONE = ROWS * WIDTH * 4
"""Bytes of the rows that one index chooses."""
ALL = {"same": ONE, "other": 2 * ONE, "moved": 2 * ONE, "computed": 2 * ONE, "nested": ONE, "diagonal": None}


def recorded(folder: Path, *functions: str) -> Dump:
    done = inspected([PROGRAM, *functions], folder)
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def of_table(dump: Dump, graph: str) -> list[int]:
    """Bytes of the table that each launch reads."""
    reads = (one for row in dump.rows(Operation, graph) for one in row.reads)
    (table,) = {one.buffer for one in reads if one.whole == WORDS * WIDTH * 4}
    return [one.read for row in CompiledGraph(dump, graph).traffic.all() for one in row.buffers if one.buffer == table]


def test_rows_that_one_kernel_gathers_twice_count_once(tmp_path: Path) -> None:
    dump = recorded(tmp_path, "same", "nested")

    assert [of_table(dump, graph.graph) for graph in dump.outermost()] == [[ONE], [ONE]]
    check_misses(dump)


@pytest.mark.harmless
def test_which_gathers_are_of_the_same_rows(tmp_path: Path) -> None:
    dump = recorded(tmp_path, *ALL)
    graphs = dict(zip(ALL, (graph.graph for graph in dump.outermost()), strict=True))

    told = {name: of_table(dump, graph) for name, graph in graphs.items()}
    assert {name: told[name] for name, size in ALL.items() if size} == {
        name: [size] for name, size in ALL.items() if size
    }
    reads = [one for row in dump.rows(Operation, graphs["diagonal"]) for one in row.reads if one.places]
    assert len({one.places for one in reads}) == 2, "an index that goes with another variable reaches other elements"
    check_misses(dump)
