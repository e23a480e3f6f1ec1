"""What is found: one record for each cause."""

from typing import Final

import msgspec

from inspect_compile.facts import Location
from inspect_compile.graph import short

LEVELS: Final = (
    "source", "dynamo", "aot", "partition", "pass", "lowering", "autotune", "realize", "fusion", "tiling", "codegen",
    "ttir", "ttgir", "llir", "ptx", "amdgcn", "sass", "isa", "library", "not known",
)  # fmt: skip
"""Where two compiles can part, in the order of the compiler; `pass` is also what ran before AOTAutograd."""


class Cost(msgspec.Struct, frozen=True):
    """What the kernels that a cause is about cost on one side, in one call of each graph."""

    launches: int = 0
    bytes: int = 0
    """Read and written, each element once in a launch, as far as known."""
    flops: int = 0
    """FLOPs of matmuls and scalar operations of loops, as far as known."""
    registers: int | None = None
    """Most registers of a thread; None without binaries."""
    spills: int | None = None
    """Bytes of a thread that are spilled, of all kernels."""
    seconds: float | None = None
    """Measured, the least of all calls; None if not all launches were."""

    @property
    def measured(self) -> float | None:
        """The same; 0 without launches."""
        return self.seconds if self.launches else 0.0

    def __add__(self, other: "Cost") -> "Cost":
        if not other.launches:
            return self
        if not self.launches:
            return other
        registers = [one for one in (self.registers, other.registers) if one is not None]
        spills = [one for one in (self.spills, other.spills) if one is not None]
        is_timed = self.seconds is not None and other.seconds is not None
        return Cost(
            self.launches + other.launches,
            self.bytes + other.bytes,
            self.flops + other.flops,
            max(registers, default=None),
            sum(spills) if spills else None,
            (self.seconds or 0.0) + (other.seconds or 0.0) if is_timed else None,
        )


class Cause(msgspec.Struct, frozen=True, tag_field="fact", tag="difference_cause"):
    """One reason why two compiles differ. `diff --json` prints these first."""

    level: str
    """One of LEVELS: the earliest at which the two part."""
    what: str
    """What it is about at that level: an operator, a pass, a reason of the scheduler, a choice; empty if nothing is."""
    message: str
    """One sentence."""
    where: Location | None
    """The user's line on the other side; where only the first side has it, its line there."""
    old_where: Location | None
    """The user's line on the first side."""
    a: tuple[str, ...]
    """What the first side has at that level."""
    b: tuple[str, ...]
    """What the other side has there."""
    settings: tuple[str, ...]
    """Settings of torch that differ and decide at that level: `max_fusion_size: 64 → 1`."""
    graphs: tuple[str, ...]
    """The graphs on the first side; where it has none, on the other."""
    kernels_a: tuple[str, ...]
    """Kernels of the first side that have no counterpart with the same code."""
    kernels_b: tuple[str, ...]
    cost_a: Cost
    """Of those kernels."""
    cost_b: Cost
    places: int = 1
    """How many separate groups of kernels it is about."""
    shared_with: tuple[str, ...] = ()
    """Other causes that some of these kernels differ for, too: `fusion at model.py:12`. The cost of such kernels is
    counted once, with the earliest cause.
    """
    counted_with: str = ""
    """Of a cause without a cost of its own: the one that has the cost of its kernels."""
    a_name: str = "a"
    b_name: str = "b"

    @property
    def label(self) -> str:
        """`fusion at model.py:12`."""
        return label(self.level, self.where)


def label(level: str, where: Location | None) -> str:
    """A cause in a few words: `fusion at model.py:12`."""
    return level if where is None else f"{level} at {short(where)}"
