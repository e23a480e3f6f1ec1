"""What a miss is said to be worth against two compiles: of the program, and of one in which the pair is one kernel."""

from pathlib import Path

import pytest

from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from tests.misses import check_misses
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "fused_by_hand.py"
ROWS, WIDTH = 64, 32
WHOLE = ROWS * WIDTH * 4
WORTH = [WHOLE + ROWS * 8, WHOLE, WHOLE, WIDTH * 4, 0, 2 * WHOLE]
"""Of each function: rows and places, x, a, a row, nothing, x and a."""


def recorded(folder: Path, *words: str) -> Dump:
    folder.mkdir()
    done = inspected([PROGRAM, *words], folder)
    assert done.returncode == 0, done.stderr
    dump = Dump(folder / "dump")
    check_misses(dump)
    return dump


def moved(dump: Dump) -> list[int]:
    """Of each graph what its own kernels move, library calls left aside."""
    return [
        sum(row.least for row in CompiledGraph(dump, graph.graph).traffic.all() if row.kind == "cpp")
        for graph in dump.outermost()
    ]


@pytest.mark.harmless
def test_a_pair_is_worth_what_one_kernel_for_both_does_not_move(tmp_path: Path) -> None:
    holds(recorded(tmp_path / "apart"), recorded(tmp_path / "one", "one"))


def holds(apart: Dump, one: Dump) -> None:
    found = [fusion(CompiledGraph(apart, graph.graph)) for graph in apart.outermost()]
    worth = [sum(miss.saved_bytes for miss in of_graph.apart) for of_graph in found]
    less = [before - after for before, after in zip(moved(apart), moved(one), strict=True)]

    assert worth == WORTH
    assert less == worth
    assert all(len(of_graph.apart) <= 1 and not of_graph.beside for of_graph in found)
    assert all(fusion(CompiledGraph(one, graph.graph)).apart == [] for graph in one.outermost())
    assert all(miss.between and miss.between[0].kind == "extern" for of_graph in found for miss in of_graph.apart)
