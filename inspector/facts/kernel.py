"""Kernels, and the wrapper code that allocates and launches."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location


class Kernel(Fact, frozen=True, kw_only=True, tag="kernel"):
    """One kernel that the generated code calls: defined in it, or extern."""

    table: ClassVar[str] = "kernels"

    name: str
    kind: str
    """triton, cpp, extern, template, user_triton, other."""
    device: str = ""
    operations: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """The scheduler nodes after fusion that it holds, one or more."""
    nodes: tuple[str, ...] = ()
    """FX origins, in the graph's order."""
    lines: tuple[Location, ...] = ()
    """The user's lines, each once, in the order of the nodes."""
    source: str = ""
    """Path in the dump, relative to the graph's folder; empty for extern kernels."""
    path: str = ""
    """The file that torch keeps the source in, where it has one."""
    defined_at: Int64 | None = None
    """Line in output_code.py where the definition starts."""
    defined_to: Int64 | None = None
    launches: tuple[Int64, ...] = ()
    """Lines in output_code.py that call it."""
    metadata: str = ""
    numel: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class WrapperLine(Fact, frozen=True, kw_only=True, tag="wrapper_line"):
    """One line of Inductor's Wrapper IR, after memory planning."""

    table: ClassVar[str] = "wrapper"

    index: Int64
    what: str
    """What the line does.

    allocate, reuse, free, launch, extern, multi_output, reinterpret, pool_allocate, pool_free, enter_subgraph,
    exit_subgraph, define, assert, comment, text, none, other.
    """
    line: Int64 | None = None
    """First line in output_code.py; None where it writes none."""
    end: Int64 | None = None
    buffer: str | None = None
    becomes: str | None = None
    bytes: Int64 | None = None
    kernel: str | None = None
    arguments: tuple[str, ...] = ()
    is_reused: bool | None = None
    delete_old: bool | None = None
    device: str = ""
    text: str = ""
    torch_type: str = ""
    """The Wrapper IR class, `AllocateLine`."""
