"""Which scheduler nodes must run between two others, by the dependencies recorded before fusion."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from inspect_compile.facts import Location, Operation

_MOST: Final = 20_000
"""Maximum number of scheduler nodes of a graph; for larger graphs nothing is known."""


class Between(msgspec.Struct, frozen=True):
    """A scheduler node that must run after one of a pair and before the other."""

    name: str
    kind: str
    """The scheduler's kind: extern is a library call."""
    node: str
    """The FX node that it computes, the last of several."""
    operator: str
    """What that node is in the program's words: `softmax`; empty if there is no node."""
    where: Location | None


class Dependencies:
    """The dependencies of one graph, between groups of its operations."""

    def __init__(self, before: Iterable[Operation], groups: Mapping[str, str]) -> None:
        """`before` are the scheduler nodes before fusion, in order; `groups` has the group of each operation, and one
        without is a group by itself. A group must not depend on itself through another one.
        """
        rows = list(before)
        self._group = {member: groups.get(member, row.name) for row in rows for member in (row.name, *row.members)}
        self._direct: dict[str, set[str]] = {}
        """Group → the groups that it depends on directly."""
        makers = {buffer: row.name for row in rows for buffer in row.buffers}
        self.is_known = len(rows) <= _MOST
        """False if the dump has no dependencies."""
        for row in rows:
            own = self._group[row.name]
            needed = {self._group[name] for name in row.predecessors if name in self._group}
            self._direct.setdefault(own, set()).update(needed - {own})
            read = {makers.get(access.buffer, row.name) for access in row.reads}
            self.is_known = self.is_known and {self._group[name] for name in read} <= {own, *needed}
        self._bits = {name: 1 << place for place, name in enumerate(self._direct)} if self.is_known else {}
        self._above = self._ancestors() if self.is_known else {}

    def between(self, a: str, b: str) -> tuple[str, ...]:
        """Third groups on a path from one to the other, in order; empty if nothing has to run between."""
        if self._needs(a, b):
            a, b = b, a
        found: list[str] = []
        at = b
        while at != a:
            below = {name for name in self._direct.get(at, ()) if name != a and self._needs(name, a)}
            if not below:
                break
            ends = {name for name in below if a in self._direct[name]} or below
            at = min(ends, key=lambda name: self._bits[name])
            found.append(at)
            if a in self._direct[at]:
                break
        return tuple(reversed(found))

    def _needs(self, one: str, other: str) -> bool:
        return bool(self._above.get(one, 0) & self._bits.get(other, 0))

    def _ancestors(self) -> dict[str, int]:
        """Group → a bit set of everything that must run before it. Cycles in a damaged dump are ignored."""
        above: dict[str, int] = {}
        asked: list[tuple[str, bool]] = [(name, False) for name in reversed(self._direct)]
        open_: set[str] = set()
        while asked:
            name, is_ready = asked.pop()
            if is_ready:
                found = 0
                for one in self._direct[name]:
                    found |= self._bits[one] | above.get(one, 0)
                above[name] = found & ~self._bits[name]
            elif name not in above and name not in open_:
                open_.add(name)
                asked.append((name, True))
                asked += [(one, False) for one in self._direct[name] if one not in above]
        return above
