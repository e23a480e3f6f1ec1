"""How a kernel iterates over its elements, and why torch decided that."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Tiling(Fact, frozen=True, kw_only=True, tag="tiling"):
    """The axes of one Triton kernel, or of one part of a combo kernel."""

    table: ClassVar[str] = "tiling"

    kernel: str
    part: Int64 | None = None
    """For a combo kernel: number of the part, from 0."""
    sizes: dict[str, str] = {}
    """Axis → its length: x, y and z of the grid, r0_ and r1_ of the reduction."""
    by: str = ""
    """coalescing (analysis of which accesses are contiguous along which axis), votes (each node asks for the axis of
    its contiguous accesses), matmul or template.
    """
    scores: dict[str, Int64] = {}
    """For `coalescing`: axis → bytes accessed contiguously along it, with writes counted twice."""
    uncoalesced: Int64 | None = None
    """Bytes that are contiguous along no axis, with writes counted twice."""
    split: str = ""
    """An axis that could be split to make more accesses contiguous, and where: `d0 / 32`."""
    persistent: bool | None = None
    """Whether a block holds the whole reduction; None if nothing is reduced."""
    cooperative: bool | None = None
    """Whether several blocks share one reduction."""
    hint: str = ""
    """For a reduction: INNER (along the contiguous axis), OUTER, OUTER_TINY or DEFAULT."""


class Loop(msgspec.Struct, frozen=True, gc=False):
    """One loop of a C++ kernel, outermost first."""

    size: str
    step: str = "1"
    """Elements per iteration: more than one if it is vectorized."""
    is_reduction: bool = False
    is_parallel: bool = False
    is_vectorized: bool = False


class LoopNest(Fact, frozen=True, kw_only=True, tag="loop_nest"):
    """Loops of a C++ kernel, which has a nest for each of its groups, or several."""

    table: ClassVar[str] = "tiling"

    kernel: str
    loops: tuple[Loop, ...] = ()
    inside: tuple[tuple[Loop, ...], ...] = ()
    """Nests that follow each other inside the outer loops."""
    threads: Int64 = 1
    depth: Int64 = 0
    """Number of outer loops that are distributed over threads; 0: one thread runs everything."""
    elements: Int64 | None = None
    """Iterations of all loops, with symbols at their hints."""
    chunk: Int64 | None = None
    """Minimum number of elements per thread: `config.cpp.min_chunk_size`."""
    vector: Int64 | None = None
    """Elements per vector instruction; None if nothing is vectorized."""
    instructions: str = ""
    """The machine's vector instructions: `avx2`, `avx512 avx512_vnni amx_tile`, `asimd`; empty if there are none."""
    versions: tuple[str, ...] = ()
    """Versions of the loop body: vector, tile (two loops at once), scalar."""
    why: str = ""
    """Why nothing is vectorized."""
