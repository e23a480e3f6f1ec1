"""Values on a GPU are not known when a program is traced for one, as in `kv[:, pos] = y`; what keeps graphs from being
CUDA graphs is evaluated for the program.
"""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import CudaGraph, GraphBreak
from tests.running import inspected

pytestmark = pytest.mark.targets

PROGRAM = """
import torch
@torch.compile(mode="reduce-overhead")
def at_tensor(x, kv, pos):
    y = x * 2
    kv[:, pos] = y
    return kv.sum(1) * y
@torch.compile(mode="reduce-overhead")
def at_number(x, kv):
    kv[:, 3] = x
    return kv + 1
with torch.no_grad():
    x, kv = torch.randn(4, 8, device="cuda"), torch.zeros(4, 16, 8, device="cuda")
    at_tensor(x, kv, torch.tensor(1, device="cuda"))
    at_number(x, kv)
"""


def test_a_value_on_the_gpu_breaks_the_graph_and_a_written_part_of_an_input_is_no_cuda_graph(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    done = inspected(["script.py"], tmp_path, options=["--target", "sm_90"])
    assert done.returncode == 0, done.stderr
    breaks = Dump(tmp_path / "dump").rows(GraphBreak)
    rows = Dump(tmp_path / "dump" / "target_sm_90").rows(CudaGraph)

    assert [row.where.line for row in breaks if row.where] == [6]
    assert "aten._local_scalar_dense" in f"{breaks[0].reason} {breaks[0].explanation}"
    assert [(bool(row.skipped), (row.where or "").rpartition(":")[2]) for row in rows] == [
        (False, ""),
        (False, ""),
        (True, "10"),
    ]
