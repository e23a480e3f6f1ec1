"""Kernels of a graph that differ in numbers only, each of which is compiled by itself."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph, grouped

_NUMBERS: Final = re.compile(r"\b\d[\w.+-]*")
_GENERATED: Final = ("cpp", "triton")
_LEAST: Final = 4
"""Fewer kernels of one form are not told."""


class Alike(NamedTuple):
    """Kernels that are one another but for numbers."""

    all: int
    """Generated kernels, these among them."""
    several: int
    kinds: int
    """Of how many forms they are."""


def alike_kernels(dump: Dump, graphs: Iterable[CompiledGraph]) -> Alike | None:
    """Those of some graphs; None if there are none."""
    sources = []
    for graph in graphs:
        for kernel in {one.name: one for one in dump.rows(Kernel, graph.name) if one.kind in _GENERATED}.values():
            text = dump.text(kernel.graph, kernel.source) if kernel.source else None
            if text is not None:
                sources.append(_NUMBERS.sub("0", text.replace(kernel.name, "")))
    several = [len(same) for same in grouped(sources, lambda text: text).values() if len(same) >= _LEAST]
    return Alike(len(sources), sum(several), len(several)) if several else None
