"""torch's own words for why two nodes with a buffer in common share no data."""

from typing import Any, Final

from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import inductor as names

MOST_BUFFERS: Final = 8
"""In common, that are looked at."""


def fail_reason(scheduler: Any, a: Any, b: Any) -> str:
    """What `decide_fusion_fail_reason` says of two scheduler nodes; empty where it has nothing to say, or fails."""
    try:
        touched = [{dependency.name for dependency in node.read_writes.reads_and_writes()} for node in (a, b)]
        common = sorted(touched[0] & touched[1])[:MOST_BUFFERS]
        decide = getattr(scheduler, names.FAIL_REASON.attribute.rpartition(".")[2])
        return str(decide(a, b, tuple(common))) if common else ""
    except Exception as error:
        let_pass(error)
        return ""  # a buffer without loops or strides, which torch did not think of
