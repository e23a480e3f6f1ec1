"""How a kernel iterates over its elements: what torch decided, and what its source says."""

from dataclasses import dataclass

from inspect_compile.analysis.kernels.triton_heuristics import Heuristics, heuristics
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, LoopNest, Tiling

PERSISTENT_INNER, PERSISTENT = 1024, 64
"""Maximum number of reduction elements in one block, along a contiguous axis and otherwise: torch 2.11 to 2.15,
InductorChoices.should_use_persistent_reduction.
"""


@dataclass(frozen=True)
class Shape:
    """The form of one kernel: a C++ kernel has loops, a Triton kernel has axes."""

    tilings: tuple[Tiling, ...]
    nests: tuple[LoopNest, ...]
    written: Heuristics | None


def shape(dump: Dump, kernel: Kernel) -> Shape:
    """What is known of `kernel`."""
    return Shape(
        tuple(row for row in dump.rows(Tiling, kernel.graph) if row.kernel == kernel.name),
        tuple(row for row in dump.rows(LoopNest, kernel.graph) if row.kernel == kernel.name),
        heuristics(dump.text(kernel.graph, kernel.source) or "") if kernel.source.endswith(".py") else None,
    )


def form_of(kernel: Kernel) -> str:
    """The form; in an older dump without forms, the kind."""
    return kernel.form or kernel.kind.replace("_", " ")


def persistent_limit(row: Tiling) -> int:
    """Maximum number of reduction elements that torch keeps in one block."""
    return PERSISTENT_INNER if row.hint == "INNER" else PERSISTENT


def reduced(row: Tiling) -> int | None:
    """Number of elements of the reduction; None if it is symbolic, or nothing is reduced."""
    found = [length for axis, length in row.sizes.items() if axis.startswith("r")]
    if not found or not all(length.isdecimal() and len(length) < 19 for length in found):
        return None
    product = 1
    for length in found:
        product *= int(length)
    return product
