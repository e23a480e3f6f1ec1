"""What a rule can be about: each figure of a contract, where it stands, and how several of them are one number."""

from typing import Final, Literal, NamedTuple


class Metric(NamedTuple):
    """One figure."""

    name: str
    what: str
    """In words, for one of them: `graph break`."""
    of: Literal["run", "frame", "graph", "machine"]
    is_largest: bool = False
    """Of several graphs the largest counts; else their sum."""
    unit: Literal["", "bytes", "FLOP"] = ""
    field: str = ""
    """Name of the field, if it is another one."""


METRICS: Final[dict[str, Metric]] = {
    one.name: one
    for one in (
        Metric("graph_breaks", "graph break", "frame"),
        Metric("recompiles", "recompile", "frame"),
        Metric("frames", "frame", "run"),
        Metric("status", "status", "frame"),
        Metric("graphs", "graph", "run"),
        Metric("fallback", "fallback", "graph", field="fallbacks"),
        Metric("cudagraphs", "CUDA graph", "graph"),
        Metric("missed", "missed fusion", "graph"),
        Metric("fused", "fused loop", "graph"),
        Metric("kernels", "generated kernel", "graph"),
        Metric("extern", "library call", "graph"),
        Metric("launches", "launch", "graph"),
        Metric("dtypes", "result of a dtype", "graph"),
        Metric("flops", "FLOP", "graph", unit="FLOP"),
        Metric("bytes", "byte moved", "graph", unit="bytes"),
        Metric("peak", "peak memory", "graph", is_largest=True, unit="bytes"),
        Metric("guards", "guard", "frame"),
        Metric("spills", "spilled byte", "machine"),
        Metric("registers", "register", "machine", is_largest=True),
        Metric("choices", "chosen configuration", "machine"),
        Metric("sources", "kernel source", "machine"),
    )
}
"""By name, in the order in which differences are told: causes before what follows from them."""

KINDS: Final = ("forward", "backward", "inference")
"""Kinds of graph that a rule can be limited to."""
FORBIDDABLE: Final = (
    "fallback",
    "extern",
    "kernels",
    "dtypes",
    "missed",
    "fused",
    "graph_breaks",
    "recompiles",
    "guards",
)
"""What `no …` can be about."""
