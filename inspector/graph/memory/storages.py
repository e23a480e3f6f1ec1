"""Pieces of memory, and the names that refer to them."""

from collections import Counter
from typing import Final, Literal

import msgspec

Origin = Literal["allocated", "extern", "pool", "nested", "given"]

_DEEPEST: Final = 32
"""Branches within branches: no program comes near it."""


class Storage(msgspec.Struct):
    """One piece of memory, from the line that allocates it to the line that frees it."""

    bytes: int
    origin: Origin
    """allocated by the wrapper; extern: by the extern kernel that returns it; pool; nested: by the nested graph that
    returns it; given: passed in by the caller, and freed when the wrapper drops it.
    """
    names: list[str] = []
    """Buffers that were in it, in order."""
    named: list[int] = []
    """For each of these names, the index of the line that bound it."""
    born: int = -1
    """Index of the Wrapper IR line; -1 for the start of the call."""
    died: int | None = None
    """Index of the line after which it is freed, one beyond the last if with the call; None if it is returned."""
    lives: list[tuple[int, int | None]] = []
    """Intervals of ticks in which it is held; several if only one of two branches drops it."""

    def is_held(self, tick: int) -> bool:
        """True if a name refers to it after the line that was played at this tick."""
        return any(first <= tick and (last is None or tick < last) for first, last in self.lives)


class Storages:
    """All storages: a storage lives while a name refers to it. Sizes are rounded up to whole blocks."""

    def __init__(self, block: int = 1) -> None:
        self._block = block
        self.live = 0
        self.all: list[Storage] = []
        self.now = -1
        """Index of the line that is being played."""
        self.tick = -1
        """Number of lines played before it: those of a loop are played twice."""
        self._references: list[int] = []
        self._of: dict[str, list[int]] = {}
        self._names: list[dict[str, None]] = []
        """The names of each storage: what refers to it, or did."""
        self._before: list[dict[str, list[int] | None]] = []
        """For each open branch, the names that it changed, and what they referred to at its start."""
        self._beyond = 0
        """Number of open branches within more than `_DEEPEST` others; they count as a part of the last of these."""
        self._dropped: set[str] = set()
        """Names that the last branch dropped."""

    def given(self, names: list[str], size: int) -> None:
        """Add memory that the caller passed in, held until all `names` are dropped."""
        self.all.append(Storage(self._rounded(size), "given", list(names), [-1] * len(names), lives=[(-1, None)]))
        self._references.append(len(names))
        self._names.append(dict.fromkeys(names))
        for name in names:
            self._of[name] = [len(self.all) - 1]

    def new(self, size: int, origin: Origin) -> int:
        """Add a storage without a name."""
        self.all.append(Storage(self._rounded(size), origin, born=self.now))
        self._references.append(0)
        self._names.append({})
        return len(self.all) - 1

    def _rounded(self, size: int) -> int:
        return -(-size // self._block) * self._block

    def of(self, name: str | None) -> list[int]:
        """The storages that `name` refers to."""
        return list(self._of.get(name or "", ()))

    def knows(self, name: str) -> bool:
        """True if `name` refers to something, including memory of the caller, which has no storage."""
        return name in self._of

    def bind(self, name: str, storages: list[int]) -> None:
        """Let `name` refer to these storages instead of what it referred to before."""
        for position in storages:
            self._references[position] += 1
            if self._references[position] == 1:
                self.live += self.all[position].bytes
                self.all[position].died = None
                self.all[position].lives.append((self.tick, None))
            if name not in self._names[position]:
                self._names[position][name] = None
                self.all[position].names.append(name)
                self.all[position].named.append(self.now)
        self.drop(name)
        self._note(name)
        self._of[name] = storages

    def _note(self, name: str) -> None:
        """Remember what a name refers to before the innermost open branch changes it."""
        if self._before:
            self._before[-1].setdefault(name, self._of.get(name))

    def drop(self, name: str | None) -> None:
        """Remove `name`."""
        if name in self._of:
            self._note(name)
        for position in self._of.pop(name or "", ()):
            self._references[position] -= 1
            if not self._references[position]:
                self.live -= self.all[position].bytes
                self.all[position].died = self.now
                self.all[position].lives[-1] = self.all[position].lives[-1][0], self.tick

    def drop_storage(self, positions: list[int]) -> None:
        """Remove all names of these storages."""
        for position in positions:
            for name in self._names[position]:
                if position in self._of.get(name, ()):
                    self.drop(name)

    def enter(self) -> None:
        """Enter a branch that may not be taken."""
        if len(self._before) == _DEEPEST:
            self._beyond += 1
        else:
            self._before.append({})

    def leave(self, *, has_other: bool, is_other: bool) -> None:
        """Leave a branch: only what both branches drop is freed. `is_other`: this is the second one; `has_other`: a
        second follows.

        What the first branch allocated does not exist in the second, which allocates its own.
        """
        if self._beyond:
            self._beyond -= 1
            return
        before = self._before.pop() if self._before else {}
        if self._before:
            for name, found in before.items():
                self._before[-1].setdefault(name, found)
        for name in [name for name in before if has_other and before[name] is None]:
            self.drop(name)
        dropped = {name: found for name, found in before.items() if found is not None and name not in self._of}
        for name in sorted(dropped):
            self.bind(name, dropped[name])
        for name in sorted(dropped.keys() & self._dropped) if is_other else ():
            self.drop(name)
        self._dropped = set(dropped)

    def only_of(self, name: str) -> set[int]:
        """The storages that no other name refers to."""
        counts = Counter(self._of.get(name, ()))
        return {position for position, count in counts.items() if self._references[position] == count}

    def keep_only(self, names: set[str]) -> None:
        """Remove all other names."""
        for name in [name for name in self._of if name not in names]:
            self.drop(name)
