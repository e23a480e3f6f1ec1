"""On a machine with a CUDA device: Triton kernels, their sources and launches are in the dump."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Hook, Kernel
from tests.conftest import SAMPLES

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def _recorded(sample: str, folder: Path) -> Dump:
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(folder / "dump")]
    script = [str(SAMPLES / f"{sample}.py"), "--device", "cuda"]
    subprocess.run([*command, *script], check=True, timeout=300)
    return open_dump(folder / "dump")


@pytest.mark.parametrize("sample", ["softmax_mlp", "user_triton_kernel"])
def test_triton_kernels(sample: str, tmp_path: Path) -> None:
    dump = _recorded(sample, tmp_path)

    (graph,) = (graph.graph for graph in dump.graphs())
    code = (dump.text(graph, "output_code.py") or "").splitlines()
    triton = [kernel for kernel in dump.rows(Kernel, graph) if kernel.kind in ("triton", "user_triton")]
    assert triton
    for kernel in triton:
        assert kernel.device == "cuda:0"
        assert kernel.launches
        assert all(f"{kernel.name}.run(" in code[line - 1] for line in kernel.launches)
        assert "@triton.jit" in (dump.text(graph, kernel.source) or "")
    assert {hook.state for hook in dump.rows(Hook)} == {"closed"}


def test_a_kernel_of_the_users_is_told_apart(tmp_path: Path) -> None:
    dump = _recorded("user_triton_kernel", tmp_path)

    own = [kernel for kernel in dump.rows(Kernel) if kernel.kind == "user_triton"]
    assert [kernel.name for kernel in own] == ["blend_kernel_0"]
    assert own[0].nodes == ("triton_kernel_wrapper_mutation",)
    assert own[0].operations
