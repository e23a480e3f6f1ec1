"""What a name was found to mean."""

import msgspec

from inspect_compile.facts import Location


class NamedKernel(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="named_kernel"):
    """One kernel that a name can mean. `name --json` prints these."""

    asked: str
    confidence: str
    """certain, ambiguous (one of several), possible (of a library: which call launches it is not in the name)."""
    how: str
    """What the name was recognised as."""
    graph: str
    kernel: str
    kind: str
    source: str
    """In the graph's folder; empty for an extern call."""
    path: str
    """The file that torch keeps it in."""
    defined_at: int | None
    launches: tuple[int, ...]
    """Lines of output_code.py."""
    nodes: tuple[str, ...]
    modules: tuple[str, ...]
    lines: tuple[Location, ...]


class Resolved(msgspec.Struct, frozen=True):
    """What a name means."""

    asked: str
    how: str
    kernels: list[NamedKernel]
    remarks: tuple[str, ...] = ()
    """Sentences: which kernels are near and not meant, how to tell several apart."""
    near: tuple[str, ...] = ()
    """Where it means nothing."""
    problem: str = "no kernel is called so"
    """In that case."""
