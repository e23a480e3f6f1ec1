"""What torch chose by measuring: the configuration of a kernel, the way to do an operation."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Tuning(Fact, frozen=True, kw_only=True, tag="tuning"):
    """One question that torch answers by measuring; written when it first was."""

    table: ClassVar[str] = "autotuning"

    number: Int64
    """Position among all of the process: its choices name it."""
    about: str
    """kernel (which configuration) or operation (which template, or which function of a library)."""
    name: str
    """The kernel; of an operation what torch calls it, `mm`, `convolution`."""
    operation: str = ""
    """The scheduler's name of it, `op3`; empty for kernels, and where the graph failed before it had one."""
    nodes: tuple[str, ...] = ()
    """The FX node that was being lowered; empty for kernels."""
    inputs: tuple[str, ...] = ()
    """Of an operation `float32[128, 256]`; symbols as symbols."""
    in_worker: bool = False
    """Some choices were measured in a process of their own (`autotune_in_subproc`)."""
    seconds: float | None = None
    """It took, of an operation with the compiles of its choices, of pipelined autotuning what the compile waited for;
    None where nothing had to be measured."""


class Choice(Fact, frozen=True, kw_only=True, tag="choice"):
    """One of several ways, and how fast it is."""

    table: ClassVar[str] = "autotuning"

    tuning: Int64
    label: str
    """torch's name of it, `triton_mm_4`, `mm`; of a kernel's configuration the label of its binary."""
    kind: str
    """configuration (of a kernel), triton template, extern, cpp template, cutlass template, ck template, cutedsl
    template, nvgemm, subgraph; else torch's class."""
    step: str = ""
    """When, where that was not among all others: `fused` with what follows or goes before, `descent` from the best,
    `sequential`, one part of a combo kernel after the other."""
    config: dict[str, Int64 | str] = {}
    milliseconds: float | None = None
    """Of one call; None where there is no time."""
    source: str = "measured"
    """measured, cached (torch measured it in an earlier run) or not measured."""
    why: str = ""
    """Why there is no time: what it raised, what torch says against it."""
    registers: Int64 | None = None
    """Of a Triton template, as in a Binary: 32-bit ones of a thread. None, as the next two, where nobody saw it
    compiled."""
    spills: Int64 | None = None
    """Bytes of memory of a thread that stand in for registers."""
    shared: Int64 | None = None
    """Bytes of shared memory of a block."""


class Chosen(Fact, frozen=True, kw_only=True, tag="chosen"):
    """What torch took. A later one of the same tuning overrules."""

    table: ClassVar[str] = "autotuning"

    tuning: Int64
    label: str
    by: str
    """time, descent (configurations next to the best one were tried), sequential (of a combo kernel, part by part),
    fusion (for what is fused with it), scheduler (when no fusion had decided) or rule (nothing was measured)."""
