"""From an FX node to Inductor's IR."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Lowering(Fact, frozen=True, kw_only=True, tag="lowering"):
    """The lowering of one FX node to IR."""

    table: ClassVar[str] = "lowering"

    index: Int64
    """Position among the graph's lowerings."""
    node: str
    """The FX node."""
    op: str
    """Its `op`."""
    target: str
    """Its `target`."""
    way: str
    """`placeholder`, `constant`, `lowering`, `fallback`, `decomposition`, `view`, `pattern`, `getitem`, `subgraph`,
    `output`, `dead`, `failed`.
    """
    via: str = ""
    """The function that lowered it, and its place: `convolution torch/_inductor/kernel/conv.py:449`."""
    constraint: str | None = None
    """The layout constraint that was applied to its arguments first."""
    arguments: tuple[str, ...] = ()
    """Positional arguments, then `name=value`; another node's IR stands as `%name`."""
    result: str = ""
    """The IR that came out, as torch printed it at that moment; buffers of earlier rows, and inputs of an extern kernel
    that a `realize` row tells, stand in it with name and layout only; the user's stacks and an operator's schema are
    left out; of the output node what the outputs are once they are real.
    """
    same_as: str | None = None
    """The node whose result it passes on unchanged; `result` is then empty."""
    buffers: tuple[str, ...] = ()
    """Buffers that were made meanwhile."""
    operations: tuple[str, ...] = ()
    """Operations that were made meanwhile."""
    flops: Int64 = 0
    """Its floating-point operations (docs/flops.md)."""
    flops_kind: str = ""
    """`matmul`, `convolution`, `attention`, `pointwise`, `reduction`, `none` (views, copies, inputs), `size` (numbers
    on the host), `other` or `unknown` (docs/flops.md).
    """
    special: Int64 = 0
    """Those of `flops` that are transcendental functions."""
    flops_text: str = ""
    """`flops` as an expression, `2048*s77`; empty where no size is symbolic."""
    seconds: float = 0.0
    """Seconds that it took, nested graphs included."""
    error: str | None = None
    """The exception that ended it."""


class Realize(Fact, frozen=True, kw_only=True, tag="realize"):
    """A request to realize a value, that is, to give it a buffer."""

    table: ClassVar[str] = "realize"

    index: Int64
    """The `lowering` row that was being made."""
    node: str | None
    """The node that was being lowered."""
    buffer: str | None
    """The buffer that it became or was already."""
    realized: bool
    """False: it was in a buffer already, and nothing happened."""
    reason: str
    """In plain words with torch's numbers; where we don't know them, the name of who asked."""
    caller: str
    """Who asked, as function file:line; functions that only forward a request are left out."""
    through: str = ""
    """The innermost function that only passed the ask on: `ExternKernel.copy_input` copies for who asked."""
    origin: str | None = None
    """The FX node whose value it is."""
    ir: str = ""
    """What it had been: `Pointwise`, `Reduction`, …"""
    text: str = ""
    """The buffer as torch printed it when it had become real."""
    numbers: dict[str, Int64] = {}
    """What torch weighed where the lowering of the node itself asked: `users`, `reads` (buffers), `operations`; the
    limits `reads_limit` (of a value that several use), `gathered_limit` (reads of any value), `operations_limit`.
    """
