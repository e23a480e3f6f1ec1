"""What we say of two accesses of one buffer, and what torch says of them."""

import ast
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLES
from tests.running import plain

PROGRAM = Path(__file__).parent / "programs" / "refused_pairs.py"
OURS = (
    ("not MemoryDep", {"whole"}),
    ("different numel", {"sizes"}),
    ("broadcast", {"broadcast"}),
    ("different offset", {"offset"}),
    ("Mismatch loop orders", {"transposed", "same"}),
    ("Unknown reason", {"tiling", "unknown"}),
)
"""The start of torch's reason → our kinds."""


def refused(cwd: Path, *samples: Path) -> list[dict[str, Any]]:
    done = plain([PROGRAM, cwd / "told", *samples], cwd)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (cwd / "told").read_text().splitlines()]


def kinds_of(pairs: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Program → the kinds on which torch and we agree; torch has a word for every pair, and no other word."""
    seen: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        assert pair["guards"] == 0
        reasons = ast.literal_eval(pair["torch"]) if pair["torch"] else {}
        for found in pair["ours"]:
            assert found["buffer"] in reasons
            if found["times"] == 1:  # of several accesses torch takes any
                reason = reasons[found["buffer"]]
                kinds = next(kinds for start, kinds in OURS if reason.startswith(start))
                assert found["kind"] in kinds, (pair["name"], reason, found)
                seen[pair["name"]].add(found["kind"])
    return seen


def test_torch_and_we_agree_on_what_differs(tmp_path: Path) -> None:
    seen = kinds_of(refused(tmp_path))
    assert "transposed" in seen["transpose"]
    assert "offset" in seen["slices"]
    assert "broadcast" in seen["repeated"]
    assert "sizes" in seen["part"]
    assert {"offset", "sizes"} <= seen["rolled"]
    assert "tiling" in seen["reshaped"]
    assert {"offset", "transposed"} <= seen["symbolic"]


@pytest.mark.harmless
def test_torch_and_we_agree_in_samples(tmp_path: Path) -> None:
    seen = kinds_of(refused(tmp_path, SAMPLES / "training_step.py", SAMPLES / "attention_block.py"))
    assert "whole" in set().union(*seen.values())
