"""Where the lines of an earlier compile are now: from the stacks of the Dynamo graph at hand, node by node."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from inspect_compile.facts import CallSite, Location
from inspect_compile.kept.entry import Entry

Frame = tuple[str, int, str]
"""File, line, function."""

_TEXT: Final = rb'"((?:[^"\\]|\\.)*+)"'
_LOCATION: Final = re.compile(
    rb'\{"file":%b,"line":-?\d++(?:,"function":%b)?(?:,"code":%b)?(?:,"site":\d++)?(?:,"module":%b)?\}'
    % (_TEXT, _TEXT, _TEXT, _TEXT)
)
"""A Location in a row. Quotes in texts are escaped, so nothing else looks like one."""
_COMMENT: Final = re.compile(rb"(File: )([^\n]{1,1000}?):(\d{1,9})( in )([^\s,]{1,1000})(, code: )([^\n]*)")
"""A line of the program in the text of an FX graph."""


class UnplacedError(ValueError):
    """It is not known where a line is now."""


class Moved:
    """The lines of a kept compile → those of this run.

    `record(frames, above)` returns the number that this run has for the last of the frames, which the site `above`
    called. `caller` is the line that called the compiled function in this run. Raises UnplacedError if the stacks do
    not lead from each old line to one new line.
    """

    def __init__(
        self,
        entry: Entry,
        nodes: Sequence[tuple[str, int]],
        stacks: Sequence[tuple[Location, ...]],
        caller: Location | None,
        record: Callable[[Sequence[Location], int], int],
    ) -> None:
        self._record = record
        self._old_caller, self._caller = entry.caller, caller
        self._at = _paired(entry, nodes, stacks)
        self._moved = {frame[0] for frame, now in self._at.items() if (now.file, now.line, now.function) != frame}
        """Files in which a line is no longer where it was: what is not known of them is not known."""
        self._sites = {row.site: row for row in entry.sites}
        self._numbers = {0: 0}
        """Old site → new one."""
        self._known: dict[bytes, bytes] = {}

    @property
    def is_same(self) -> bool:
        """Whether every line is where it was."""
        return not self._moved

    def rows(self, data: bytes) -> bytes:
        """The rows of a table, with the lines of this run."""
        return _LOCATION.sub(self._location, data)

    def text(self, data: bytes) -> bytes:
        """The text of an FX graph, with the lines of this run."""
        return data if self.is_same else _COMMENT.sub(self._comment, data)

    def _location(self, match: re.Match[bytes]) -> bytes:
        old = match[0]
        new = self._known.get(old)
        if new is None:
            where = msgspec.json.decode(old, type=Location)
            new = self._known[old] = msgspec.json.encode(self._placed(where))
        return new

    def _placed(self, where: Location) -> Location:
        if self._old_caller is not None and where.site == self._old_caller.site:
            if self._caller is None:
                raise UnplacedError("the line that called the compiled function is not known")
            return self._caller
        now = self._now(where.file, where.line, where.function, where.code)
        return Location(now.file, now.line, now.function, now.code, self._number(where.site), module=where.module)

    def _now(self, file: str, line: int, function: str, code: str) -> Location:
        found = self._at.get((file, line, function))
        if found is not None:
            return found
        if file in self._moved:
            raise UnplacedError(f"{file} has changed, and its line {line} is on no node's stack")
        return Location(file, line, function, code)

    def _number(self, site: int) -> int:
        """This run's number of a call."""
        frames: list[CallSite] = []
        root = 0 if self._old_caller is None else self._old_caller.site
        above = site
        while above not in self._numbers and above != root and above in self._sites and len(frames) <= len(self._sites):
            frames.append(self._sites[above])
            above = self._sites[above].caller
        number = self._numbers.get(above, 0)
        if above == root and root:
            number = 0 if self._caller is None else self._caller.site
        for row in reversed(frames):
            number = self._record([self._now(row.file, row.line, row.function, row.code)], number)
            self._numbers[row.site] = number
        return number

    def _comment(self, match: re.Match[bytes]) -> bytes:
        head, file, line, middle, function, code, source = match.groups()
        now = self._now(file.decode("utf-8", "replace"), int(line), function.decode("utf-8", "replace"), "")
        # torch prints at most so much of the line of code
        text = now.code.encode() or source
        text = text if not source.endswith(b"...") else source
        return b"%b%b:%d%b%b%b%b" % (head, now.file.encode(), now.line, middle, now.function.encode(), code, text)


def _paired(
    entry: Entry, nodes: Sequence[tuple[str, int]], stacks: Sequence[tuple[Location, ...]]
) -> dict[Frame, Location]:
    """Each frame on a stack of the kept graph → the frame at its place on the stack of the same node now."""
    if [name for name, _ in entry.nodes] != [name for name, _ in nodes]:
        raise UnplacedError("the new graph names its nodes differently")
    found: dict[Frame, Location] = {}
    for old, new in {(one[1], other[1]) for one, other in zip(entry.nodes, nodes, strict=True)}:
        if (old < 0) != (new < 0):
            raise UnplacedError("a node has a stack in only one of the two graphs")
        if old < 0:
            continue
        before, after = entry.stacks[old], stacks[new]
        if len(before) != len(after):
            raise UnplacedError("a node is reached by other calls now")
        for was, now in zip(before, after, strict=True):
            frame = was.file, was.line, was.function
            if found.setdefault(frame, now) != now:
                raise UnplacedError(f"line {was.line} of {was.file} has become several lines")
    return found
