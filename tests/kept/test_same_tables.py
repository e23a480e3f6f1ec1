"""A warm run with `--cache auto` is told as a cold one, table by table, for the samples and for small real models."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, Hook
from inspect_compile.graph import CompiledGraph
from tests.conftest import SAMPLES
from tests.kept.same_tables import differences
from tests.running import inspected

HARMLESS = Path(__file__).parents[1] / "harmless" / "programs"
PROGRAMS = Path(__file__).parent / "programs"
MODELS = Path(__file__).parents[2] / "benchmarks" / "programs"


class Case(NamedTuple):
    """A program with its arguments, and what torch's caches serve of it when it runs again."""

    program: Path
    words: tuple[str, ...] = ()
    served: str | None = "all"
    """all, some or none of its compiles: AOTAutograd stores a graph that needs gradients when its backward has been
    compiled, and no graph with a conditional. None if that is not known of all releases of torch.
    """


CASES = {
    "attention_block": Case(SAMPLES / "attention_block.py"),
    "conditional": Case(SAMPLES / "conditional.py", served="none"),
    "conv_bias": Case(SAMPLES / "conv_bias.py", served="none"),
    "dynamic_shapes": Case(SAMPLES / "dynamic_shapes.py"),
    "flex_attention": Case(SAMPLES / "flex_attention.py", served=None),
    "graph_breaks": Case(SAMPLES / "graph_breaks.py"),
    "missed_fusion": Case(SAMPLES / "missed_fusion.py"),
    "softmax_mlp": Case(SAMPLES / "softmax_mlp.py"),
    "training_step": Case(SAMPLES / "training_step.py"),
    "two_models": Case(SAMPLES / "two_models.py"),
    "rnn loop": Case(PROGRAMS / "rnn_loop.py"),
    "conv dropout": Case(PROGRAMS / "conv_dropout.py"),
    "breaks and sizes": Case(PROGRAMS / "breaks_and_sizes.py"),
    "custom op": Case(PROGRAMS / "custom_op.py"),
    "gpt2 training": Case(HARMLESS / "real_model.py", ("gpt2", "training")),
    "resnet training": Case(MODELS / "trained.py", ("resnet", "--device", "cpu", "--steps", "1")),
}
BERT = Case(HARMLESS / "real_model.py", ("bert", "inference"))


def check(case: Case, folder: Path) -> None:
    script = folder / case.program.name
    shutil.copy(case.program, script)
    environment = {
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "INSPECT_COMPILE_CACHE_DIR": str(folder / "kept"),
    }
    for name in ("cold", "warm"):
        options = ("--cache", "auto", "--dump", str(folder / name))
        done = inspected([script, *case.words], folder, options=options, environment=environment)
        assert done.returncode == 0, done.stderr
    cold, warm = Dump(folder / "cold"), Dump(folder / "warm")
    assert differences(cold.root, warm.root) == []
    assert [hook for hook in warm.rows(Hook) if hook.state == "failed"] == []
    served = [row.outcome == "hit" for row in warm.rows(CacheLookup) if row.cache == "aot_autograd"]
    assert served
    assert case.served in (None, "all" if all(served) else "some" if any(served) else "none")
    for graph in warm.outermost():
        covered = coverage(CompiledGraph(warm, graph.graph))
        assert (covered.missing, covered.unknown) == ([], ())
        assert covered.nodes


def test_bert(tmp_path: Path) -> None:
    check(BERT, tmp_path)


@pytest.mark.harmless
@pytest.mark.parametrize("name", CASES)
def test_another_program(name: str, tmp_path: Path) -> None:
    check(CASES[name], tmp_path)
