"""Kernels, and the wrapper code that allocates buffers and launches kernels."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Kernel(Fact, frozen=True, kw_only=True, tag="kernel"):
    """One kernel that the generated code calls: generated itself, or extern."""

    table: ClassVar[str] = "kernels"

    name: str
    kind: str
    """triton, cpp, extern, template, user_triton or other."""
    form: str = ""
    """pointwise, reduction, persistent reduction, cooperative reduction, mix-order reduction, split scan, template,
    combo, foreach, user-written, extern or C++; empty if not known.
    """
    device: str = ""
    operations: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """The scheduler nodes after fusion that it computes, one or more."""
    nodes: tuple[str, ...] = ()
    """FX origins, in graph order."""
    computes: tuple[str, ...] = ()
    """The origins that own an operation in its loops other than a load, a store, a constant or an index."""
    lines: tuple[Location, ...] = ()
    """Source lines, each once, in the order of the nodes."""
    source: str = ""
    """Path of the source, relative to the graph's folder; empty for extern kernels."""
    path: str = ""
    """The source file in torch's cache, if there is one."""
    defined_at: Int64 | None = None
    """Line number of its definition in output_code.py."""
    defined_to: Int64 | None = None
    launches: tuple[Int64, ...] = ()
    """Line numbers of its calls in output_code.py."""
    metadata: str = ""
    numel: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class StatementNodes(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One line of a kernel's source."""

    line: Int64
    operator: Int64
    """The operator of torch's loop body: position in `KernelBody.operators`."""
    nodes: tuple[Int64, ...]
    """The FX nodes that it belongs to: positions in `KernelBody.nodes`; several if they compute the same."""


class OperationCount(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Number of operations of one kind that a kernel does for one FX node."""

    operator: Int64
    """Position in `KernelBody.operators`; for a reduction with its kind, `reduction.sum`."""
    node: Int64
    """Position in `KernelBody.nodes`."""
    domain: Int64
    """The elements that it is done for: position in `KernelBody.domains`."""
    count: Int64
    """Number of these operations for each element."""


class KernelBody(Fact, frozen=True, kw_only=True, tag="kernel_body"):
    """The FX nodes of each statement of a kernel.

    A kernel that is defined once for several groups with the same source has one row for each.
    """

    table: ClassVar[str] = "statements"

    kernel: str
    operations: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    """In graph order."""
    loops: tuple[tuple[Int64, ...], ...] = ()
    """For each node, the numbers of the loops of which it owns an operation computed here.

    A loop that is in two kernels is computed in both; loops of one node in several kernels are stages of one
    computation.
    """
    operators: tuple[str, ...] = ()
    """`add`, `reduction`; `template` for code of a template, or a function that was passed to it."""
    statements: tuple[StatementNodes, ...] = ()
    unmapped: tuple[Int64, ...] = ()
    """Lines that compute or store something and whose node is not known."""
    computed: tuple[OperationCount, ...] = ()
    """What it computes, after common subexpression elimination; moves and casts are left out."""
    domains: tuple[str, ...] = ()
    """Numbers of elements, as expressions: `32*s77`."""
    elements: tuple[Int64 | None, ...] = ()
    """The same at the hints of the symbols; None if one has none."""
    dtype: str = ""
    """The widest floating type that it computes in."""


class Stage(msgspec.Struct, frozen=True, gc=False):
    """One form of a kernel on Triton's way to machine code."""

    name: str
    """Triton's name: ttir, ttgir, llir, then ptx and cubin, or amdgcn and hsaco."""
    path: str
    """Relative to the graph's folder; empty if it was not available."""
    bytes: Int64


class Binary(Fact, frozen=True, kw_only=True, tag="binary"):
    """One configuration of a Triton kernel, compiled to machine code."""

    table: ClassVar[str] = "binaries"

    kernel: str
    label: str
    """The configuration in one word, `XBLOCK8-w4-s1`: the name of its folder within the kernel's."""
    config: dict[str, Int64 | str] = {}
    """Block sizes and other constants that the kernel is compiled with."""
    num_warps: Int64 | None = None
    """Warps of a block; on AMD GPUs wavefronts of 64 threads."""
    num_stages: Int64 | None = None
    """Stages of the software pipeline."""
    num_ctas: Int64 | None = None
    """Blocks of a cluster."""
    target: str = ""
    """`sm_90`, `gfx942`."""
    is_remembered: bool = False
    """Whether torch chose it in an earlier run as the fastest of several."""
    stages: tuple[Stage, ...] = ()
    registers: Int64 | None = None
    """32-bit registers per thread; on AMD GPUs vector registers."""
    allocated_registers: Int64 | None = None
    """Registers allocated per thread, if more than used: Triton's waves_per_eu causes that."""
    scalar_registers: Int64 | None = None
    """Scalar registers of a wavefront; None on GPUs that have none."""
    spills: Int64 | None = None
    """Bytes of memory per thread used in place of registers: its stack frame."""
    shared: Int64 | None = None
    """Bytes of shared memory of a block."""
    seconds: float | None = None
    """Time to compile it, or to load it from Triton's cache; None if a worker process of torch did."""
    left_out: str = ""
    """Why there are no stages; empty if there are."""


class WrapperLine(Fact, frozen=True, kw_only=True, tag="wrapper_line"):
    """One line of Inductor's Wrapper IR, after memory planning."""

    table: ClassVar[str] = "wrapper"

    index: Int64
    what: str
    """The kind of the line.

    allocate, reuse, free, launch, extern, multi_output, reinterpret, pool_allocate, pool_free, enter_subgraph,
    exit_subgraph, define, assert, comment (also the block in which C++ code profiles a kernel), align
    (copies an input if its address is not aligned), device (chooses a device or stream), host (computes a number, such
    as a size, on the host), text (calls a nested graph, or belongs to a call above), none, other (of no kind that is
    known).
    """
    line: Int64 | None = None
    """First line number in output_code.py; None if it writes no line."""
    end: Int64 | None = None
    buffer: str | None = None
    becomes: str | None = None
    bytes: Int64 | None = None
    kernel: str | None = None
    arguments: tuple[str, ...] = ()
    is_reused: bool | None = None
    delete_old: bool | None = None
    is_planned: bool = False
    """For a reuse: memory planning made it from an allocation; other reuses write in place."""
    aliases: tuple[str, ...] = ()
    """For an extern call, the inputs that its result is a view of."""
    parts: dict[str, Int64] = {}
    """For a call that returns several tensors, each with its bytes, including those that nothing reads."""
    pool: str = ""
    """The pool that the buffer is in (`memory_planning`)."""
    pool_bytes: Int64 | None = None
    """Size of the pool, on the line that allocates it."""
    is_last: bool = False
    """True for the line that frees the pool with everything in it."""
    device: str = ""
    text: str = ""
    """The text of a plain line; for multi_output the element that is taken: `buf2[1]`."""
    torch_type: str = ""
    """The Wrapper IR class, such as `AllocateLine`."""


class MemoryPlan(Fact, frozen=True, kw_only=True, tag="memory_plan"):
    """Inputs and outputs of the wrapper, and Inductor's own estimate of its memory."""

    table: ClassVar[str] = "wrapper"

    inputs: dict[str, Int64] = {}
    """Bytes of the inputs, in order; 0 for numbers."""
    donated: tuple[str, ...] = ()
    """Inputs of a backward graph that nobody else holds, according to torch: their memory may be overwritten."""
    frees_tangents: bool = False
    """For a backward graph: torch hands over the incoming gradients, and the code frees them (from torch 2.13 on)."""
    outputs: tuple[str, ...] = ()
    """The buffers and inputs that are returned, in order; empty for numbers and None."""
    estimate: Int64 | None = None
    """Inductor's estimate of the peak, including inputs that can be freed; None if it made none."""
