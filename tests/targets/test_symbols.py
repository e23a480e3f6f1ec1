"""What Dynamo makes symbols of is a symbol for a target, too, as on the device itself."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Tensor
from tests.running import inspected

PROGRAMS = Path(__file__).parent / "programs"

Inputs = list[list[tuple[Tensor, ...]]]
"""Of each graph the values of its inputs; none for a symbol."""


@pytest.mark.targets
def test_sizes_of_a_result(tmp_path: Path) -> None:
    here, there = _inputs("symbolic_results.py", tmp_path)

    sizes = [[values[0].size if values else "a symbol" for values in graph] for graph in here]
    assert [len(graph) for graph in sizes] == [1, 2, 2]  # a tensor; then a symbol for its first size, too
    assert [[values[0].size if values else "a symbol" for values in graph] for graph in there] == sizes


@pytest.mark.targets
def test_floats(tmp_path: Path) -> None:
    here, there = _inputs("float_symbols.py", tmp_path)

    numbers = [value for graph in here for (value,) in graph if value.dtype == "float64"]
    assert len(numbers) == 2  # one for each function, in the graph that is compiled for the second number
    of_there = [value for graph in there for (value,) in graph if value.dtype == "float64"]
    assert of_there == numbers
    assert {value.device for value in of_there} == {"cpu"}


def _inputs(program: str, folder: Path) -> tuple[Inputs, Inputs]:
    """Of the graphs compiled on the CPU, and of those for a target in the place of a GPU, but for backward graphs."""
    here = inspected([PROGRAMS / program, "cpu"], folder, options=["--dump", folder / "here"])
    there = inspected([PROGRAMS / program, "cuda"], folder, options=["--dump", folder / "there", "--target", "sm_90"])
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    return _of_graphs(folder / "here"), _of_graphs(folder / "there" / "target_sm_90")


def _of_graphs(root: Path) -> Inputs:
    dump = Dump(root)
    return [
        [node.values for node in dump.rows(Node, graph.graph) if node.stage == "post_grad" and node.op == "placeholder"]
        for graph in dump.graphs()
        if graph.kind != "backward"
    ]
