"""The graphs that a lowered graph calls: branches, conditions and bodies of loops, regions."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class NestedGraph(NamedTuple):
    """One of them, at one call."""

    operation: Any
    """The IR operation that calls it."""
    attribute: str
    """Its name in the FX module that calls it."""
    lowering: Any
    """Its GraphLowering, which several calls may share."""


def nested_graphs(lowering: Any) -> Iterator[NestedGraph]:
    """Those that `lowering`, torch's GraphLowering, calls itself, after it was lowered."""
    for operation in lowering.operations:
        for one in vars(operation).values():
            # Torch 2.15 has the branches of `cond` in a list.
            for each in one if isinstance(one, (list, tuple)) else (one,):
                if type(each).__name__ == "Subgraph" and each.graph is not None:
                    yield NestedGraph(operation, each.name, each.graph)
