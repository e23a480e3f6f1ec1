"""Several ranks of one run: the parts that they leave, and where their compiles differ."""

import re
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.compare import compare
from inspect_compile.dump import Dump, open_dump
from inspect_compile.dump.parts import ranks
from tests.conftest import SAMPLES
from tests.running import COMMAND, last_words, run

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2")
SAMPLE = SAMPLES / "ddp_step.py"
WAYS = {
    "watched launcher": (*COMMAND, "run", "--no-tui", "--dump", "dump", "--", *TORCHRUN, SAMPLE),
    "watched ranks": (*TORCHRUN, "-m", "inspect_compile", "run", "--dump", "dump", SAMPLE),
}


@pytest.fixture
def variables(inductor_cache: Path) -> dict[str, str | None]:
    return {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "OMP_NUM_THREADS": "1", "PYTHONPATH": None}


def code(dump: Dump) -> list[str]:
    """What torch generated, without what no two processes share."""
    texts = [dump.text(graph.graph, "output_code.py") or "" for graph in dump.graphs()]
    return [re.sub(r"^\s*# .*$", "", text, flags=re.MULTILINE) for text in texts]


@pytest.mark.parametrize("way", WAYS)
def test_ranks_that_compile_the_same(way: str, tmp_path: Path, variables: dict[str, str | None]) -> None:
    result = run(WAYS[way], tmp_path, environment=variables)
    assert result.returncode == 0, result.stderr
    # Two processes write to one pipe, torchrun without buffers: line feeds come when they come.
    assert sorted(re.findall(r"rank \d: loss [\d.]{6}", result.stdout)) == [
        "rank 0: loss 0.0647",
        "rank 1: loss 0.0647",
    ]
    assert len(last_words(result.stderr)) == 1
    dump = open_dump(tmp_path / "dump")
    first, second = (Dump(part.root) for part in ranks(dump.root).values())
    assert [graph.kind for graph in first.graphs()] == ["forward", "backward"]
    assert code(first) == code(second)
    assert compare(first, second) == []
    shown = run([*COMMAND, "show", "dump", "ranks"], tmp_path)
    assert "rank 1 compiles the same" in shown.stdout


def test_a_rank_that_differs_is_told(tmp_path: Path, variables: dict[str, str | None]) -> None:
    result = run([*WAYS["watched launcher"], "--differ"], tmp_path, environment=variables)
    assert result.returncode == 0, result.stderr
    first, second = (Dump(part.root) for part in ranks(tmp_path / "dump").values())
    assert code(first)[0] != code(second)[0]
    found = {difference.level: difference for difference in compare(first, second)}
    assert {"nodes", "kernels", "guards", "cost"} <= found.keys()
    assert (found["nodes"].where or "").startswith(f"{SAMPLE}:")
    shown = run([*COMMAND, "show", "dump", "ranks", "--all"], tmp_path).stdout
    assert "aten.addmm.default float32[12, 32]" in shown
    assert run([*COMMAND, "diff", "dump/rank_0", "dump/rank_0"], tmp_path).stdout.endswith(" compiled the same\n")
    summed = run([*COMMAND, "show", "dump"], tmp_path).stdout
    assert "show dump --rank 1" in summed
    wrong = run([*COMMAND, "show", "dump", "--rank", "7"], tmp_path)
    assert (wrong.returncode, wrong.stderr) == (2, "inspect-compile: dump: no rank 7; it has the ranks 0 1\n")
