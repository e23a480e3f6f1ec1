"""Bytes that launches would no longer move if two of their scheduler nodes were one, counted as `show traffic` does."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from inspect_compile.analysis.buffer_traffic import BufferSums
from inspect_compile.analysis.touched import Touched

_MOST_USERS: Final = 32
"""Scheduler nodes of one launch at one buffer: where there are more, the launch touches it without any one of them."""

_Launch = tuple[int, str]
"""The number of a launch; -1 and the name of a scheduler node that is looked at as a launch of its own."""


class Touches(NamedTuple):
    """What scheduler nodes read and write of buffers, as one launch."""

    reads: Mapping[str, Touched]
    writes: Mapping[str, Touched]
    made: frozenset[str]
    """Buffers that they need not read, because they wrote them."""

    @classmethod
    def of(cls, sums: BufferSums) -> "Touches":
        """Those that were counted."""
        return cls(dict(sums.reads), dict(sums.writes), frozenset(sums.made))

    @property
    def buffers(self) -> Iterable[str]:
        """All that they touch."""
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
    """Of the scheduler nodes of one graph."""

    def __init__(self, touches: Mapping[str, Touches], launches: Mapping[str, int]) -> None:
        """`launches` has the launch that runs a node; one without is looked at as a launch of its own."""
        self._touches = touches
        self._launches = launches
        self._users: dict[tuple[_Launch, str], list[str]] = {}
        for node, own in touches.items():
            for buffer in own.buffers:
                self._users.setdefault((self._launch(node), buffer), []).append(node)
        self._known: dict[tuple[_Launch, str, str], _Use] = {}

    def is_one_launch(self, a: str, b: str) -> bool:
        """Does one call of one kernel run both?"""
        return a in self._launches and self._launches[a] == self._launches.get(b)

    def of(self, a: str, b: str, both: frozenset[str], handed: frozenset[str], inner: frozenset[str]) -> dict[str, int]:
        """Buffer → bytes that are no longer moved, less than 0 where one is moved again; the sum is never below 0.

        `both` are buffers that both read, `handed` those that `a` writes and `b` reads, `inner` those of them that
        nobody else needs. One of the two goes to the launch of the other, whichever saves more; what else is in the two
        launches stays there. Nothing counts that the two do not share, nor more of a buffer than each of them touches
        itself. Two loops of one launch share what that launch moves already: they count as if each were a launch.
        """
        if self.is_one_launch(a, b):
            homes: tuple[_Launch, _Launch] = ((-1, a), (-1, b))
        else:
            homes = self._launch(a), self._launch(b)
        ways = [
            self._of_moving(b, homes[1], homes[0], handed, inner),
            self._of_moving(a, homes[0], homes[1], handed, inner),
        ]
        most = {buffer: min(self._own(a, buffer), self._own(b, buffer)) for buffer in both}
        most.update((buffer, self._own(b, buffer)) for buffer in handed)
        most.update((buffer, most[buffer] + self._own(a, buffer, written=True)) for buffer in inner)
        ways = [{buffer: min(size, most.get(buffer, 0)) for buffer, size in way.items()} for way in ways]
        found = max(ways, key=lambda way: sum(way.values()))
        return found if sum(found.values()) > 0 else {}

    def _own(self, node: str, buffer: str, *, written: bool = False) -> int:
        touched = (self._touches[node].writes if written else self._touches[node].reads).get(buffer)
        return 0 if touched is None else touched.least

    def _launch(self, node: str) -> _Launch:
        return (self._launches[node], "") if node in self._launches else (-1, node)

    def _of_moving(
        self, node: str, home: _Launch, there: _Launch, handed: frozenset[str], inner: frozenset[str]
    ) -> dict[str, int]:
        found: dict[str, int] = {}
        own = self._touches[node]
        for buffer in dict.fromkeys((*own.buffers, *inner)):
            before = self._use(home, buffer), self._use(there, buffer)
            both = before[1].and_of(buffer, own)
            both = both._replace(is_made=True) if buffer in handed else both
            after = self._use(home, buffer, without=node), both
            left = 0 if buffer in inner else sum(use.moved for use in after)
            found[buffer] = sum(use.moved for use in before) - left
        return found

    def _use(self, launch: _Launch, buffer: str, without: str = "") -> _Use:
        users = [launch[1]] if launch[0] < 0 else self._users.get((launch, buffer), [])
        if without not in users or len(users) > _MOST_USERS:
            without = ""
        key = launch, buffer, without
        found = self._known.get(key)
        if found is None:
            found = _Use()
            for node in users:
                if node != without:
                    found = found.and_of(buffer, self._touches[node])
            self._known[key] = found
        return found


def _merged(one: Touched | None, other: Touched | None) -> Touched | None:
    if one is None or other is None:
        return other if one is None else one
    return one.merged(other)
