"""Graphs that DistributedDataParallel's buckets cut: what is handed across, held against the graph without cuts."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph
from inspect_compile.graph import CompiledGraph, Graphs
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "ddp.py"
VALUE = 768 * 512 * 4
"""Bytes of what is handed on."""


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dump]:
    folder = tmp_path_factory.mktemp("ddp")
    found = {}
    for name in ("cut", "whole", "matrices"):
        done = inspected([PROGRAM, name], folder, options=["--dump", folder / name])
        assert done.returncode == 0, done.stderr
        found[name] = Dump(folder / name)
    return found


def cuts(dump: Dump) -> list[Finding]:
    return [row for row in findings(Graphs(dump)) if row.kind == "ddp-cuts"]


def forward(dump: Dump) -> list[str]:
    return [row.graph for row in dump.rows(Graph) if row.kind == "forward"]


def test_what_kernels_hand_across_cuts_is_what_one_graph_does_not_move(dumps: dict[str, Dump]) -> None:
    (found,) = cuts(dumps["cut"])
    pieces = forward(dumps["cut"])
    assert f"the forward is {len(pieces)} graphs" in found.why
    assert found.bytes == 2 * VALUE * (len(pieces) - 1)
    assert {part.where.line for part in found.parts if part.where is not None} == {23}

    assert len(forward(dumps["whole"])) == 1
    before, after = (
        sum(CompiledGraph(dumps[name], one).traffic.moved for one in forward(dumps[name])) for name in ("cut", "whole")
    )
    assert 0 < before - after <= found.bytes


def test_nothing_is_said_where_nothing_is_cut_or_a_library_stands_at_the_cuts(dumps: dict[str, Dump]) -> None:
    assert len(forward(dumps["matrices"])) > 1
    assert cuts(dumps["matrices"]) == cuts(dumps["whole"]) == []
