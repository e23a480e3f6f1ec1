"""What the key of a cache is made of, in the lines that torch computes it with.

Source: `FxGraphCachePickler.debug_lines` of torch/_inductor/codecache.py, torch 2.6 to 2.15.
"""

import re
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

from inspect_compile.facts import KeyMember

_LINE: Final = re.compile(r"\[(?P<sum>\w+)\] (?P<name>[\w.]+)(?:\[(?P<member>[^]\n]{1,200})\])?(?:: )?")
"""`[sum] name: value`, `[sum] name[member]: value`; the value can have several lines."""
_MOST_PARTS: Final = 64
_MOST_LINES: Final = 2000
"""Maximum number of lines of a graph that are kept of its key."""
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
