"""Jagged tensors among the inputs of a graph are compiled for targets."""

import io
import pickle
from pathlib import Path
from typing import Any

import pytest
import sympy

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Remark
from inspect_compile.lowering.intervention.cross_compile.pickling import jagged
from inspect_compile.torch_compat.targets import RAGGED_VALUE
from tests.harmless.test_models import KINDS
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "harmless" / "programs" / "plain_model.py"


@pytest.mark.parametrize("kind", ["inference", pytest.param("training", marks=pytest.mark.targets)])
def test_sequences_of_several_lengths(kind: str, tmp_path: Path) -> None:
    done = inspected([PROGRAM, "jagged", kind], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert not [row.message for row in dump.rows(Remark) if row.code in ("target-failed", "target-not-sent")]
    assert {graph.kind for graph in dump.outermost()} == KINDS[kind]
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}


def test_the_value_of_a_ragged_size_is_the_same_in_another_process() -> None:
    """Symbols have it; torch 2.15 asks for it while it traces, and sympy alone would send it empty."""

    class Pickler(pickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            return jagged.reduced(obj)

    value = RAGGED_VALUE.load()(3, coeff=2)
    sent = io.BytesIO()
    Pickler(sent).dump({sympy.Symbol("s0"): value})
    (received,) = pickle.loads(sent.getvalue()).values()
    assert sympy.Eq(received, value) == sympy.true
    assert (received._val, received._coeff) == (3, 2)
    assert (received * 2)._coeff == 4
