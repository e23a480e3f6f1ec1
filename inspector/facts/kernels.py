"""Kernels, and the wrapper code that allocates buffers and launches kernels."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Kernel(Fact, frozen=True, kw_only=True, tag="kernel"):
    """One kernel of the generated code: defined in it, or extern (then one row a call)."""

    table: ClassVar[str] = "kernels"

    name: str
    """As the code calls it."""
    kind: str
    """`triton`, `cpp`, `extern`, `template`, `user_triton`, `other`."""
    form: str = ""
    """`pointwise`, `reduction`, `persistent reduction`, `cooperative reduction`, `mix-order reduction`, `split scan`,
    `template`, `combo`, `foreach`, `user-written`, `extern`, `C++`; empty in older dumps.
    """
    device: str = ""
    """Where it runs."""
    operations: tuple[str, ...] = ()
    """The operations that it computes, of all its calls together."""
    groups: tuple[str, ...] = ()
    """The scheduler nodes after fusion that it computes, of all its calls together."""
    nodes: tuple[str, ...] = ()
    """FX origins, in the graph's order."""
    computes: tuple[str, ...] = ()
    """Those of them that own an operation of its loops which is more than a load, a store, a constant or an index; of
    all its calls together.
    """
    lines: tuple[Location, ...] = ()
    """Lines of the user's, each once, in the order of the nodes."""
    source: str = ""
    """Path of the source, relative to the graph's folder; empty for extern kernels."""
    path: str = ""
    """The source file in torch's cache, if there is one."""
    defined_at: Int64 | None = None
    """First line of its definition in the output code."""
    defined_to: Int64 | None = None
    """Last line of it."""
    launches: tuple[Int64, ...] = ()
    """Line numbers of its calls in output_code.py."""
    metadata: str = ""
    """The comment that torch puts above it."""
    numel: tuple[str, ...] = ()
    """Sizes that it runs over, `xnumel=2048`."""
    inplace: tuple[str, ...] = ()
    """`buf6←buf5`: the new buffer takes the old one's memory."""
    removed: tuple[str, ...] = ()
    """Buffers that never leave the kernel."""


