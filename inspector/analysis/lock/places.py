"""Where in the program a difference is annotated: at the line that is new, else where the changed thing comes from."""

from collections.abc import Iterable
from typing import NamedTuple

from inspect_compile.analysis.lock.contract import Compiled
from inspect_compile.analysis.lock.evidence import Evidence
from inspect_compile.analysis.lock.records import FrameLock, Lock
from inspect_compile.facts import Location


class Place(NamedTuple):
    """A line, and why it is that one."""

    where: Location | None
    why: str
    is_new: bool
    """True if the contract does not know the line."""


class Places:
    """The lines of what was compiled now, and those that a contract does not know."""

    def __init__(self, old: Lock, now: Compiled) -> None:
        self._now = now
        self._new: dict[str, list[Location]] = {}
        known = {digest for frame in old.frames for digest in frame.lines.split()}
        named = {_function(frame) for frame in old.frames}
        for name, lines in now.lines.items():
            if name.partition(" after ")[0] in named:
                self._new[name] = [at for digest, at in lines.items() if digest not in known]

    def of_label(self, owner: str, metric: str, label: str) -> Place:
        """The place that the dump has for a label itself."""
        found = self._now.evidence.get((owner, metric, label), Evidence())
        return Place(found.where, found.why, False)

    def marked(self, frame: str, place: Place) -> Place:
        """The place, and whether its line is new."""
        return place._replace(is_new=any(_same(place.where, at) for at in self._new.get(frame, [])))

    def of_frame(self, name: str) -> Place:
        """A new line of the frame, else its definition."""
        new = self._new.get(name)
        return Place(new[0], "", True) if new else Place(self._now.places.get(name), "", False)

    def best(self, frame: str, candidates: Iterable[Place]) -> Place:
        """A candidate on a new line; else the new line that is nearest to the first one; else that."""
        found = [one for one in candidates if one.where is not None]
        new = self._new.get(frame, [])
        why = next((one.why for one in found if one.why), "")
        for one in found:
            if any(_same(one.where, at) for at in new):
                return Place(one.where, one.why or why, True)
        if new and found:
            return Place(min(new, key=lambda at: _distance(at, found[0].where)), why, True)
        if new:
            return Place(new[0], why, True)
        if found:
            return Place(found[0].where, why, False)
        return Place(self._now.places.get(frame), why, False)


def _function(frame: FrameLock) -> str:
    return frame.name.partition(" after ")[0]


def _same(a: Location | None, b: Location) -> bool:
    return a is not None and (a.file, a.line) == (b.file, b.line)


def _distance(a: Location, b: Location | None) -> tuple[bool, int]:
    return (True, 0) if b is None else (a.file != b.file, abs(a.line - b.line))
