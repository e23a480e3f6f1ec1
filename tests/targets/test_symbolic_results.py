"""Sizes that are symbols in one graph are symbols in the next, as on the device itself."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import Node
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "symbolic_results.py"


@pytest.mark.targets
def test_a_result_with_a_symbol_for_its_size(tmp_path: Path) -> None:
    here = inspected([PROGRAM, "cpu"], tmp_path, options=["--dump", tmp_path / "here"])
    there = inspected([PROGRAM, "cuda"], tmp_path, options=["--dump", tmp_path / "dump", "--target", "sm_90"])

    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    sizes = _sizes(tmp_path / "here")
    assert [len(of_graph) for of_graph in sizes] == [1, 2, 2]  # a tensor; then a symbol for its first size, too
    assert _sizes(tmp_path / "dump" / "target_sm_90") == sizes


def _sizes(root: Path) -> list[list[tuple[int | str, ...]]]:
    """Of each graph, in order, the sizes of its inputs; () is that of a symbol."""
    dump = Dump(root)
    return [
        [
            node.values[0].size if node.values else ()
            for node in dump.rows(Node, graph.graph)
            if node.stage == "post_grad" and node.op == "placeholder"
        ]
        for graph in dump.graphs()
    ]