class StatementNodes(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One line of a kernel's source."""

    line: Int64
    """Counted from 1."""
    operator: Int64
    """The operator of torch's loop body: position in `operators` of its row."""
    nodes: tuple[Int64, ...]
    """The FX nodes that it belongs to: positions in `nodes` of its row; several if they compute the same."""


class OperationCount(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Number of operations of one kind that a kernel does for one FX node."""

    operator: Int64
    """Position in `operators` of its row; of a reduction with its kind, `reduction.sum`."""
    node: Int64
    """Position in `nodes` of its row."""
    domain: Int64
    """The elements that it is done for: position in `domains` of its row."""
    count: Int64
    """How many of these operations, for each element of the domain."""


class KernelBody(Fact, frozen=True, kw_only=True, tag="kernel_body"):
    """The FX nodes of each statement of a kernel.

    A kernel that is defined once for several groups with the same source has one row for each.
    """

    table: ClassVar[str] = "statements"

    kernel: str
    """The kernel, as in `kernels`."""
    operations: tuple[str, ...] = ()
    """The operations that it holds here."""
    nodes: tuple[str, ...] = ()
    """The FX nodes that the fields below mean, in the graph's order."""
    loops: tuple[tuple[Int64, ...], ...] = ()
    """Of each of these nodes the loops, by number, of which it owns an operation that computes here: a loop that is in
    two kernels is computed in both, one node's loops in several kernels are stages of its computation.
    """
    operators: tuple[str, ...] = ()
    """What torch's loop body does: `add`, `reduction`; `template`: what a template says itself, or a function that it
    was given; in `computed` a reduction with its kind, `reduction.sum`.
    """
    statements: tuple[StatementNodes, ...] = ()
    """One for each line that is of a node."""
    unmapped: tuple[Int64, ...] = ()
    """Lines that compute or store something of which no node is known."""
    computed: tuple[OperationCount, ...] = ()
    """What it computes, after common subexpressions were eliminated (docs/flops.md); loads, stores, constants, indices
    and casts are left out.
    """
    domains: tuple[str, ...] = ()
    """Numbers of elements, as expressions: `32*s77`."""
    elements: tuple[Int64 | None, ...] = ()
    """The same at the hints of their symbols; None where one has none."""
    dtype: str = ""
    """The widest floating type that it computes in."""


class Stage(msgspec.Struct, frozen=True, gc=False):
    """One form of a kernel on Triton's way to machine code."""

    name: str
    """Triton's, `ttgir`."""
    path: str
    """Its file in the graph's folder; empty if it was not available."""
    bytes: Int64
    """How long it is."""


class Binary(Fact, frozen=True, kw_only=True, tag="binary"):
    """One configuration of a Triton kernel, compiled to machine code.

    `graph` is the graph whose code defines the kernel; kernels of nested graphs count with the one around them.
    """

    table: ClassVar[str] = "binaries"

    kernel: str
    """As in `kernels`."""
    label: str
    """The configuration in one word, `XBLOCK8-w4-s1`: the name of its folder within the kernel's."""
    config: dict[str, Int64 | str] = {}
    """Name → number or text: block sizes, and what else the source is compiled with."""
    num_warps: Int64 | None = None
    """Warps of a block; on AMD GPUs wavefronts of 64 threads."""
    num_stages: Int64 | None = None
    """Stages of the software pipeline."""
    num_ctas: Int64 | None = None
    """Blocks of a cluster."""
    target: str = ""
    """The architecture, `sm_90`, `gfx942`."""
    is_remembered: bool = False
    """torch found it the fastest of several in an earlier run, and compiled no other."""
    stages: tuple[Stage, ...] = ()
    """In the order in which they were made."""
    registers: Int64 | None = None
    """32-bit registers of a thread; on AMD GPUs vector registers, those for accumulation included."""
    allocated_registers: Int64 | None = None
    """What a thread is given, where that is more: on AMD GPUs `waves_per_eu` asks for it."""
    scalar_registers: Int64 | None = None
    """Scalar registers of a wavefront; None on GPUs that have none."""
    spills: Int64 | None = None
    """Bytes of a thread's stack frame: registers that found no room, and arrays."""
    shared: Int64 | None = None
    """Bytes of shared memory that a block asks for, without what the driver adds."""
    seconds: float | None = None
    """Seconds to compile it, or to read it from Triton's cache; None where a worker process of torch did."""
    left_out: str = ""
    """Why there are no stages; empty if there are."""


class WrapperLine(Fact, frozen=True, kw_only=True, tag="wrapper_line"):
    """One line of Inductor's Wrapper IR, after memory planning."""

    table: ClassVar[str] = "wrapper"

    index: Int64
    """Position among the wrapper's lines."""
    what: str
    """`allocate`, `reuse`, `free`, `launch`, `extern`, `multi_output`, `reinterpret`, `pool_allocate`, `pool_free`,
    `enter_subgraph`, `exit_subgraph`, `define`, `assert`, `comment` (also the block in which C++ code profiles a
    kernel), `align` (copies an input if its address is not aligned), `device` (chooses a device or stream), `host`
    (computes a number, such as a size, on the host), `text` (calls a nested graph, or belongs to a call above), `none`,
    `other` (of an unknown kind).
    """
    line: Int64 | None = None
    """First line in the output code; None where it writes none."""
    end: Int64 | None = None
    """Last line of it."""
    buffer: str | None = None
    """The buffer that it is about."""
    becomes: str | None = None
    """For `reuse` and `reinterpret` the new name of its memory."""
    bytes: Int64 | None = None
    """Bytes of the allocation, padding and strides included."""
    kernel: str | None = None
    """The kernel or function that is called."""
    arguments: tuple[str, ...] = ()
    """What it is called with."""
    is_reused: bool | None = None
    """Of a `free`: its memory is used again, so nothing is freed."""
    delete_old: bool | None = None
    """Of a `reuse`: the old name goes."""
    is_planned: bool = False
    """Of a `reuse`: memory planning made it of an allocation; the others write in place."""
    aliases: tuple[str, ...] = ()
    """Of an extern call the inputs whose memory its result is a view of."""
    parts: dict[str, Int64] = {}
    """Of one that returns several tensors: each with its bytes, those that nothing reads among them."""
    pool: str = ""
    """The pool that the buffer's memory is in (`memory_planning`)."""
    pool_bytes: Int64 | None = None
    """Of the line that allocates the pool, the pool's."""
    is_last: bool = False
    """Of the line that frees the pool, with all that is in it."""
    device: str = ""
    """Of a launch."""
    text: str = ""
    """Of a line that is plain text; of `multi_output` what is taken out of which, `buf2[1]`."""
    torch_type: str = ""
    """The Wrapper IR class, such as `AllocateLine`."""


class MemoryPlan(Fact, frozen=True, kw_only=True, tag="memory_plan"):
    """Inputs and outputs of the wrapper, and Inductor's own estimate of its memory."""

    table: ClassVar[str] = "wrapper"

    inputs: dict[str, Int64] = {}
    """Bytes of what comes in, in order; 0 for numbers."""
    donated: tuple[str, ...] = ()
    """Inputs of a backward graph that nobody else holds, as torch found: it may write to their memory."""
    frees_tangents: bool = False
    """Of a backward graph: torch hands over the gradients that come in, so that the code frees them (torch 2.13 and
    later).
    """
    outputs: tuple[str, ...] = ()
    """Buffers and inputs that are returned, in order; empty for numbers and for nothing."""
    estimate: Int64 | None = None
    """Inductor's own estimate of the peak, inputs that can be freed included; None where it made none."""
