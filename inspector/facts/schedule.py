"""Scheduler nodes before and after fusion."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Access(msgspec.Struct, frozen=True, gc=False):
    """One read or write of a buffer."""

    buffer: str
    index: str | None = None
    """The index expression over `ranges`.

    None for an access to the whole buffer (extern kernels) or one that only keeps the order (weak).
    """
    ranges: tuple[str, ...] = ()
    kind: str = "memory"
    """memory, star (whole buffer), weak (order only)."""
    bytes: Int64 | None = None
    into: str | None = None
    """For a write in place: the input or older buffer whose memory it goes to."""
    item: Int64 | None = None
    """Size of one element in bytes."""
    whole: Int64 | None = None
    """Size of the whole buffer in bytes, with symbols at their hints."""
    places: str = ""
    """Of an index that holds loaded values, `c1 + 64*tmp0`: a digest of how they are computed, from what at which
    places. Accesses of one graph that agree in it, in `ranges`, and in `index` up to the numbers of its values reach
    the same elements. Empty where it is not known, as of several scheduler nodes in one."""


class Operation(Fact, frozen=True, kw_only=True, tag="operation"):
    """One scheduler node, before or after fusion."""

    table: ClassVar[str] = "schedule"

    phase: str
    """pre_fusion or post_fusion."""
    order: Int64
    name: str
    kind: str
    """pointwise, reduction, extern, template, nop, foreach, fused, grouped, other."""
    node_type: str
    """The scheduler's class, such as `SchedulerNode`."""
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
    """Operations that read what it writes; OUTPUT for an output of the graph."""
    predecessors: tuple[str, ...] = ()
    """Operations that must run before it."""
    last_usage: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    """Its FX origins, in graph order."""
    extern_kernel: str | None = None


class Counted(Fact, frozen=True, kw_only=True, tag="counted"):
    """A fusion that was done while fusions were counted, by `bisect-fusions` or `replay --deny`."""

    table: ClassVar[str] = "steered"
    per_graph: ClassVar[bool] = False

    number: Int64
    """Number from 1, over all graphs of the process in compile order, or within the selected graph."""
    a: str
    b: str
    into: str
    """The resulting scheduler node."""
