"""Which operators torch keeps whole for a GPU and takes apart for the CPU, by its own tables: all of them are known."""

from pathlib import Path

import pytest
import torch

from inspect_compile.lowering.intervention.cross_compile.composites import COMPOSITES
from inspect_compile.lowering.intervention.cross_compile.native_functions import keys_of_kernels
from tests.running import plain

APART = "CompositeImplicitAutograd"


def test_an_operator_whose_kernel_only_a_gpu_has_is_kept_whole() -> None:
    """torch's list has one; `rms_norm` calls it on a GPU. Were there another, its name would be lost in kernels."""
    keys = keys_of_kernels()
    assert len(keys) > 2000
    assert keys["aten::mm.dtype"] >= {"CUDA"}
    assert {"CPU", "CUDA"} <= keys["aten::mm"]

    found = {name for name, has in keys.items() if APART in has and "CUDA" in has and "CPU" not in has}

    assert found == {"aten::_fused_rms_norm"}
    assert torch.ops.aten.rms_norm.default in COMPOSITES


@pytest.mark.targets
@pytest.mark.skipif(torch.version.cuda is not None, reason="a build for CUDA asks its libraries, which want the GPU")
def test_all_operators_call_what_they_call_on_a_gpu(tmp_path: Path) -> None:
    """A search in torch's own table. A build for the CPU has no kernel of rms_norm's: its trace for a GPU is wrong."""
    done = plain([Path(__file__).parent / "programs" / "taken_apart.py"], tmp_path)

    assert done.returncode == 0, done.stderr
    *lines, tried = done.stdout.splitlines()
    assert int(tried.removeprefix("tried ")) > 1500
    assert not [line for line in lines if not line.startswith("nn.functional.rms_norm:")]
