"""The kernels that a name was resolved to."""

from typing import Literal

import msgspec

from inspect_compile.facts import Location


class NamedKernel(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="named_kernel"):
    """One kernel that a name can mean. `name --json` prints these."""

    asked: str
    confidence: str
    """certain; ambiguous (one of several); possible (a library's kernel, which several calls may have launched)."""
    how: str
    """What the name was recognised as."""
    graph: str
    kernel: str
    kind: str
    source: str
    """Path of its source in the graph's folder; empty for an extern call."""
    path: str
    """The file in torch's cache."""
    defined_at: int | None
    launches: tuple[int, ...]
    """Line numbers in output_code.py."""
    nodes: tuple[str, ...]
    modules: tuple[str, ...]
    lines: tuple[Location, ...]


TellsApart = Literal["", "launches", "calls"]
"""What would tell which of several kernels is meant: the order of their launches, or the call of a library's kernel."""


class Resolved(msgspec.Struct, frozen=True):
    """What a name was resolved to."""

    asked: str
    how: str
    kernels: list[NamedKernel]
    remarks: tuple[str, ...] = ()
    """Sentences: which kernels are close but not meant."""
    told_by: TellsApart = ""
