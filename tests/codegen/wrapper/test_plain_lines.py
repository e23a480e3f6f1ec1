"""Lines of a wrapper that are plain text, by their form."""

from typing import Any

import pytest

from inspect_compile.codegen.wrapper.plain_lines import tell_plain


class _Wrapper:
    """Nobody wrote its lines."""


def _told(text: str) -> str:
    rows: list[dict[str, Any]] = [{"torch_type": "str", "what": "text", "kernel": None, "text": text}]
    assert tell_plain(_Wrapper(), rows) == []
    return str(rows[0]["what"])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "none"),
        ("# buffer buf3 (op: torch.ops.aten.mul.Tensor) is assumed to be not aligned", "comment"),
        ("assert_alignment(buf9, 16, 'torch.ops.aten.sort.default')", "assert"),
        ("arg0_1 = copy_if_misaligned(arg0_1)", "align"),
        ("ps0 = 10*s77", "host"),
        ("raw_stream0 = get_raw_stream(0)", "host"),
        ("workspace_0.zero_()", "text"),
        ("partition0_args = [arg0_1, buf2]", "text"),
        ("(buf3, ) = self.partitions[0](partition0_args)", "text"),
        ("del partition0_args", "text"),
        ("buf6.copy_(arg0_1, False)", "other"),
        ("buf6 = some_kernel(buf5)", "other"),
    ],
)
def test_lines_that_no_operation_wrote(text: str, what: str) -> None:
    assert _told(text) == what
