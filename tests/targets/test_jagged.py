"""Jagged tensors among the inputs of a graph are compiled for targets."""

from pathlib import Path

import pytest

from inspect_compile.analysis.dumps.graphs import outermost
from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Remark
from tests.harmless.test_models import KINDS
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "harmless" / "programs" / "plain_model.py"


@pytest.mark.parametrize("kind", ["inference", pytest.param("training", marks=pytest.mark.targets)])
def test_sequences_of_several_lengths(kind: str, tmp_path: Path) -> None:
    done = inspected([PROGRAM, "jagged", kind], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert not [row.message for row in dump.rows(Remark) if row.code in ("target-failed", "target-not-sent")]
    assert {graph.kind for graph in outermost(dump)} == KINDS[kind]
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
