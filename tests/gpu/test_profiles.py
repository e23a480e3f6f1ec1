"""On a machine with a CUDA device: a profile of a program that only large sizes make special."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.dump import open_dump
from inspect_compile.facts import Kernel, Operation
from inspect_compile.profiles import chrome
from tests.statements import statements_missing

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

PROGRAMS = Path(__file__).parent / "programs"


def test_reductions_along_both_axes(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    subprocess.run([*command, str(PROGRAMS / "both_axes.py"), str(trace)], check=True, timeout=200)
    dump = open_dump(tmp_path / "dump")

    mixed = [row for row in dump.rows(Operation) if row.node_type == "FusedMixOrderReductions"]
    assert mixed
    assert statements_missing(dump) == []
    left = [row for row in dump.rows(Kernel) if row.name == "torch.ops.aten.sum"]
    assert len(left) == 2  # of weight and bias
    assert all(row.nodes and row.launches for row in left)
    found = attribute(dump, chrome.read(trace))
    joined = {own.launch.kernel.name for own in found.joined if own.launch is not None}
    assert "torch.ops.aten.sum" in joined
    apart = [run.name for run, own in zip(found.runs, found.joined, strict=True) if own.launch is None]
    assert apart == []
