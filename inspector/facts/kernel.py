"""Kernels, and the wrapper code that allocates and launches."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Kernel(Fact, frozen=True, kw_only=True, tag="kernel"):
    """One kernel that the generated code calls: defined in it, or extern."""

    table: ClassVar[str] = "kernels"

    name: str
    kind: str
    """triton, cpp, extern, template, user_triton, other."""
    form: str = ""
    """pointwise, reduction, persistent reduction, cooperative reduction, mix-order reduction, split scan, template,
    combo, foreach, user-written, extern, C++; empty where that is not known."""
    device: str = ""
    operations: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """The scheduler nodes after fusion that it holds, one or more."""
    nodes: tuple[str, ...] = ()
    """FX origins, in the graph's order."""
    computes: tuple[str, ...] = ()
    """Those of them that own an operation of its loops which is more than a load, a store, a constant or an index."""
    lines: tuple[Location, ...] = ()
    """The user's lines, each once, in the order of the nodes."""
    source: str = ""
    """Path in the dump, relative to the graph's folder; empty for extern kernels."""
    path: str = ""
    """The file that torch keeps the source in, where it has one."""
    defined_at: Int64 | None = None
    """Line in output_code.py where the definition starts."""
    defined_to: Int64 | None = None
    launches: tuple[Int64, ...] = ()
    """Lines in output_code.py that call it."""
    metadata: str = ""
    numel: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class StatementNodes(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One line of a kernel's source."""

    line: Int64
    operator: Int64
    """What torch's loop body does there: position in `KernelBody.operators`."""
    nodes: tuple[Int64, ...]
    """The FX nodes that it is of: positions in `KernelBody.nodes`; several where they compute the same."""


class OperationCount(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Operations that a kernel does for one FX node."""

    operator: Int64
    """Position in `KernelBody.operators`; of a reduction with its kind, `reduction.sum`."""
    node: Int64
    """Position in `KernelBody.nodes`."""
    domain: Int64
    """What it is done for each element of: position in `KernelBody.domains`."""
    count: Int64
    """How many of these operations, for each element."""


class KernelBody(Fact, frozen=True, kw_only=True, tag="kernel_body"):
    """Of which FX nodes each statement of a kernel is.

    A kernel that torch defines once for several groups of the same source has a row for each.
    """

    table: ClassVar[str] = "statements"

    kernel: str
    operations: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    """In the graph's order."""
    loops: tuple[tuple[Int64, ...], ...] = ()
    """Of each node the loops, by number, of which it owns an operation that computes here.

    One that is in two kernels is computed in both; one node's loops in several kernels are stages of a computation.
    """
    operators: tuple[str, ...] = ()
    """`add`, `reduction`; `template` for what a template says itself, or a function that it was given."""
    statements: tuple[StatementNodes, ...] = ()
    unmapped: tuple[Int64, ...] = ()
    """Lines that compute or store something of which no node is known."""
    computed: tuple[OperationCount, ...] = ()
    """What it computes, after common subexpressions were eliminated; moves and casts are left out."""
    domains: tuple[str, ...] = ()
    """Numbers of elements, `32*s77`."""
    elements: tuple[Int64 | None, ...] = ()
    """The same at the hints of their symbols; None where one has none."""
    dtype: str = ""
    """The widest floating type that it computes in."""


class Stage(msgspec.Struct, frozen=True, gc=False):
    """One form that Triton gave a kernel on its way to machine code."""

    name: str
    """Triton's: ttir, ttgir, llir, then ptx and cubin, or amdgcn and hsaco."""
    path: str
    """Relative to the graph's folder; empty where it could not be had."""
    bytes: Int64


class Binary(Fact, frozen=True, kw_only=True, tag="binary"):
    """One configuration of a Triton kernel, compiled to machine code."""

    table: ClassVar[str] = "binaries"

    kernel: str
    label: str
    """The configuration as one word, `XBLOCK8-w4-s1`: the name of its folder among those of the kernel."""
    config: dict[str, Int64 | str] = {}
    """Block sizes and whatever else the kernel's source is compiled with."""
    num_warps: Int64 | None = None
    """Of a block; with 64 threads each on AMD GPUs."""
    num_stages: Int64 | None = None
    """Of the software pipeline."""
    num_ctas: Int64 | None = None
    """Blocks of a cluster."""
    target: str = ""
    """`sm_90`, `gfx942`."""
    is_remembered: bool = False
    """Torch timed several configurations in an earlier run, and this one was the fastest."""
    stages: tuple[Stage, ...] = ()
    registers: Int64 | None = None
    """32-bit registers of a thread; on AMD GPUs vector registers."""
    allocated_registers: Int64 | None = None
    """What a thread is given of them, where that is more than it uses: Triton's waves_per_eu asks for it."""
    scalar_registers: Int64 | None = None
    """Of a wavefront; None on GPUs that have none of their own."""
    spills: Int64 | None = None
    """Bytes of memory of a thread that stand in for registers: its stack frame."""
    shared: Int64 | None = None
    """Bytes of shared memory that a block asks for."""
    seconds: float | None = None
    """It took to compile, or to read from Triton's cache; None where a worker process of torch did."""
    left_out: str = ""
    """Why there are no stages."""


class WrapperLine(Fact, frozen=True, kw_only=True, tag="wrapper_line"):
    """One line of Inductor's Wrapper IR, after memory planning."""

    table: ClassVar[str] = "wrapper"

    index: Int64
    what: str
    """What the line does.

    allocate, reuse, free, launch, extern, multi_output, reinterpret, pool_allocate, pool_free, enter_subgraph,
    exit_subgraph, define, assert, comment (also the block in which C++ code profiles a kernel), align
    (copies an input if its address is not aligned), device (chooses a device or stream), host (computes a number, such
    as a size, on the host), text (calls a nested graph, or belongs to a call above), none, other (of no kind that is
    known).
    """
    line: Int64 | None = None
    """First line in output_code.py; None where it writes none."""
    end: Int64 | None = None
    buffer: str | None = None
    becomes: str | None = None
    bytes: Int64 | None = None
    kernel: str | None = None
    arguments: tuple[str, ...] = ()
    is_reused: bool | None = None
    delete_old: bool | None = None
    is_planned: bool = False
    """Of a reuse: memory planning made it of an allocation; the others write in place."""
    aliases: tuple[str, ...] = ()
    """Of an extern call the inputs whose memory its result is a view of."""
    parts: dict[str, Int64] = {}
    """Of one that returns several tensors: each with its bytes, also those that nothing reads."""
    pool: str = ""
    """The pool that the buffer's memory is in (`memory_planning`)."""
    pool_bytes: Int64 | None = None
    """Of the line that allocates the pool."""
    is_last: bool = False
    """Of the line that frees the pool, with all that is in it."""
    device: str = ""
    text: str = ""
    """Of plain text the line, of multi_output what is taken out of which: `buf2[1]`."""
    torch_type: str = ""
    """The Wrapper IR class, `AllocateLine`."""


class MemoryPlan(Fact, frozen=True, kw_only=True, tag="memory_plan"):
    """What the wrapper is given and returns, and what Inductor itself thought it would hold."""

    table: ClassVar[str] = "wrapper"

    inputs: dict[str, Int64] = {}
    """Bytes of what comes in, in order; 0 for numbers."""
    donated: tuple[str, ...] = ()
    """Inputs of a backward graph that nobody else holds, as torch found: their memory may be written to."""
    frees_tangents: bool = False
    """Of a backward graph: torch hands over the gradients that come in, so that the code frees them (torch 2.13 on)."""
    outputs: tuple[str, ...] = ()
    """The buffers and inputs that are returned, in order; empty for numbers and for nothing."""
    estimate: Int64 | None = None
    """Inductor's estimate of the peak, inputs that can be freed included; None where it makes none."""
