"""How a kernel iterates over its elements: what torch decided, and what its source says."""

import math
from dataclasses import dataclass
from typing import TypeVar

from inspect_compile.analysis.kernels.triton_heuristics import Heuristics, heuristics
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, KernelBody, LoopNest, Tiling
from inspect_compile.graph import Id

_Row = TypeVar("_Row")

PERSISTENT_INNER, PERSISTENT = 1024, 64
"""Reduction elements in one block, at most, along a contiguous axis and otherwise: should_use_persistent_reduction."""


@dataclass(frozen=True)
class Shape:
    """The form of one kernel: a C++ kernel has loops, a Triton kernel has axes."""

    tilings: tuple[Tiling, ...]
    nests: tuple[LoopNest, ...]
    written: Heuristics | None


def shape(dump: Dump, kernel: Kernel) -> Shape:
    """What is known of `kernel`. A source that several calls share was generated for each of them: it is told once."""
    named = Id.of(kernel)
    generated = sum(Id(row.graph, row.kernel) == named for row in dump.rows(KernelBody, kernel.graph))
    return Shape(
        _once([row for row in dump.rows(Tiling, kernel.graph) if Id(row.graph, row.kernel) == named], generated),
        _once([row for row in dump.rows(LoopNest, kernel.graph) if Id(row.graph, row.kernel) == named], generated),
        heuristics(dump.text(kernel.graph, kernel.source) or "") if kernel.source.endswith(".py") else None,
    )


def _once(rows: list[_Row], times: int) -> tuple[_Row, ...]:
    """`rows`, or the part of them that is there so many times."""
    part = rows[: len(rows) // times] if times else rows
    return tuple(part if part * times == rows else rows)


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
    return math.prod(map(int, found))
