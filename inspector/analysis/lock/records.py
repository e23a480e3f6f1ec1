"""The records of a contract: what was compiled, without names, numbers and paths that differ from run to run.

Whatever is counted is a mapping from a label to a number, so that all of it is compared, and written, in one way.
"""

from typing import Final

import msgspec

VERSION: Final = 1
MISSED_OVER: Final = 65_536
"""Bytes from which on a missed fusion stands in a contract."""


class FrameLock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A Python function that Dynamo compiled, or the rest of one after a graph break."""

    name: str
    """`Net.forward`; `Net.forward after print(x)` for the rest behind that line."""
    file: str
    """Relative to the root of the repository, or to the folder of the script."""
    status: str
    """Of its last compile: compiled, no graph, skipped or failed."""
    compiles: int = 0
    graph_breaks: dict[str, int] = {}
    """The line's code, and why → number."""
    recompiles: dict[str, int] = {}
    """What had changed → number."""
    guards: dict[str, int] = {}
    """torch's kind → number."""
    lines: str = ""
    """A digest of each source line in its graphs: not compared, they tell which lines are new."""


class GraphLock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A graph that was compiled on its own, nested graphs included. The figures are those of `GraphSummary`."""

    frame: str
    """Name of the frame; empty if none was compiled."""
    kind: str
    """forward, backward or inference."""
    launches: int = 0
    flops: int = 0
    bytes: int = 0
    """Bytes that all launches read and write."""
    peak: int = 0
    """Bytes held at most."""
    cudagraphs: str = ""
    """`on`, or `off: ` and why; empty if it was never about to run as a CUDA graph."""
    kernels: dict[str, int] = {}
    """Form → number of generated kernels."""
    extern: dict[str, int] = {}
    """Function of a library → number of calls."""
    fallbacks: dict[str, int] = {}
    """Operator that no code was generated for → number."""
    fused: dict[str, int] = {}
    """What one loop nest computes, as the program's operators → number of such loop nests."""
    missed: dict[str, int] = {}
    """Two operators that share more bytes than `missed_over`, and are in two launches → number."""
    dtypes: dict[str, int] = {}
    """dtype → number of nodes with such a result."""
    operators: dict[str, int] = {}
    """Operator → FLOPs."""
    held: dict[str, int] = {}
    """Operator → bytes of its results at the peak."""

    @property
    def name(self) -> str:
        """`Net.forward (backward)`."""
        return f"{self.frame} ({self.kind})" if self.frame else self.kind


class MachineGraph(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of a graph depends on the kind of machine."""

    frame: str
    kind: str
    registers: int | None = None
    """Of the kernel with the most registers per thread."""
    spills: int | None = None
    """Bytes per thread, of all kernels together; None where no binary was made."""
    sources: dict[str, int] = {}
    """Digest and name of a kernel's source → number."""
    choices: dict[str, int] = {}
    """Kernel and the configuration that runs → number."""


class Machine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What depends on the kind of machine; compared with a contract of the same kind only."""

    kind: str = ""
    """`x86_64, AVX2, 2 threads`, the name of a GPU, or a target; empty if not known."""
    graphs: tuple[MachineGraph, ...] = msgspec.field(default=(), name="graph")


class Made(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a contract was made; not compared."""

    program: str = ""
    python: str = ""
    torch: str = ""
    triton: str = ""
    inspect_compile: str = ""


VERSIONS: Final = ("python", "torch", "triton", "inspect_compile")
"""Fields of Made that are versions."""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """A contract."""

    version: int = VERSION
    rules: tuple[str, ...] = ()
    missed_over: int = MISSED_OVER
    made: Made = Made()
    frames: tuple[FrameLock, ...] = msgspec.field(default=(), name="frame")
    graphs: tuple[GraphLock, ...] = msgspec.field(default=(), name="graph")
    machine: Machine = Machine()
