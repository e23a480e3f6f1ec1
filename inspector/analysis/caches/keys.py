"""What two keys of a cache differ in, part by part."""

import itertools
from collections.abc import Iterator
from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, KernelLookup, KeyMember, KeyPart

GRAPH: Final = "gm"
"""torch's name for the part of a key that is the graph."""
SOURCE: Final = "source"
"""The part of a kernel's key that is its source."""
_LINES: Final = (GRAPH, SOURCE)
"""Parts whose members are lines: where one differs, all after it may."""
_MOST_MEMBERS: Final = 20

Members = dict[str, KeyMember]

Lookup = CacheLookup | KernelLookup


class KeyDifference(msgspec.Struct, frozen=True):
    """Something that is not the same in two keys."""

    part: str
    """torch's name of the part: `gm` is the graph, `inductor_config` the settings."""
    member: str = ""
    """The setting, input or argument in it, of a graph the first line that differs; empty for the part as a whole."""
    before: str | None = None
    """Its value in the earlier key; None if the earlier key does not have it, or if it is not known."""
    after: str | None = None


class Parts:
    """The parts of keys that a dump knows the members of."""

    def __init__(self, dump: Dump) -> None:
        self._found: dict[tuple[str, str], Members] | None = None
        self._dump = dump

    def members(self, name: str, checksum: str | None) -> Members | None:
        """Those of one part; None if they are not known."""
        if self._found is None:  # read when it is asked for: most lookups differ from none
            self._found = {(row.name, row.checksum): row.members for row in self._dump.rows(KeyPart)}
        return None if checksum is None else self._found.get((name, checksum))


def differing(before: Lookup, after: Lookup) -> tuple[str, ...]:
    """The names of the parts whose checksums differ."""
    names = dict.fromkeys((*before.components, *after.components))
    return tuple(name for name in names if before.components.get(name) != after.components.get(name))


def differences(before: Lookup, earlier: Parts, after: Lookup, parts: Parts) -> tuple[KeyDifference, ...]:
    """What differs between two keys; of a part with many members the first ones that do."""
    return tuple(
        one
        for name in differing(before, after)
        for one in _in_part(
            name,
            earlier.members(name, before.components.get(name)),
            parts.members(name, after.components.get(name)),
        )
    )


def _in_part(name: str, before: Members | None, after: Members | None) -> Iterator[KeyDifference]:
    found = [] if before is None or after is None else [*_members(before, after)]
    if not found:
        yield KeyDifference(name)
    for member in found[: 1 if name in _LINES else _MOST_MEMBERS]:
        yield KeyDifference(name, member, *(_value(members, member) for members in (before, after)))


def _members(before: Members, after: Members) -> Iterator[str]:
    """The members that differ, in the order of the later key."""
    for member in itertools.chain(after, (member for member in before if member not in after)):
        old, new = before.get(member), after.get(member)
        if old is None or new is None or old.checksum != new.checksum:
            yield member


def _value(members: Members | None, member: str) -> str | None:
    one = (members or {}).get(member)
    return None if one is None else one.value
