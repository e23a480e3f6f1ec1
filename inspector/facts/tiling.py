"""How a kernel goes over its elements, and what torch decided that by."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Tiling(Fact, frozen=True, kw_only=True, tag="tiling"):
    """The axes of one Triton kernel; of a combo kernel those of one of its parts."""

    table: ClassVar[str] = "tiling"

    kernel: str
    part: Int64 | None = None
    """Of a combo kernel: counted from 0."""
    sizes: dict[str, str] = {}
    """Axis → its length: x, y and z of the grid, r0_ and r1_ of what is reduced."""
    by: str = ""
    """coalescing (the analysis of which accesses are next to each other), votes (each node asks for the axis along
    which its accesses are), matmul, or template."""
    scores: dict[str, Int64] = {}
    """Of `coalescing`: axis → bytes whose accesses are next to each other along it, those of writes twice."""
    uncoalesced: Int64 | None = None
    """Bytes whose accesses are next to each other along none, counted likewise."""
    split: str = ""
    """An axis that could be cut so that more are, and where: `d0 / 32`."""
    persistent: bool | None = None
    """The whole reduction is in one block at a time; None where nothing is reduced."""
    cooperative: bool | None = None
    """Several blocks share one reduction."""
    hint: str = ""
    """Of a reduction: INNER (along what is contiguous), OUTER, OUTER_TINY or DEFAULT."""


class Loop(msgspec.Struct, frozen=True, gc=False):
    """One loop of a C++ kernel, the outermost first."""

    size: str
    step: str = "1"
    """Elements that one turn takes: more than one where it is vectorized."""
    is_reduction: bool = False
    is_parallel: bool = False
    is_vectorized: bool = False


class LoopNest(Fact, frozen=True, kw_only=True, tag="loop_nest"):
    """Loops of a C++ kernel: it holds one nest for each of its groups, or several."""

    table: ClassVar[str] = "tiling"

    kernel: str
    loops: tuple[Loop, ...] = ()
    inside: tuple[tuple[Loop, ...], ...] = ()
    """Nests that stand one after the other in the outer loops."""
    threads: Int64 = 1
    depth: Int64 = 0
    """How many loops are spread over the threads; 0: one thread runs all."""
    elements: Int64 | None = None
    """Of all loops together, symbols at their hints."""
    chunk: Int64 | None = None
    """Fewer for each thread are not worth it: `config.cpp.min_chunk_size`."""
    vector: Int64 | None = None
    """Elements that one instruction takes; None where nothing is vectorized."""
    instructions: str = ""
    """The vector instructions of the machine: `avx2`, `avx512`, `asimd`; empty where there are none."""
    versions: tuple[str, ...] = ()
    """Of the loops' body: vector, tile (two loops at once), scalar."""
    why: str = ""
    """Why nothing is vectorized."""
