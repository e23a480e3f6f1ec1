"""What of a kernel's source need not be read."""

from pathlib import Path

import pytest

from inspect_compile.analysis.kernels.source_text import source_layout
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph

MIXED = Path(__file__).resolve().parents[2] / "data" / "tui" / "mixed"
FORWARD = "model__0_forward_1.0"
TRITON = ["import triton", "from torch import x", "", "@heuristics(", ")", "def triton_poi(a):", "    b = a"]


def test_no_statement_of_a_recorded_kernel_is_in_the_prologue() -> None:
    dump = Dump(MIXED)
    statements = CompiledGraph(dump, FORWARD).statements
    kernels = [kernel for kernel in dump.rows(Kernel, FORWARD) if kernel.kind == "cpp"]

    assert kernels
    for kernel in kernels:
        lines = (dump.text(kernel.graph, kernel.source) or "").splitlines()
        rows = [row.line for row in statements.of_all_calls(kernel)]
        found = source_layout(lines, rows)
        assert 0 < found.prologue < min(rows)
        assert any("#include" in line for line in lines[: found.prologue])
        first = lines[found.prologue]
        assert found.indent == len(first) - len(first.lstrip())


@pytest.mark.parametrize(
    ("lines", "statements", "prologue"),
    [(TRITON, (7,), 5), (TRITON[3:], (4,), 0), ([], (), 0), (["a", "b", "c", "d", "    e"], (5,), 4)],
)
def test_layouts(lines: list[str], statements: tuple[int, ...], prologue: int) -> None:
    assert source_layout(lines, statements).prologue == prologue
