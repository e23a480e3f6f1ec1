"""One table of a dump: a file with one fact per line, which may still grow."""

import functools
import operator
from pathlib import Path
from typing import IO, Any, Final

import msgspec
from msgspec.structs import force_setattr

from inspect_compile.dump.call_sites import Callers, locations_in
from inspect_compile.dump.files import file_inside
from inspect_compile.facts import Fact, Lowering, Node, Operation
from inspect_compile.facts.nesting import enclosing

LONGEST_LINE = 64 << 20
"""Maximum length of a line in bytes: no fact comes near it, and a hostile line must not fill the memory."""

MOST_BYTES = 512 << 20
MOST_LINES = 2_000_000
"""Maximum number of lines in all tables of a dump; what is beyond is left out, and that is reported."""

_TAIL = 1000
"""Bytes by which a file is recognized."""

DEEPEST = 32
"""Maximum nesting depth of graphs; a deeper one cannot be genuine."""


_REPEATED: Final = {
    Node: ("graph", "stage", "op", "target", "values", "module", "module_type"),
    Lowering: ("graph", "op", "target", "way", "via", "flops_kind"),
    Operation: ("graph", "phase", "kind", "node_type"),
}
"""Fields of the most frequent facts that have the same value in many rows: one object stands in all of them, which
saves 20 MB of 60 that the facts of 10,000 nodes take.
"""


class Room:
    """How much of one dump's tables may still be read."""

    def __init__(self) -> None:
        self.bytes = MOST_BYTES
        self.lines = MOST_LINES

    @property
    def is_left(self) -> bool:
        """True if anything may be read."""
        return self.bytes > 0 and self.lines > 0


class Table:
    """The rows of one `.jsonl` file, read as far as it has grown."""

    def __init__(
        self, root: Path, path: Path, kinds: tuple[type[Fact], ...], room: Room, callers: Callers | None = None
    ) -> None:
        """`callers` gives the lines in the rows their callers."""
        self._root = root
        self._path = path
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(functools.reduce(operator.or_, kinds))
        self._room = room
        self._callers = callers
        self._repeated = {kind: _REPEATED[kind] for kind in kinds if kind in _REPEATED}
        self._values: dict[object, object] = {}
        """The values of these fields, one of each."""
        self._lines = {kind: locations_in(kind) for kind in kinds} if callers is not None else {}
        self._offset = 0
        self._file = 0
        self._tail = b""
        """Number of the file, and the last bytes that were read: another one may have taken its place, and grown."""
        self.turns = 0
        """How often it was read anew, because another file had taken its place: old compiles were dropped."""
        self.rows: list[Fact] = []
        self.damaged = 0
        """Number of unreadable lines: incomplete in the middle, or not genuine."""
        self.is_cut = False
        """Whether the file has more than is read."""
        self._of_kind: dict[type[Fact], list[Fact]] = {}
        self._of: dict[tuple[type[Fact], str], list[Fact]] = {}
        self._sorted = 0

    def read(self) -> None:
        """Read the complete lines that were added since the last time; an incomplete last line waits."""
        try:
            there = self._path.stat()
            size, number, self._file = there.st_size, self._file, there.st_ino
            if (size, self._file) == (self._offset, number) or (file := file_inside(self._root, self._path)) is None:
                return
            with file:
                if self._offset:
                    file.seek(max(self._offset - len(self._tail), 0))
                    is_same = number == self._file and size >= self._offset
                    if not is_same or file.read(len(self._tail)) != self._tail:
                        self._forget()
                file.seek(self._offset)
                self._read(file)
        except (OSError, ValueError):
            return

    def _forget(self) -> None:
        """Another file has taken the place of the one that was read."""
        self._room.bytes += self._offset
        self._room.lines += len(self.rows) + self.damaged
        self._offset = self.damaged = self._sorted = 0
        self._tail = b""
        self.turns += 1
        self.rows, self._of_kind, self._of = [], {}, {}
        self._values.clear()

    def _read(self, file: IO[bytes]) -> None:
        room, decode, add = self._room, self._decoder.decode, self.rows.append
        end, lines, graph, last = self._offset + room.bytes, room.lines, "", self._tail
        while self._offset < end and lines > 0 and (line := file.readline(LONGEST_LINE)):
            if not line.endswith(b"\n"):
                if len(line) < LONGEST_LINE:
                    break
                self.damaged += 1
                while file.tell() < end and (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                self._offset, last = file.tell(), b""
                continue
            self._offset += len(line)
            last = line
            lines -= 1
            try:
                row = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.damaged += 1
                continue
            if row.graph != graph:  # most rows belong to the same graph as the row above
                if row.graph.count("/") > DEEPEST:
                    self.damaged += 1
                    continue
                graph = row.graph
            if self._callers is not None:
                self._fill_in(row, self._callers)
            for name in self._repeated.get(type(row), ()):
                value = getattr(row, name)
                if (one := self._values.setdefault(value, value)) is not value:
                    force_setattr(row, name, one)
            add(row)
        self._tail = last[-_TAIL:]
        room.bytes, room.lines = end - self._offset, lines
        self.is_cut = not room.is_left

    def _fill_in(self, row: Fact, callers: Callers) -> None:
        for lines in self._lines[type(row)]:
            for where in lines(row):
                if where.site:
                    callers.fill_in(where)

    def all(self, kind: type[Fact]) -> list[Fact]:
        """The rows of one kind."""
        self._sort()
        return self._of_kind.get(kind, [])

    def of(self, kind: type[Fact], graph: str) -> list[Fact]:
        """The rows of one kind for one graph and its nested graphs."""
        self._sort()
        return self._of.get((kind, graph), [])

    def _sort(self) -> None:
        """Sort what was read since the last time into lists, so that each row is visited once."""
        last: tuple[type[Fact] | None, str] = None, ""
        lists: list[list[Fact]] = []
        for row in self.rows[self._sorted :]:
            if (type(row), row.graph) != last:
                last = type(row), row.graph
                lists = self._lists(*last)
            for rows in lists:
                rows.append(row)
        self._sorted = len(self.rows)

    def _lists(self, kind: type[Fact], graph: str) -> list[list[Fact]]:
        """The lists that a row belongs to: of its kind, of its graph and of the enclosing graphs."""
        lists = [self._of_kind.setdefault(kind, []), self._of.setdefault((kind, graph), [])]
        while "/" in graph:
            graph = enclosing(graph)
            lists.append(self._of.setdefault((kind, graph), []))
        return lists
