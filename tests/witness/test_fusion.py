"""The ledger against torch's own TORCH_LOGS=fusion of another run, and against the generated code."""

import os
import shutil
from pathlib import Path

import pytest
import torch._inductor.config

from inspect_compile.dump import open_dump
from tests.conftest import DumpOf, PlainOf
from tests.ledgers import check_ledgers, logged, recorded
from tests.misses import check_misses
from tests.running import COMMAND, run

PROGRAMS = Path(__file__).resolve().parents[1]
OTHERS = ("conv_bias", "graph_breaks", "dynamic_shapes", "two_models", "flex_attention")
"""Samples whose log is not taken from a run of its own."""


@pytest.mark.parametrize("sample", ["softmax_mlp", "attention_block", "training_step", "conditional"])
def test_the_ledger_is_what_torch_logs(dump_of: DumpOf, plain_of: PlainOf, sample: str) -> None:
    dump = open_dump(dump_of(sample).dump)

    assert recorded(dump) == logged(plain_of(sample).log)
    check_ledgers(dump)
    check_misses(dump)


@pytest.mark.harmless
@pytest.mark.parametrize(
    "words",
    [
        *((f"../samples/{name}.py",) for name in OTHERS),
        ("witness/programs/axes.py",),
        ("harmless/programs/real_model.py", "gpt2", "inference"),
        ("harmless/programs/real_model.py", "gpt2", "training"),
        ("harmless/programs/real_model.py", "bert", "inference"),
    ],
    ids=" ".join,
)
def test_the_ledger_is_what_torch_logs_in_the_same_process(words: tuple[str, ...], tmp_path: Path) -> None:
    program = shutil.copy(PROGRAMS / words[0], tmp_path)
    command = [*COMMAND, "run", "--no-tui", "--dump", tmp_path / "dump", program, *words[1:]]
    result = run(command, tmp_path, environment={**os.environ, "TORCH_LOGS": "fusion"})
    dump = open_dump(tmp_path / "dump")

    assert result.returncode == 0, result.stderr[-2000:]
    assert recorded(dump) == logged(result.stderr)
    check_misses(dump)
    fused = any(row.verdict == "fused" for ledger in check_ledgers(dump) for row in ledger.candidates)
    assert fused or words[0].startswith("../samples")


@pytest.mark.harmless
def test_the_ledger_of_a_target(tmp_path: Path) -> None:
    program = shutil.copy(PROGRAMS / "witness/programs/axes.py", tmp_path)
    result = run([*COMMAND, "run", "--no-tui", "--target", "sm_90", "--dump", tmp_path / "dump", program], tmp_path)
    (target,) = (tmp_path / "dump").glob("target_*")

    assert result.returncode == 0, result.stderr[-2000:]
    found = check_ledgers(open_dump(target))
    check_misses(open_dump(target))
    assert any(row.verdict == "fused" for ledger in found for row in ledger.candidates)


@pytest.mark.harmless
def test_the_kinds_of_pairs_of_a_target(tmp_path: Path) -> None:
    program = shutil.copy(PROGRAMS / "witness/programs/reductions.py", tmp_path)
    result = run([*COMMAND, "run", "--no-tui", "--target", "sm_90", "--dump", tmp_path / "dump", program], tmp_path)
    (target,) = (tmp_path / "dump").glob("target_*")

    assert result.returncode == 0, result.stderr[-2000:]
    found = check_ledgers(open_dump(target))
    check_misses(open_dump(target))
    fused = {row.kind for ledger in found for row in ledger.candidates if row.verdict == "fused"}
    has_nested = hasattr(torch._inductor.config.triton, "nested_reduction")
    assert fused == {"mix-order", "producer-consumer"} | ({"nested"} if has_nested else set())
