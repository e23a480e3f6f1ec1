"""Mistakes that are made before there are kernels: the pass is named, or the kernel that a lowering made."""

import json
from pathlib import Path

import pytest

from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.running import COMMAND, run

PROGRAM = Path(__file__).parent / "programs" / "bad_stages.py"


@pytest.mark.harmless
def test_the_stage_with_the_mistake_is_named(tmp_path: Path, inductor_cache: Path) -> None:
    # What a changed lowering gives must not be taken from a cache, nor put into one.
    off = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), **off}

    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAM], tmp_path, environment=environment)

    assert done.returncode == 1, done.stderr
    planted = [json.loads(line) for line in done.stdout.splitlines()]
    dump = Dump(tmp_path / "dump")
    graphs = sorted((graph.graph for graph in dump.outermost()), key=lambda name: int(name.split("_")[2]))
    assert len(planted) == len(graphs) >= 20
    for row, graph in zip(planted, graphs, strict=True):
        assert row["apart"] > 1e-3, row
        wrong = [each for each in judged(Graphs(dump, graph)) if each.verdict == WRONG]
        levels = {each.level for each in wrong if each.level}
        kernels = {each.kernel for each in wrong if not each.level}
        if row["where"] == "lowering":
            assert (levels, len(kernels)) == (set(), 1), row
        else:
            assert (levels, kernels) == ({row["where"]}, set()), row
