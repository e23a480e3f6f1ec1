"""Inputs that are copied as a whole though a few places are written: a program, and the same changed as advised."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph
from inspect_compile.graph import CompiledGraph, Graphs
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "written.py"
LINES = {
    number: text.split("  # ")[1] for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "  # " in text
}
WHOLE = 64 * 128 * 4
"""Bytes of an input."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dump, Dump]:
    """As it is, and mended."""
    folder = tmp_path_factory.mktemp("written")
    for name, arguments in (("plain", []), ("mended", ["mended"])):
        done = inspected([PROGRAM, *arguments], folder, options=["--dump", folder / name])
        assert done.returncode == 0, done.stderr
    return Dump(folder / "plain"), Dump(folder / "mended")


def told(dump: Dump) -> dict[str, Finding]:
    """The comment of a line → what is said of the input that it writes into."""
    rows = [row for row in findings(Graphs(dump)) if row.kind == "mutation"]
    return {LINES[row.parts[0].where.line]: row for row in rows if row.parts[0].where is not None}


def moved(dump: Dump) -> int:
    (graph,) = dump.rows(Graph)
    return CompiledGraph(dump, graph.graph).traffic.moved


def test_each_that_is_copied_is_told_and_none_that_is_written_in_place(recorded: tuple[Dump, Dump]) -> None:
    found = told(recorded[0])

    assert found.keys() == {"rows", "columns", "mixed", "last"}
    assert all(row.bytes is not None and row.bytes > WHOLE // 2 for row in found.values())


def test_by_indices_all_are_written_in_place(recorded: tuple[Dump, Dump]) -> None:
    plain, mended = recorded
    assert not told(mended)
    promised = sum(row.bytes or 0 for row in told(plain).values())
    assert moved(plain) - moved(mended) == pytest.approx(promised, rel=0.1)
