"""Scheduler nodes before and after fusion."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Access(msgspec.Struct, frozen=True, gc=False):
    """One read or write of a buffer."""

    buffer: str
    """Its name."""
    index: str | None = None
    """The index expression over `ranges`.

    None for an access to the whole buffer (extern kernels) or one that only keeps the order (weak).
    """
    ranges: tuple[str, ...] = ()
    """The lengths of the variables in `index`, `c0=10`."""
    kind: str = "memory"
    """`memory`, `star` (the whole buffer), `weak` (only the order)."""
    bytes: Int64 | None = None
    """Bytes that it touches, symbols at their hints; None where the size has no hint, as it is found when the program
    runs.
    """
    into: str | None = None
    """Of a write in place: the input or the older buffer whose memory it goes to; else None."""
    item: Int64 | None = None
    """Size of one element in bytes."""
    whole: Int64 | None = None
    """Size of the whole buffer in bytes, with symbols at their hints."""
    places: str = ""
    """Of an index that holds loaded values, `c1 + 64*tmp0`: a digest of how they are computed, from what at which
    places; accesses of one graph that agree in it, in `index` up to the numbers of the values, and in `ranges` reach
    the same elements. Empty where it is not known, as of several scheduler nodes in one.
    """


class Operation(Fact, frozen=True, kw_only=True, tag="operation"):
    """One scheduler node, before or after fusion."""

    table: ClassVar[str] = "schedule"

    phase: str
    """`pre_fusion`, `post_fusion`."""
    order: Int64
    """Position at that moment."""
    name: str
    """torch's; a fused node is named after all its operations, `op9_op10`."""
    kind: str
    """`pointwise`, `reduction`, `extern`, `template`, `nop`, `foreach`, `fused`, `grouped`, `other`."""
    node_type: str
    """The scheduler's class, such as `SchedulerNode`."""
    ir_type: str = ""
    """Class of its IR."""
    device: str = ""
    """Where it runs."""
    members: tuple[str, ...] = ()
    """For a fused node the operations in it, in order; else its own name."""
    buffers: tuple[str, ...] = ()
    """What it writes."""
    numel: str = ""
    """Elements that it iterates over, as a text; empty without loops."""
    rnumel: str = ""
    """Elements that it reduces over, likewise."""
    reads: tuple[Access, ...] = ()
    """What it reads."""
    writes: tuple[Access, ...] = ()
    """What it writes."""
    users: tuple[str, ...] = ()
    """Operations that read what it writes; `OUTPUT` for an output of the graph."""
    predecessors: tuple[str, ...] = ()
    """Operations that must run right before it can."""
    last_usage: tuple[str, ...] = ()
    """Buffers that nobody reads after it."""
    nodes: tuple[str, ...] = ()
    """FX origins, in the graph's order."""
    extern_kernel: str | None = None
    """The function that an extern kernel calls."""


class Counted(Fact, frozen=True, kw_only=True, tag="counted"):
    """A fusion that was done while fusions were counted, by `bisect-fusions` or `replay --deny`."""

    table: ClassVar[str] = "steered"
    per_graph: ClassVar[bool] = False

    number: Int64
    """Counted from 1, over all graphs of the process in the order of their compiles, or over the one that was asked
    for.
    """
    a: str
    """One of the pair, as named in its round."""
    b: str
    """The other one."""
    into: str
    """The node that came out of it."""
