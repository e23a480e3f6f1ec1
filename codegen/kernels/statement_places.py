"""Where in a C++ kernel's source the lines are that were written for each of torch's kernel objects.

Its loops use the same names and contain the same lines, so that only the place identifies a line. torch writes one loop
nest after the other: each is found again in the source as a whole and in order.
"""

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from inspect_compile.codegen.kernels.statement_lines import Version

Owners = tuple[Version, ...]
"""The versions that may have written a line; all of one loop nest."""


class Line(NamedTuple):
    """A line of a loop nest as torch wrote it."""

    text: str
    """Without surrounding blanks."""
    may_vanish: bool = False
    """True if torch drops it when the buffer that it stores to is removed."""


class Body(NamedTuple):
    """The innermost statements of a loop nest; positions are lines of the outermost nest."""

    begins: int
    ends: int
    versions: Owners
    spans: tuple[tuple[int, int, Version], ...]
    """For each version: its first line, and the one after its last."""


@dataclass
class Block:
    """One loop nest with everything in it, as it was written."""

    lines: list[Line]
    owners: list[Owners] = field(default_factory=list)
    """The owners of each line."""


def block(lines: Sequence[Sequence[Line]], bodies: Sequence[Body]) -> Block:
    """A loop nest from these entries of torch's buffer, each of some lines, and the bodies in it, in order."""
    owners: list[Owners] = [()] * len(lines)
    begins = 0
    for body, following in itertools.zip_longest(bodies, bodies[1:]):
        ends = len(lines) if following is None else body.ends + _parting(lines[body.ends : following.begins])
        owners[begins:ends] = [body.versions] * (ends - begins)
        for first, last, version in body.spans:
            owners[first:last] = [(version,)] * (last - first)
        begins = ends
    pairs = [(line, whose) for entry, whose in zip(lines, owners, strict=True) for line in entry]
    return Block([line for line, _ in pairs], [whose for _, whose in pairs])


def _parting(lines: Sequence[Sequence[Line]]) -> int:
    """How many of the lines between two bodies belong to the first one's nest: those up to its closing brace."""
    depth = least = parting = 0
    for number, entry in enumerate(lines, 1):
        depth += sum(line.text.count("{") - line.text.count("}") for line in entry)
        if depth <= least:
            least, parting = depth, number
    return parting


def places(source: Sequence[str], blocks: Iterable[Block]) -> dict[int, Owners]:
    """Line number of the source → who may have written it; blocks that are not found as a whole have none.

    Blocks are searched for in order; a template moves them.
    """
    stripped = [line.strip() for line in source]
    starts: dict[str, list[int]] = {}
    for position, text in enumerate(stripped):
        starts.setdefault(text, []).append(position)
    found: dict[int, Owners] = {}
    cursor = 0
    for each in blocks:
        first = next((line.text for line in each.lines if not line.may_vanish), None)
        begins = [] if first is None else starts.get(first, [])
        ahead = bisect.bisect_left(begins, cursor)
        for start in itertools.chain(itertools.islice(begins, ahead, None), itertools.islice(begins, ahead)):
            matched = _matched(stripped, start, each.lines)
            if matched is not None and not found.keys() & {at + 1 for at in matched}:
                found.update((at + 1, each.owners[index]) for at, index in matched.items())
                cursor = max(matched) + 1
                break
    return found


def _matched(source: Sequence[str], start: int, lines: Sequence[Line]) -> dict[int, int] | None:
    """Position in the source → position of the line there, if all lines follow each other from `start` on."""
    found: dict[int, int] = {}
    at = start
    for index, line in enumerate(lines):
        if at < len(source) and source[at] == line.text:
            found[at] = index
            at += 1
        elif not line.may_vanish:
            return None
    return found
