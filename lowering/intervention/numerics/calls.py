"""Which calls of which graphs a command wants checked, and for what."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Asked:
    """What `inspect-compile numerics` was asked for."""

    calls: tuple[tuple[int, int], ...] | None = ((1, 1),)
    """First and last of each run of calls of a graph, from 1; None for all calls."""
    every: int = 0
    """And each so-manieth call, from the first one; 0 for none."""
    graphs: tuple[str, ...] = ()
    """Only graphs with one of these in their names; empty for all."""
    repeats: bool = False
    """Run checked calls again, to find results that are not the same each time."""
    nonfinite: bool = False
    """Look for what makes NaN and Inf, in the place of all else."""
    eager: bool = False
    """Call the program's own functions, too, and compare what they return."""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Asked":
        """From values that JSON has."""
        calls = plain.get("calls", [(1, 1)])
        return cls(
            calls=None if calls is None else tuple((first, last) for first, last in calls),
            every=plain.get("every", 0),
            graphs=tuple(plain.get("graphs", ())),
            repeats=plain.get("repeats", False),
            nonfinite=plain.get("nonfinite", False),
            eager=plain.get("eager", False),
        )

    def has_graph(self, graph: str) -> bool:
        """True if calls of this graph are checked at all."""
        return not self.graphs or any(name in graph for name in self.graphs)

    def has_call(self, number: int) -> bool:
        """True if this call of a graph is checked; counted from 1."""
        if self.calls is None or (self.every and (number - 1) % self.every == 0):
            return True
        return any(first <= number <= last for first, last in self.calls)
