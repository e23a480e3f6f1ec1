"""What torch chose by measuring: configurations of kernels, implementations of operations."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Tuning(Fact, frozen=True, kw_only=True, tag="tuning"):
    """One question that torch answers by measuring; written when it is first answered, and once more where more steps
    followed, with their seconds.
    """

    table: ClassVar[str] = "autotuning"

    number: Int64
    """Position among all of the process, by which the rows below name it."""
    about: str
    """`operation` or `kernel`."""
    name: str
    """The kernel; of an operation what torch calls it, `mm`, `convolution`, `packed_linear`."""
    operation: str = ""
    """The scheduler's name, `op3`; empty for kernels, and if the graph failed before it had one."""
    nodes: tuple[str, ...] = ()
    """The FX node that was being lowered; empty for kernels."""
    inputs: tuple[str, ...] = ()
    """Inputs of an operation, `float32[128, 256]`; symbolic sizes as symbols."""
    in_worker: bool = False
    """Some choices ran in a process of their own (`autotune_in_subproc`, `pipeline_max_autotune_gemm`)."""
    seconds: float | None = None
    """Seconds that it took; of an operation with the compiles of its choices, those of kernels stand in `binaries`; of
    `pipeline_max_autotune_gemm` what the compile waited for. None where nothing was measured.
    """


class Choice(Fact, frozen=True, kw_only=True, tag="choice"):
    """One candidate, and its time."""

    table: ClassVar[str] = "autotuning"

    tuning: Int64
    """The number of the question."""
    label: str
    """torch's name, `triton_mm_4`, `_mkl_linear`; of a configuration the label of its `binary`."""
    kind: str
    """`configuration` (of a kernel), `triton template`, `extern`, `cpp template`, `cutlass template`, `ck template`,
    `cutedsl template`, `nvgemm`, `subgraph` (a decomposition), else torch's class.
    """
    step: str = ""
    """Empty; `fused`: measured with what is fused into it; `descent`: found from the best one
    (`coordinate_descent_tuning`); `sequential`: of a combo kernel, part by part (`combo_kernel_per_subkernel_blocks`).
    """
    config: dict[str, Int64 | str] = {}
    """Name → number or text: block sizes, and other parameters that torch knows."""
    milliseconds: float | None = None
    """Of one call; None where there is no time."""
    source: str = "measured"
    """`measured`, `cached` (in an earlier run, or for an earlier graph) or `not measured`."""
    why: str = ""
    """Why there is no time: what it raised, or what torch has against it."""
    registers: Int64 | None = None
    """Of a Triton template, as in `binary`: of the module that torch compiles to measure it, with nothing fused into
    it. None for other choices, and where nobody saw it compiled (docs/kernels.md#the-resources-of-templates).
    """
    spills: Int64 | None = None
    """As in `binary`, likewise."""
    shared: Int64 | None = None
    """As in `binary`, likewise."""


class Chosen(Fact, frozen=True, kw_only=True, tag="chosen"):
    """torch's choice. A later one for the same question overrides it."""

    table: ClassVar[str] = "autotuning"

    tuning: Int64
    """The number of the question."""
    label: str
    """The label of the choice."""
    by: str
    """`time`, `descent`, `sequential` (of a combo kernel, part by part), `fusion` (for what is fused with it),
    `scheduler` (after all fusions), `rule` (nothing was measured).
    """
