"""From an FX node to Inductor's IR."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Lowering(Fact, frozen=True, kw_only=True, tag="lowering"):
    """One FX node became IR."""

    table: ClassVar[str] = "lowering"

    index: Int64
    node: str
    op: str
    target: str
    way: str
    """placeholder, constant, lowering, fallback, decomposition, view, pattern, getitem, subgraph, output, dead."""
    via: str = ""
    """The function that lowered it, `convolution torch/_inductor/kernel/conv.py:420`."""
    constraint: str | None = None
    """The layout constraint that was applied to its arguments first."""
    arguments: tuple[str, ...] = ()
    """args and kwargs; another node's IR stands as `%name`."""
    result: str = ""
    """The resulting IR as torch prints it, at that moment."""
    same_as: str | None = None
    """The node whose result this one passes on unchanged; `result` is then empty."""
    buffers: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    flops: Int64 = 0
    flops_kind: str = ""
    """matmul, convolution, attention, pointwise, reduction, none (views, copies, inputs), size (numbers of the host),
    other or unknown.

    See docs/flops.md.
    """
    special: Int64 = 0
    """Those of `flops` that are transcendental functions."""
    flops_text: str = ""
    """`flops` as an expression, `2048*s77`; empty where no size is symbolic."""
    seconds: float = 0.0
    error: str | None = None


class Realize(Fact, frozen=True, kw_only=True, tag="realize"):
    """A value was asked to become a buffer."""

    table: ClassVar[str] = "realize"

    index: Int64
    """Position among the lowering rows: the row that was being made."""
    node: str | None
    """The FX node that was being lowered."""
    buffer: str | None
    """The buffer that it became, or that it already was."""
    realized: bool
    """False: it was real already, and nothing happened."""
    reason: str
    """In plain words where we know the place, else the name of who asked."""
    caller: str
    """Who asked, function file:line; functions that only pass an ask on are left out."""
    through: str = ""
    """The innermost of those, function file:line: `ExternKernel.copy_input torch/_inductor/ir.py:6860`."""
    origin: str | None = None
    """The FX node whose value it is."""
    ir: str = ""
    """What it had been: Pointwise, Reduction, …"""
    text: str = ""
    """The buffer as torch prints it, after it became real."""
    numbers: dict[str, Int64] = {}
    """What torch weighed, where it did: users, reads and operations of the value, and the limits of each."""
