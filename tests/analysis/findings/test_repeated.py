"""What a compile takes longer for with each round: loops and layers, at the line whose rounds they are."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.frontend.alike import alike_kernels
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph
from inspect_compile.graph import CompiledGraph, Graphs
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "repeated.py"
LINES = {
    number: text.split("  # ")[1] for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "  # " in text
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    folder = tmp_path_factory.mktemp("repeated")
    done = inspected([PROGRAM, "layers", "few", "unrolled", "straight"], folder)
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def told(dump: Dump) -> dict[str, Finding]:
    """The comment of a line → what is said of its rounds."""
    rows = [row for row in findings(Graphs(dump)) if row.kind == "compile-time"]
    return {LINES[row.parts[0].where.line]: row for row in rows if row.parts[0].where is not None}


def test_layers_and_loops_are_told_apart_and_few_rounds_not_at_all(recorded: Dump) -> None:
    found = told(recorded)

    assert found.keys() == {"layers", "unrolled"}
    assert found["layers"].why.startswith("6 layers of layers make 9")
    assert "layer.compile()" in found["layers"].to_do
    assert found["unrolled"].why.startswith("30 iterations of the loop make 98% ")
    assert "scan" in found["unrolled"].to_do
    assert all(row.when == "once" for row in found.values())


def test_they_stand_behind_all_that_a_step_costs(recorded: Dump) -> None:
    kinds = [row.kind for row in findings(Graphs(recorded))]
    assert kinds[-2:] == ["compile-time", "compile-time"]


def test_kernels_that_differ_in_numbers_are_counted(recorded: Dump) -> None:
    for graph in recorded.rows(Graph):
        alike = alike_kernels(recorded, [CompiledGraph(recorded, graph.graph)])
        assert alike is None or alike.kinds <= alike.several // 4 <= alike.all
