"""Where in a C++ kernel's source the lines stand that were written for each of torch's kernels.

Its loops use the same names and write the same lines, so that only its place tells whose a line is. torch writes loop
nest after loop nest: what was written then is found again in the source, as a whole and in the same order.
"""

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from inspect_compile.codegen.statement_lines import Version

Owners = tuple[Version, ...]
"""The versions that may have written a line; all of one loop nest."""


class Line(NamedTuple):
    """A line of a loop nest as torch wrote it."""

    text: str
    """Without blanks around it."""
    may_vanish: bool = False
    """Does torch drop it in the end, if the buffer that it stores to was removed?"""


class Body(NamedTuple):
    """The statements that stand innermost in a loop nest; positions among the lines of the outermost nest."""

    begins: int
    ends: int
    versions: Owners
    spans: tuple[tuple[int, int, Version], ...]
    """Those of each version: the first, and the one behind the last."""


@dataclass
class Block:
    """One loop nest with all that is in it, as it was written."""

    lines: list[Line]
    owners: list[Owners] = field(default_factory=list)
    """Of each line."""


def block(lines: Sequence[Sequence[Line]], bodies: Sequence[Body]) -> Block:
    """A loop nest of these entries of torch's buffer, each of some lines, and of the bodies in it, in their order."""
    owners: list[Owners] = [()] * len(lines)
    begins = 0
    for body, following in zip(bodies, [*bodies[1:], None], strict=True):
        ends = len(lines) if following is None else body.ends + _parting(lines[body.ends : following.begins])
        owners[begins:ends] = [body.versions] * (ends - begins)
        for first, last, version in body.spans:
            owners[first:last] = [(version,)] * (last - first)
        begins = ends
    pairs = [(line, whose) for entry, whose in zip(lines, owners, strict=True) for line in entry]
    return Block([line for line, _ in pairs], [whose for _, whose in pairs])


def _parting(lines: Sequence[Sequence[Line]]) -> int:
    """How many of the lines between two bodies are of the nest of the first one: those up to where it is closed."""
    depth = least = parting = 0
    for number, entry in enumerate(lines, 1):
        depth += sum(line.text.count("{") - line.text.count("}") for line in entry)
        if depth <= least:
            least, parting = depth, number
    return parting


def places(source: Sequence[str], blocks: Iterable[Block]) -> dict[int, Owners]:
    """Number of a line of the source → who may have written it; blocks that are not found there as a whole have none.

    Blocks are looked for in their order; a template puts them elsewhere.
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
    """Position in the source → that of the line there, where all lines stand one after the other from `start` on."""
    found: dict[int, int] = {}
    at = start
    for index, line in enumerate(lines):
        if at < len(source) and source[at] == line.text:
            found[at] = index
            at += 1
        elif not line.may_vanish:
            return None
    return found
