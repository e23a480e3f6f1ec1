"""The kinds of findings: what each is, which table has more of it, and what a run needs to have it."""

from typing import Final, NamedTuple

from inspect_compile.knowledge.overview.findings import (
    ATTENTION,
    BREAK,
    CACHE,
    CACHE_MISS,
    COPY,
    CUDAGRAPH_AGAIN,
    DDP_CUTS,
    DOUBLE_PRECISION,
    EAGER,
    FAILED,
    FALLBACK,
    HALF_PRECISION,
    INCOMPLETE,
    INPUT,
    LAUNCH_BOUND,
    LAYOUT,
    LAYOUT_CHANGES,
    MATMUL_PRECISION,
    MEMORY,
    MISSED_FUSION,
    MUTATION,
    NO_CUDAGRAPH,
    NUMERICS,
    OPTIMIZER,
    PADDING,
    PROBE,
    RECOMPILE,
    RECOMPILE_LIMIT,
    SECOND_STAGES,
    SLOW_PROBES,
    SPILL,
    SYNCHRONISATION,
    TRANSFER,
    TUNED,
    UNROLLED,
)


class Kind(NamedTuple):
    """One kind of finding, as a list of all kinds has it."""

    kind: str
    what: str
    shown_by: str
    """The table of `show` that has more; or `kernel`, `node` or `why` of what the finding names."""
    needs: str = ""
    """What a run needs to have it: `gpu`, `cudagraphs`, `numerics`, `cache`, `steps` or `tune`; empty for a compile."""


KINDS: Final = (
    Kind(
        FAILED, "a compile, or a call of what was compiled, failed: the stage, the node and the error itself", "kernel"
    ),
    Kind(NUMERICS, "a result is wrong, or not the same each time", "numerics", "numerics"),
    Kind(TUNED, "`tune` measured a change that makes the steps faster", "tried", "tune"),
    Kind(BREAK, "a graph break: Python runs part of the function", "dynamo"),
    Kind(RECOMPILE, "a function recompiles", "dynamo"),
    Kind(RECOMPILE_LIMIT, "a function reached the recompile limit: some calls run without torch.compile", "dynamo"),
    Kind(CACHE, "torch cannot cache a compile", "dynamo"),
    Kind(CACHE_MISS, "torch's cache of compiled graphs had no entry", "dynamo", "cache"),
    Kind(MISSED_FUSION, "two kernels use the same values, and could be one", "why"),
    Kind(SECOND_STAGES, "the second stages of split reductions are small separate kernels", "schedule", "gpu"),
    Kind(COPY, "a kernel only copies values to another place or memory layout", "kernel"),
    Kind(LAYOUT, "values are copied into the memory layout that a library call needs", "kernel"),
    Kind(
        LAYOUT_CHANGES, "a library converts the input and output of a convolution to another layout", "steps", "steps"
    ),
    Kind(PADDING, "torch copies the inputs of a matmul to pad them", "kernel", "gpu"),
    Kind(UNROLLED, "compiling takes long: unrolled loops, layers, autotuning, or a pass of the program", "time"),
    Kind(DDP_CUTS, "DistributedDataParallel splits a graph at the end of each bucket", "kernel"),
    Kind(MUTATION, "a few elements of an input are written, and all of it is copied", "kernel"),
    Kind(ATTENTION, "attention runs as matmuls and a softmax instead of one fused kernel", "kernel"),
    Kind(FALLBACK, "fallback: torch.compile generates no code for an operator", "node"),
    Kind(SPILL, "a Triton kernel spills registers", "kernel", "gpu"),
    Kind(
        NO_CUDAGRAPH,
        "a graph does not run as a CUDA graph although the program asked for it",
        "cudagraphs",
        "cudagraphs",
    ),
    Kind(CUDAGRAPH_AGAIN, "a CUDA graph is recorded again", "cudagraphs", "cudagraphs"),
    Kind(MEMORY, "memory kept for reuse raises the peak", "memory"),
    Kind(LAUNCH_BOUND, "the GPU waits for the host, which launches kernels one by one", "steps", "steps"),
    Kind(SYNCHRONISATION, "the host waits for a GPU result in each step", "steps", "steps"),
    Kind(OPTIMIZER, "the optimizer runs many small operators instead of one fused kernel", "steps", "steps"),
    Kind(INPUT, "the program waits for its DataLoader", "steps", "steps"),
    Kind(TRANSFER, "the GPU waits for a copy from or to the host", "steps", "steps"),
    Kind(EAGER, "operators run one by one outside compiled code", "steps", "steps"),
    Kind(DOUBLE_PRECISION, "kernels compute in float64", "roofline", "gpu"),
    Kind(MATMUL_PRECISION, "float32 matmuls run without the GPU's tensor cores", "roofline", "gpu"),
    Kind(HALF_PRECISION, "matmuls run in float32 on a GPU that is faster in bfloat16", "roofline", "gpu"),
    Kind(INCOMPLETE, "a graph is incomplete in this dump", "lowering"),
    Kind(PROBE, "a probe of inspect-compile recorded nothing, so the dump is missing something", "overhead"),
    Kind(SLOW_PROBES, "inspect-compile itself took a noticeable part of the run", "overhead"),
)
"""Every kind of finding."""
KIND_OF: Final = {kind.kind: kind for kind in KINDS}

BY_BYTES: Final = "its bytes at the device's full bandwidth"
_BY_ROOFLINE: Final = "the least time by the roofline, without and with it"
ESTIMATES: Final = {
    UNROLLED: "its share of the traced nodes, times the compile time",
    SECOND_STAGES: "the time of one empty kernel each",
    MATMUL_PRECISION: _BY_ROOFLINE,
    HALF_PRECISION: _BY_ROOFLINE,
    DOUBLE_PRECISION: _BY_ROOFLINE,
}
"""Kind → how its time is estimated, where that is not `BY_BYTES`."""

TYPICAL_BANDWIDTH: Final = 20e9
"""Bytes per second, to sort by where the device's own figure is not known; nothing that is shown comes from it."""
