"""Graphs with collectives, of one rank of a distributed program, are compiled for a target."""

import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, GraphEnd, Kernel, Remark
from tests.running import COMMAND, inspected, run

pytestmark = pytest.mark.targets

PROGRAM = Path(__file__).parent / "programs" / "ranks.py"
RECENT = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)


def _compiled(part: Path) -> set[str]:
    """The kernels and calls of a part whose graphs were all compiled, to machine code."""
    dump = Dump(part)
    assert not [row.message for row in dump.rows(Remark) if row.code in ("target-failed", "target-not-sent")]
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
    binaries = list(dump.rows(Binary))
    assert all(binary.registers for binary in binaries)
    assert all("ptx" in {stage.name for stage in binary.stages} for binary in binaries)
    return {kernel.name for kernel in dump.rows(Kernel)}


def test_collectives_of_several_groups(tmp_path: Path) -> None:
    """Groups that the rank is in, one that it is not in, and one that is made after a graph was compiled."""
    done = inspected([PROGRAM, "groups"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    assert done.stdout == "(2, 16)\n(6, 16)\n"
    called = _compiled(tmp_path / "dump" / "target_sm_90")
    for name in ("reduce_scatter_tensor", "all_reduce_"):
        assert any(f"_c10d_functional.{name}.default" in kernel for kernel in called), called


def test_shards_of_fsdp(tmp_path: Path) -> None:
    done = inspected([PROGRAM, "sharded"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    _compiled(tmp_path / "dump" / "target_sm_90")
    kinds = [graph.kind for graph in Dump(tmp_path / "dump" / "target_sm_90").outermost()]
    assert kinds.count("forward") == kinds.count("backward") > 0


@pytest.mark.skipif(not RECENT, reason="Dynamo of 2.11 puts functions of its own into graphs with DTensors")
def test_distributed_tensors_on_a_mesh_of_two_dimensions(tmp_path: Path) -> None:
    done = inspected([PROGRAM, "tensors"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    called = _compiled(tmp_path / "dump" / "target_sm_90")
    assert any("_c10d_functional.all_reduce_.default" in kernel for kernel in called), called


def test_two_real_ranks(tmp_path: Path) -> None:
    """DistributedDataParallel: Gloo stands in for NCCL, and each rank has its own part."""
    ranks = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(PROGRAM), "parallel"]
    done = run([*COMMAND, "run", "--no-tui", "--target", "sm_90", "--dump", "dump", "--", *ranks], tmp_path)

    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        assert _compiled(tmp_path / "dump" / f"rank_{rank}" / "target_sm_90")
