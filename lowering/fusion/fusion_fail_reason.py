"""torch's explanation why two nodes with a common buffer share no data."""

from typing import Any, Final

from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import inductor as names

MOST_BUFFERS: Final = 8
"""Maximum number of common buffers that are examined."""


def fail_reason(scheduler: Any, a: Any, b: Any) -> str:
    """The result of `decide_fusion_fail_reason` for two scheduler nodes; empty if there is none, or it fails."""
    try:
        touched = [{dependency.name for dependency in node.read_writes.reads_and_writes()} for node in (a, b)]
        common = sorted(touched[0] & touched[1])[:MOST_BUFFERS]
        decide = getattr(scheduler, names.FAIL_REASON.attribute.rpartition(".")[2])
        return str(decide(a, b, tuple(common))) if common else ""
    except Exception as error:
        let_pass(error)
        return ""  # a buffer without loops or strides, which torch does not handle
