"""A second run of the same script, with torch's caches warm from the first, gives the same tables."""

import sys
from pathlib import Path

import msgspec
import pytest

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Fact, Graph, Kernel, Lowering, Node, Operation, Realize, WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from tests.conftest import DumpOf, run_sample

COMPARED: tuple[type[Fact], ...] = (Node, Lowering, Realize, Operation, Kernel, WrapperLine)


def _rows(dump: Dump, kind: type[Fact]) -> list[bytes]:
    return [msgspec.json.encode(msgspec.structs.replace(row, **_timeless(row))) for row in dump.rows(kind)]


def _timeless(row: Fact) -> dict[str, float]:
    return {"seconds": 0.0} if isinstance(row, Lowering) else {}


@pytest.mark.harmless
@pytest.mark.parametrize("sample", ["conv_bias", "training_step"])
def test_the_second_run_tells_the_same(dump_of: DumpOf, sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    first = open_dump(dump_of(sample).dump)
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    assert run_sample(command, sample, (), tmp_path, inductor_cache).returncode == 0
    second = open_dump(tmp_path / "dump")

    for kind in COMPARED:
        rows = _rows(first, kind)
        assert rows
        assert rows == _rows(second, kind), kind.__name__
    for graph in first.rows(Graph):
        assert candidates(CompiledGraph(first, graph.graph)) == candidates(CompiledGraph(second, graph.graph))
