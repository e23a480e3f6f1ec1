"""What torch chose by measuring: configurations of kernels, implementations of operations."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Tuning(Fact, frozen=True, kw_only=True, tag="tuning"):
    """One question that torch answers by measuring; written when it is first answered."""

    table: ClassVar[str] = "autotuning"

    number: Int64
    """Index among all questions of the process; its choices refer to it."""
    about: str
    """kernel (which configuration) or operation (which template or library function)."""
    name: str
    """The kernel, or torch's name of the operation: `mm`, `convolution`."""
    operation: str = ""
    """The scheduler's name, `op3`; empty for kernels, and if the graph failed before it had one."""
    nodes: tuple[str, ...] = ()
    """The FX node that was being lowered; empty for kernels."""
    inputs: tuple[str, ...] = ()
    """Inputs of an operation, `float32[128, 256]`; symbolic sizes as symbols."""
    in_worker: bool = False
    """Whether some choices were measured in a separate process (`autotune_in_subproc`)."""
    seconds: float | None = None
    """Duration; for an operation including the compiles of its choices, for pipelined autotuning the time that the
    compile waited; None if nothing had to be measured.
    """


class Choice(Fact, frozen=True, kw_only=True, tag="choice"):
    """One candidate, and its time."""

    table: ClassVar[str] = "autotuning"

    tuning: Int64
    label: str
    """torch's name, `triton_mm_4`, `mm`; for a kernel's configuration the label of its binary."""
    kind: str
    """configuration (of a kernel), triton template, extern, cpp template, cutlass template, ck template, cutedsl
    template, nvgemm, subgraph; else torch's class."""
    step: str = ""
    """When it was measured, if apart: `fused` with its neighbours, `descent` from the best, `sequential` (combo)."""
    config: dict[str, Int64 | str] = {}
    milliseconds: float | None = None
    """Time of one call; None if there is none."""
    source: str = "measured"
    """measured, cached (measured in an earlier run) or not measured."""
    why: str = ""
    """Why there is no time: its exception, or torch's reason."""
    registers: Int64 | None = None
    """For a Triton template, registers per thread, as in Binary. None, as the next two, if its compile was not seen."""
    spills: Int64 | None = None
    """Bytes of memory per thread used in place of registers."""
    shared: Int64 | None = None
    """Bytes of shared memory of a block."""


class Chosen(Fact, frozen=True, kw_only=True, tag="chosen"):
    """torch's choice. A later one for the same question overrides it."""

    table: ClassVar[str] = "autotuning"

    tuning: Int64
    label: str
    by: str
    """time, descent (configurations close to the best were tried), sequential (part by part of a combo kernel), fusion
    (for what is fused with it), scheduler (if no fusion had decided) or rule (nothing was measured).
    """
