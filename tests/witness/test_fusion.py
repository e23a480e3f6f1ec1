"""As many refusals as torch's own TORCH_LOGS=fusion prints "cannot fuse", and as many fusions as it prints "fusing"."""

from collections import Counter

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.facts import Attempt
from tests.conftest import DumpOf, PlainOf


@pytest.mark.parametrize("sample", ["softmax_mlp", "attention_block", "training_step", "conditional"])
def test_refusals_are_those_that_torch_logs(dump_of: DumpOf, plain_of: PlainOf, sample: str) -> None:
    logged = plain_of(sample).log
    attempts = open_dump(dump_of(sample).dump).rows(Attempt)

    assert sum(attempt.refusals for attempt in attempts) == logged.count("cannot fuse ")
    assert Counter(attempt.verdict for attempt in attempts)["fused"] == logged.count("] fusing ")
    for attempt in attempts:
        if attempt.refusals:
            assert f"cannot fuse {attempt.a} with {attempt.b}: {attempt.reason}" in logged
