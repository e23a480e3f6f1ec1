"""As many refusals as torch's own TORCH_LOGS=fusion prints "cannot fuse", and as many fusions as it prints "fusing"."""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.facts import Attempt
from tests.conftest import DumpOf, run_sample


@pytest.mark.parametrize("sample", ["softmax_mlp", "attention_block", "training_step", "conditional"])
def test_refusals_are_those_that_torch_logs(dump_of: DumpOf, sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    # The caches of whole graphs are off, or a graph that they serve would log nothing.
    environment = {
        **os.environ,
        "TORCH_LOGS": "fusion",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    logged = run_sample([sys.executable], sample, (), tmp_path, inductor_cache, environment).stderr
    attempts = open_dump(dump_of(sample).dump).rows(Attempt)

    assert sum(attempt.refusals for attempt in attempts) == logged.count("cannot fuse ")
    assert Counter(attempt.verdict for attempt in attempts)["fused"] == logged.count("] fusing ")
    for attempt in attempts:
        if attempt.refusals:
            assert f"cannot fuse {attempt.a} with {attempt.b}: {attempt.reason}" in logged
