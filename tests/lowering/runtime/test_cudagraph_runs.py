"""Why a function is recorded again, as torch says it: no device is needed for the words."""

from collections.abc import Callable
from typing import Any

import torch
from torch._inductor.cudagraph_utils import CheckInvariantStatus, PlaceholderInfo, log_data_ptr_mismatch

from inspect_compile.lowering.runtime.cudagraph_runs import _unfit, _words

DECIDES = """
def _run(recorded, status, status_logger):
    return recorded()

def run(recorded):
    return recorded()
"""


def in_the_trees() -> dict[str, Callable[..., Any]]:
    """Functions that stand where torch's trees do."""
    found: dict[str, Any] = {}
    exec(compile(DECIDES, "torch/_inductor/cudagraph_trees.py", "exec"), found)
    return found


def test_the_status_stands_in_the_frame_that_decides() -> None:
    trees = in_the_trees()

    assert trees["_run"](_unfit, "changed", print) == ("changed", print)
    assert trees["_run"](lambda: trees["_run"](_unfit, None, None), "changed", print) is None
    assert trees["run"](_unfit) is None
    assert _unfit() is None


def test_torchs_words_name_inputs_and_the_line() -> None:
    stack = '  File "/home/user/net.py", line 7, in forward\n    return x @ self.weight'
    placeholders = [
        PlaceholderInfo(name, stack if name == "primals_2" else None, [], None)
        for name in ("primals_1", "primals_2", "primals_3")
    ]
    inputs = [torch.ones(2) for _ in placeholders]
    recorded = [inputs[0].data_ptr(), 1, 2]
    status = CheckInvariantStatus.StaticInputIdxMismatch

    def words() -> str:
        return log_data_ptr_mismatch(placeholders, list(inputs), recorded, [0, 1, 2], status)

    assert _words(status, words) == (
        "static input data pointer changed",
        ("primals_2", "primals_3"),
        "/home/user/net.py:7",
    )
    assert _words(CheckInvariantStatus.ExpectedDeadIndicesBeforeGraphMismatch, lambda: "no inputs") == (
        "expected dead indices before graph are live",
        (),
        None,
    )
