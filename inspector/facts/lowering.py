"""From an FX node to Inductor's IR."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Lowering(Fact, frozen=True, kw_only=True, tag="lowering"):
    """The lowering of one FX node to IR."""

    table: ClassVar[str] = "lowering"

    index: Int64
    node: str
    op: str
    target: str
    way: str
    """placeholder, constant, lowering, fallback, decomposition, view, pattern, getitem, subgraph, output or dead."""
    via: str = ""
    """The function that lowered it, `convolution torch/_inductor/kernel/conv.py:420`."""
    constraint: str | None = None
    """The layout constraint that was first applied to its arguments."""
    arguments: tuple[str, ...] = ()
    """args and kwargs; IR of another node is written as `%name`."""
    result: str = ""
    """The resulting IR as torch prints it, at that time."""
    same_as: str | None = None
    """The node whose result it passes on unchanged; `result` is then empty."""
    buffers: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    flops: Int64 = 0
    flops_kind: str = ""
    """matmul, convolution, attention, pointwise, reduction, none (views, copies, inputs), size (numbers on the host),
    other or unknown.

    See docs/flops.md.
    """
    special: Int64 = 0
    """The part of `flops` that is transcendental functions."""
    flops_text: str = ""
    """`flops` as an expression, `2048*s77`; empty if no size is symbolic."""
    seconds: float = 0.0
    error: str | None = None


class Realize(Fact, frozen=True, kw_only=True, tag="realize"):
    """A request to realize a value, that is, to give it a buffer."""

    table: ClassVar[str] = "realize"

    index: Int64
    """Index of the lowering row that was being made."""
    node: str | None
    """The FX node that was being lowered."""
    buffer: str | None
    """The buffer that it got, or already had."""
    realized: bool
    """False if it was already realized, and nothing happened."""
    reason: str
    """In plain words if the place is known, else the name of the caller."""
    caller: str
    """Who asked, as function file:line; functions that only forward a request are left out."""
    through: str = ""
    """The innermost forwarding function: `ExternKernel.copy_input torch/_inductor/ir.py:6860`."""
    origin: str | None = None
    """The FX node whose value it is."""
    ir: str = ""
    """What it was before: Pointwise, Reduction, …"""
    text: str = ""
    """The buffer as torch prints it, after it was realized."""
    numbers: dict[str, Int64] = {}
    """What torch weighed, if it did: users, reads and operations of the value, and the limit of each."""
