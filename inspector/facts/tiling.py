"""How a kernel iterates over its elements, and why torch decided that."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64


class Tiling(Fact, frozen=True, kw_only=True, tag="tiling"):
    """The axes of one Triton kernel, or of one part of a combo kernel."""

    table: ClassVar[str] = "tiling"

    kernel: str
    """The kernel, as in `kernels`."""
    part: Int64 | None = None
    """Of a combo kernel, counted from 0; else None."""
    sizes: dict[str, str] = {}
    """Axis → length: `x`, `y`, `z` of the grid, `r0_`, `r1_` of what is reduced."""
    by: str = ""
    """`coalescing`: the analysis of what is next to each other; `votes`: each node asks for the axis along which its
    accesses are; `matmul`; `template`.
    """
    scores: dict[str, Int64] = {}
    """Of `coalescing`: axis → bytes that are next to each other along it, those of writes twice."""
    uncoalesced: Int64 | None = None
    """Bytes that are so along none, counted likewise; None without the analysis."""
    split: str = ""
    """An axis that could be split to make more accesses contiguous, and where: `d0 / 32`."""
    persistent: bool | None = None
    """Whether a block holds the whole reduction; None if nothing is reduced."""
    cooperative: bool | None = None
    """Whether several blocks share one reduction; None if nothing is reduced."""
    hint: str = ""
    """Of a reduction `INNER` (along the contiguous axis), `OUTER`, `OUTER_TINY` or `DEFAULT`."""


class Loop(msgspec.Struct, frozen=True, gc=False):
    """One loop of a C++ kernel, outermost first."""

    size: str
    """How far it goes, as a text."""
    step: str = "1"
    """Elements of one turn, as a text: more than one where it is vectorized."""
    is_reduction: bool = False
    """It reduces."""
    is_parallel: bool = False
    """Its turns are spread over threads."""
    is_vectorized: bool = False
    """One turn takes several elements."""


class LoopNest(Fact, frozen=True, kw_only=True, tag="loop_nest"):
    """Loops of a C++ kernel, which has a nest for each of its groups, or several."""

    table: ClassVar[str] = "tiling"

    kernel: str
    """The kernel, as in `kernels`."""
    loops: tuple[Loop, ...] = ()
    """The outer loops, the outermost first."""
    inside: tuple[tuple[Loop, ...], ...] = ()
    """Nests that follow each other inside the outer loops."""
    threads: Int64 = 1
    """Threads that it is generated for."""
    depth: Int64 = 0
    """Number of outer loops that are distributed over threads; 0: one thread runs everything."""
    elements: Int64 | None = None
    """Iterations of all loops, with symbols at their hints."""
    chunk: Int64 | None = None
    """Fewer elements than these for each thread are not worth it: `config.cpp.min_chunk_size`."""
    vector: Int64 | None = None
    """Elements per vector instruction; None if nothing is vectorized."""
    instructions: str = ""
    """The machine's vector instructions: `avx2`, `avx512 avx512_vnni amx_tile`, `asimd`; empty if there are none."""
    versions: tuple[str, ...] = ()
    """Of the body: `vector`, `tile` (two loops at once), `scalar`."""
    why: str = ""
    """Why nothing is vectorized."""
