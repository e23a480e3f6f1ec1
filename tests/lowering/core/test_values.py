"""Plain values from what the compiler notes."""

import pytest
import torch

from inspect_compile.facts import Location
from inspect_compile.knowledge.frontend.break_text import split_reason
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.fx_nodes import NodeReader

TRACE = """  File "app.py", line 12, in forward
    y = self.up(x)
        ^^^^^^^^^^
  File "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
"""


def test_the_users_line_is_the_innermost_that_is_not_torchs() -> None:
    frames = values.locations(TRACE)

    assert [frame.line for frame in frames] == [12, 125]
    assert values.user_line(frames) == Location("app.py", 12, "forward", "y = self.up(x)")


def test_no_trace_is_no_location() -> None:
    assert values.locations("") == ()
    assert values.user_line(()) is None


def test_a_tensor_as_plain_values() -> None:
    fact = values.tensor(torch.empty(3, 4, dtype=torch.bfloat16).t())

    assert (fact.dtype, fact.size, fact.stride, fact.device, fact.bytes) == ("bfloat16", (4, 3), (1, 4), "cpu", 24)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("L['self'].conv", "conv"),
        ("L['self'].layers[0].attention", "layers.0.attention"),
        ("L['self']._modules['up']", "up"),
        ("L['self']", ""),
    ],
)
def test_module_paths_read_as_the_user_wrote_them(path: str, plain: str) -> None:
    meta = {"nn_module_stack": {"1": ("L['self']", torch.nn.Module), "2": (path, torch.nn.Linear)}}

    assert NodeReader().module(meta) == (plain, "Linear")


def test_a_break_message_in_its_parts() -> None:
    text = "A call\n  Explanation: Dynamo\n  cannot.\n  Hint: One.\n  Hint: Two.\n\n  Developer debug context: x"

    assert split_reason(text) == ("A call", "Dynamo cannot.", ("One.", "Two."))
