"""Bytes that launches would no longer move if two of their scheduler nodes were one, counted like `show traffic`."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from inspect_compile.graph.cost.buffer_traffic import BufferSums
from inspect_compile.graph.indexing.touched import Touched

_Launch = tuple[int, str]
"""The number of a launch; or -1 and the name of a scheduler node that is treated as a separate launch."""


class Touches(NamedTuple):
    """What scheduler nodes read and write of each buffer, as one launch."""

    reads: Mapping[str, Touched]
    writes: Mapping[str, Touched]
    made: frozenset[str]
    """Buffers that they need not read, because they wrote them."""

    @classmethod
    def of(cls, sums: BufferSums) -> "Touches":
        """The totals of `sums`."""
        return cls(dict(sums.reads), dict(sums.writes), frozenset(sums.made))

    @property
    def buffers(self) -> Iterable[str]:
        """All buffers that they touch."""
        return dict.fromkeys((*self.reads, *self.writes))


class _Use(NamedTuple):
    """What several scheduler nodes do with one buffer."""

    read: Touched | None = None
    written: Touched | None = None
    is_made: bool = False

    def and_of(self, buffer: str, touches: Touches) -> "_Use":
        read, written = touches.reads.get(buffer), touches.writes.get(buffer)
        return _Use(_merged(self.read, read), _merged(self.written, written), self.is_made or buffer in touches.made)

    @property
    def moved(self) -> int:
        read = 0 if self.read is None or self.is_made else self.read.least
        return read + (0 if self.written is None else self.written.least)


class Savings:
    """The savings between scheduler nodes of one graph."""

    def __init__(self, touches: Mapping[str, Touches], launches: Mapping[str, int]) -> None:
        """`launches` has the launch that runs a node; a node without one is treated as a separate launch."""
        self._touches = touches
        self._launches = launches
        self._users: dict[tuple[_Launch, str], list[str]] = {}
        for node, own in touches.items():
            for buffer in own.buffers:
                self._users.setdefault((self._launch(node), buffer), []).append(node)
        self._known: dict[tuple[_Launch, str], _Use] = {}
        self._counted: dict[tuple[_Launch, _Launch, str, bool], int] = {}
        self._touched: dict[tuple[str, str, bool], int] = {}

    def is_one_launch(self, a: str, b: str) -> bool:
        """True if one call of one kernel runs both."""
        return a in self._launches and self._launches[a] == self._launches.get(b)

    def of(self, a: str, b: str, both: frozenset[str], handed: frozenset[str], inner: frozenset[str]) -> dict[str, int]:
        """Buffer → bytes that the two launches would no longer move as one, for the buffers that the pair shares.

        `both` are buffers that both read, `handed` those that `a` writes and `b` reads, `inner` those of them that
        nobody else needs. A buffer counts only as far as each of the two touches it itself. Two loops of one launch
        share what that launch moves anyway: they count as if each were a launch.
        """
        is_one = self.is_one_launch(a, b)
        homes: tuple[_Launch, _Launch] = ((-1, a), (-1, b)) if is_one else (self._launch(a), self._launch(b))
        found: dict[str, int] = {}
        for buffer in (*both, *handed):
            apart = sum(self._moved(home, home, buffer) for home in homes)
            left = 0 if buffer in inner else self._moved(*homes, buffer, is_handed=buffer in handed)
            own = self._own(b, buffer)
            most = own if buffer in handed else min(own, self._own(a, buffer))
            most += self._own(a, buffer, written=True) if buffer in inner else 0
            found[buffer] = max(0, min(most, apart - left))
        return found

    def _moved(self, one: _Launch, other: _Launch, buffer: str, *, is_handed: bool = False) -> int:
        """Bytes that the two launches would move as one; cached for all pairs that they run."""
        key = one, other, buffer, is_handed
        if key not in self._counted:
            use, more = self._use(one, buffer), _Use() if one == other else self._use(other, buffer)
            joined = _Use(
                _merged(use.read, more.read),
                _merged(use.written, more.written),
                use.is_made or more.is_made or is_handed,
            )
            self._counted[key] = joined.moved
        return self._counted[key]

    def _own(self, node: str, buffer: str, *, written: bool = False) -> int:
        key = node, buffer, written
        if key not in self._touched:
            touched = (self._touches[node].writes if written else self._touches[node].reads).get(buffer)
            self._touched[key] = 0 if touched is None else touched.least
        return self._touched[key]

    def _launch(self, node: str) -> _Launch:
        return (self._launches[node], "") if node in self._launches else (-1, node)

    def _use(self, launch: _Launch, buffer: str) -> _Use:
        found = self._known.get((launch, buffer))
        if found is None:
            found = _Use()
            for node in [launch[1]] if launch[0] < 0 else self._users.get((launch, buffer), ()):
                found = found.and_of(buffer, self._touches[node])
            self._known[launch, buffer] = found
        return found


def _merged(one: Touched | None, other: Touched | None) -> Touched | None:
    if one is None or other is None:
        return other if one is None else one
    return one.merged(other)
