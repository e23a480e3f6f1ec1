"""Scheduler nodes before and after fusion."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Access(msgspec.Struct, frozen=True, gc=False):
    """One read or write of a buffer."""

    buffer: str
    index: str | None = None
    """The index expression over `ranges`.

    None where the whole buffer counts (extern kernels) or only the order does (weak).
    """
    ranges: tuple[str, ...] = ()
    kind: str = "memory"
    """memory, star (whole buffer), weak (order only)."""
    bytes: Int64 | None = None
    into: str | None = None
    """Of a write in place: the input or the older buffer whose memory it goes to."""
    item: Int64 | None = None
    """Bytes of one element."""
    whole: Int64 | None = None
    """Bytes of all the buffer, symbols at their hints."""
    places: str = ""
    """Of an index that holds loaded values, `c1 + 64*tmp0`: a digest of how they are computed, from what at which
    places. Accesses of one graph that agree in it, in `ranges`, and in `index` up to the numbers of its values reach
    the same elements. Empty where it is not known, as of several scheduler nodes in one."""


class Operation(Fact, frozen=True, kw_only=True, tag="operation"):
    """One scheduler node at one moment."""

    table: ClassVar[str] = "schedule"

    phase: str
    """pre_fusion or post_fusion."""
    order: Int64
    name: str
    kind: str
    """pointwise, reduction, extern, template, nop, foreach, fused, grouped, other."""
    node_type: str
    """The scheduler's class, `SchedulerNode`."""
    ir_type: str = ""
    device: str = ""
    members: tuple[str, ...] = ()
    """For a fused node the operations in it, in order; else its own name."""
    buffers: tuple[str, ...] = ()
    numel: str = ""
    rnumel: str = ""
    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    users: tuple[str, ...] = ()
    """Operations that read what it writes; OUTPUT for a graph output."""
    predecessors: tuple[str, ...] = ()
    """Operations that must run before it."""
    last_usage: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    """Its FX origins, in the graph's order."""
    extern_kernel: str | None = None


class Counted(Fact, frozen=True, kw_only=True, tag="counted"):
    """A fusion that was done while fusions were counted: `bisect-fusions` and `replay --deny` have them counted."""

    table: ClassVar[str] = "steered"
    per_graph: ClassVar[bool] = False

    number: Int64
    """Counted from 1 over all graphs of the process, in the order of their compiles, or over the one that is asked for.
    """
    a: str
    b: str
    into: str
    """The scheduler node that came out of it."""
