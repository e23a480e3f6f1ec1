"""The replay of each graph's memory, and what a real call holds, byte for byte."""

from pathlib import Path

import pytest

from inspect_compile.facts import MemoryPlan, WrapperLine
from inspect_compile.graph import CompiledGraph
from tests.conftest import SAMPLES
from tests.graph.memory.test_plan import check_held
from tests.harmless.test_models import KINDS, MODELS, program

LOOPS = Path(__file__).parents[1] / "analysis" / "programs" / "held_loops.py"
PROGRAMS = Path(__file__).parent / "programs"
MODEL = PROGRAMS / "real_model.py"

NEEDS_GPU = frozenset({"user_triton_kernel"})
"""Samples that compile nothing on a CPU."""

pytestmark = pytest.mark.harmless


@pytest.mark.parametrize("sample", sorted({path.stem for path in SAMPLES.glob("*.py")} - NEEDS_GPU))
def test_samples(sample: str, tmp_path: Path) -> None:
    check_held(tmp_path, SAMPLES / f"{sample}.py", environment={})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_models(model: str, kind: str, tmp_path: Path) -> None:
    check_held(tmp_path, PROGRAMS / program(model), model, kind, environment={})


def test_loops(tmp_path: Path) -> None:
    """Loops of three to five rounds, which hold what two do; regions that are called twice."""
    dump = check_held(tmp_path, LOOPS, environment={})

    held = [CompiledGraph(dump, graph.graph).memory for graph in dump.outermost()]
    assert [found.loops for found in held] == [(0,), (0,), (0,), (0,), (), (), (), ()]
    assert held[2].unentered > held[2].peak  # it copies what it is given


def test_pools(tmp_path: Path) -> None:
    dump = check_held(tmp_path, MODEL, "bert", "inference", environment={"TORCHINDUCTOR_MEMORY_PLANNING": "1"})

    assert any(row.what == "pool_allocate" for graph in dump.outermost() for row in dump.rows(WrapperLine, graph.graph))
    assert [plan.estimate for graph in dump.outermost() for plan in dump.rows(MemoryPlan, graph.graph)] == [None]


def test_the_peak_without_reuse_is_foretold(tmp_path: Path) -> None:
    without = tmp_path / "without.py"
    without.write_text(
        "import runpy, sys, torch._inductor.config\n"
        "torch._inductor.config.allow_buffer_reuse = False\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    (tmp_path / "with").mkdir()
    (tmp_path / "bare").mkdir()

    planned = check_held(tmp_path / "with", MODEL, "gpt2", "inference", environment={})
    bare = check_held(tmp_path / "bare", without, str(MODEL), "gpt2", "inference", environment={})

    foretold = [CompiledGraph(planned, graph.graph).memory for graph in planned.outermost()]
    assert [found.unplanned for found in foretold] == [
        CompiledGraph(bare, graph.graph).memory.peak for graph in bare.outermost()
    ]
    assert any(found.peak > (found.unplanned or 0) for found in foretold)
