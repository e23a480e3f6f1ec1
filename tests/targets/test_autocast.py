"""The lists of what autocast casts on a GPU are torch's own."""

import json
import re
from pathlib import Path

import pytest
import torch

from inspect_compile.lowering.intervention.cross_compile import autocast
from tests.running import plain

HEADER = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
POLICIES = {
    "LOWER_PRECISION_FP": autocast.LOWER,
    "FP32": autocast.SINGLE,
    "FP32_SET_OPT_DTYPE": autocast.SINGLE_RESULT,
    "PROMOTE": autocast.WIDEST,
}


@pytest.mark.parametrize("policy", POLICIES)
def test_lists(policy: str) -> None:
    text = HEADER.read_text()
    (macro,) = re.findall(rf"#define AT_FORALL_{policy}\(_\)(.*?)\n\n", text, re.DOTALL)
    listed = {".".join(re.split(r",\s*", entry)) for entry in re.findall(r"_\(([\w, ]+)\)", macro)}

    assert listed == POLICIES[policy]


def test_every_operator_that_is_cast_is_listed() -> None:
    names = {name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}
    cast = {name for name in names if torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "AutocastCUDA")}
    listed = set(autocast.NORMS).union(*POLICIES.values())

    assert listed <= cast
    assert cast - listed <= {"binary_cross_entropy", "linalg_matrix_sqrth", *(name for name in cast if "cudnn" in name)}


def test_arguments_are_cast_in_the_order_of_torchs_own(tmp_path: Path) -> None:
    """For each device the same C++ does: what the CPU's casts, too, tells the order."""
    program = Path(__file__).parent / "programs" / "casts.py"

    own, ours = (json.loads(plain([program, device], tmp_path).stdout) for device in ("cpu", "gpu"))

    assert own["conv"] == ["arg2_1", "arg1_1", "arg0_1"]
    assert ours == own
