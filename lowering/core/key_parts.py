"""The keys of torch's caches: what each is made of, from the lines that torch computes with it."""

import re
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

from inspect_compile.facts import Fact, KeyMember, KeyPart
from inspect_compile.probe import Probes

_LINE = re.compile(r"\[(?P<sum>\w+)\] (?P<name>[\w.]+)(?:\[(?P<member>[^]\n]{1,200})\])?(?:: )?")
"""`[sum] name: value`, `[sum] name[member]: value`; the value can have several lines."""
_MOST_PARTS: Final = 64
_MOST_LINES: Final = 2000
"""Maximum number of lines of a graph that are kept of its key."""
_MOST_MEMBERS: Final = 100_000
"""Maximum number of members that are kept of all keys of a process; of later parts only the checksums are."""
_LONGEST: Final = 500
"""Length of a value that is kept."""


class KeyPartLines(NamedTuple):
    """The lines of one part of a key: member, checksum and value of each."""

    lines: list[tuple[str, str, str]]

    @property
    def checksum(self) -> str:
        """Of the part as a whole, which is a list or a dictionary where it has several lines."""
        if len(self.lines) == 1:
            return self.lines[0][1][:12]
        return f"{zlib.crc32(' '.join(checksum for _, checksum, _ in self.lines).encode()):08x}"

    def members(self) -> dict[str, KeyMember]:
        """Name or index → the member; of a single value that has lines, such as the code of a graph, its lines."""
        if len(self.lines) > 1:
            return {name: KeyMember(checksum[:12], _shortened(value)) for name, checksum, value in self.lines}
        name, checksum, value = self.lines[0]
        if "\n" not in value:
            return {name: KeyMember(checksum[:12], _shortened(value))}
        texts = [line for line in map(str.strip, value.split("\n")) if line][:_MOST_LINES]
        return {
            str(index): KeyMember(f"{zlib.crc32(line.encode()):08x}", _shortened(line))
            for index, line in enumerate(texts, 1)
        }


def parts(lines: Iterable[str]) -> dict[str, KeyPartLines]:
    """The parts of a key by their names, from torch's lines."""
    found: dict[str, KeyPartLines] = {}
    for line in lines:
        match = _LINE.match(line)
        if match is None or (match["name"] not in found and len(found) == _MOST_PARTS):
            continue
        one = (match["member"] or "", match["sum"], line[match.end() :])
        found.setdefault(match["name"], KeyPartLines([])).lines.append(one)
    return found


def _shortened(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"


class RecordedParts:
    """The parts that the dump has: most are the same in all keys of a process."""

    def __init__(self) -> None:
        self.forget()

    def facts(self) -> list[Fact]:
        """Empty: each part is recorded when it is first met."""
        return []

    def forget(self) -> None:
        """Another dump begins: nothing is recorded in it yet."""
        self._recorded: set[tuple[str, str]] = set()
        self._members = 0

    def record(self, probes: Probes, found: dict[str, KeyPartLines]) -> dict[str, str]:
        """Record the parts that the dump does not have. Returns part → checksum."""
        checksums = {name: part.checksum for name, part in found.items()}
        for one in checksums.items():
            if one not in self._recorded and self._members < _MOST_MEMBERS:
                self._recorded.add(one)
                name, checksum = one
                members = found[name].members()
                self._members += len(members)
                probes.sink.add(KeyPart(name=name, checksum=checksum, members=members))
        return checksums


PARTS = RecordedParts()
"""The parts of this process."""
