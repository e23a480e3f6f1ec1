"""Finds what was written while a kernel was generated again in its source. Plain values in, plain values out.

C++ has several versions of a body in one source, and several bodies, whose lines may read alike: `statement_places`
tells which versions can have written the line at a place. The lines of one version stand together there: one that could
still be of several is of the one that the lines around it are of.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from inspect_compile.codegen.operation_counts import Computed, Node
from inspect_compile.knowledge.statement_forms import assigned, is_statement

_SHORTEST: Final = 3
"""Characters of a line that says something."""

_ACCUMULATOR: Final = re.compile(r"\baccum(\d{1,9})\b")
_ACCUMULATES: Final = "partial_accumulate"
_TAIL: Final = re.compile(r"\b(x\d+)_tail\b")
_ARRAY: Final = re.compile(r"\b(\w+)_arr\[[^\[\]]*\]")
"""What torch renames a loop's variable, and an accumulator, to in a scalar tail, once its statements are written."""

_STRANGE: Final = 1
_CHANGE: Final = 3
"""What it costs to take a line for one of a version that did not write it, and to go on to another version."""


@dataclass
class _Written:
    """What one text is of."""

    operator: str
    nodes: set[Node] = field(default_factory=set)


@dataclass
class Version:
    """What was written for one of torch's kernels."""

    operation: str = ""
    """The scheduler node that is generated."""
    operations: dict[str, None] = field(default_factory=dict)
    lines: dict[str, _Written] = field(default_factory=dict)
    """By the line, without blanks around it."""
    variables: dict[str, set[Node]] = field(default_factory=dict)
    """Variable → the nodes that asked for it."""
    computed: Computed = field(default_factory=Computed)

    def write(self, text: str, node: Node | None, operator: str) -> None:
        """A line was written."""
        if self.operation:
            self.operations[self.operation] = None
        for line in text.split("\n") if "\n" in text else (text,):
            stripped = line.strip()
            if len(stripped) < _SHORTEST:
                continue  # a brace
            known = self.lines.get(stripped)
            if known is None:
                known = self.lines[stripped] = _Written(operator)
            if node is not None:
                known.nodes.add(node)

    def ask(self, name: str, node: Node | None) -> None:
        """An operation of `node` computes what the variable holds."""
        if node is not None:
            self.variables.setdefault(name, set()).add(node)


@dataclass
class Found:
    """The lines of a source."""

    lines: list[tuple[int, str, set[Node]]]
    """Number, operator, nodes."""
    unmapped: list[int]
    """Statements that nobody is known to have written."""


_Writers = dict[int, _Written]
"""Position of a version → what it wrote there."""


class _Index:
    """What several versions wrote, by the line and by the variable that it assigns to."""

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = versions
        self._lines: dict[str, _Writers] = {}
        for index, version in enumerate(versions):
            for line, written in version.lines.items():
                known = self._lines.get(line)
                if known is None:
                    self._lines[line] = {index: written}
                else:
                    known[index] = written

    def writers(self, line: str, names: tuple[str, ...], owners: Sequence[Version] | None) -> _Writers:
        """Those of a line of the source, which assigns to `names`; of `owners` alone, where they are known."""
        found = self._of(owners, self._lines.get(line))
        if not found and "_tail" in line:
            found = self._of(owners, self._lines.get(_TAIL.sub(r"\1", _ARRAY.sub(r"\1", line))))
        if not found and names:
            found = self._of(owners, self._variables.get(names[0]))
        return found

    def _of(self, owners: Sequence[Version] | None, writers: _Writers | None) -> _Writers:
        if owners is None or not writers:
            return writers or {}
        return {index: written for index, written in writers.items() if _is_one(self._versions[index], owners)}

    @functools.cached_property
    def _variables(self) -> dict[str, _Writers]:
        """The rest of a line that assigns to a variable may change after it was written."""
        found: dict[str, _Writers] = {}
        for index, version in enumerate(self._versions):
            for line, written in version.lines.items():
                for name in assigned(line):
                    found.setdefault(name, {})[index] = written
        return found


class _Line(NamedTuple):
    """A line of the source, and who could have written it."""

    number: int
    names: tuple[str, ...]
    """What it assigns to."""
    writers: _Writers


def lines_of(
    source: Sequence[str],
    versions: Sequence[Version],
    accumulators: Sequence[Node | None] = (),
    places: Mapping[int, Sequence[Version]] | None = None,
) -> Found:
    """What each line of `source` is of. `accumulators`: of which node `accum0`, `accum1`, … each are.

    `places`: number of a line → the versions that alone can have written it; it may be of any where it is not in there.
    """
    places = places or {}
    versions = [*versions, *_others(versions, places)]
    found, index = Found([], []), _Index(versions)
    candidates: list[_Line] = []
    for number, text in enumerate(source, 1):
        line = text.strip()
        names = assigned(line)
        writers = index.writers(line, names, places.get(number))
        if writers:
            candidates.append(_Line(number, names, writers))
        elif names or is_statement(line):
            found.unmapped.append(number)
    for candidate, chosen in zip(candidates, _chosen(candidates, versions), strict=True):
        found.lines.append((candidate.number, *_whose(candidate, chosen, versions)))
    return _accumulated(found, source, accumulators) if accumulators else found


def _is_one(version: Version, owners: Sequence[Version]) -> bool:
    return any(version is owner for owner in owners)


def _others(versions: Sequence[Version], places: Mapping[int, Sequence[Version]]) -> list[Version]:
    """Those that are named by a place alone."""
    known = {id(version) for version in versions}
    named = {id(owner): owner for owners in places.values() for owner in owners}
    return [owner for key, owner in named.items() if key not in known]


def _accumulated(found: Found, source: Sequence[str], accumulators: Sequence[Node | None]) -> Found:
    """What nobody wrote there is of the accumulator that is named next: torch writes it at the end of the loop."""
    lines, unmapped, waiting = list(found.lines), list[int](), list[int]()
    for number in found.unmapped:
        waiting.append(number)
        named = _ACCUMULATOR.search(source[number - 1])
        node = accumulators[int(named[1])] if named is not None and int(named[1]) < len(accumulators) else None
        if node is not None:
            lines += [(line, _ACCUMULATES, {node}) for line in waiting]
            waiting.clear()
        elif named is not None:
            unmapped, waiting = unmapped + waiting, []
    return Found(lines, unmapped + waiting)


def _whose(line: _Line, index: int, versions: Sequence[Version]) -> tuple[str, set[Node]]:
    """Its operator and nodes, where the version at `index` wrote it."""
    written, variables = line.writers[index], versions[index].variables
    asked = [nodes for name in line.names if (nodes := variables.get(name)) is not None]
    return written.operator, written.nodes.union(*asked)


def _chosen(lines: list[_Line], versions: Sequence[Version]) -> list[int]:
    """The version of each line: the cheapest way through all of them."""
    if all(len(line.writers) == 1 or _is_plain(line, versions) for line in lines):
        return [min(line.writers) for line in lines]
    cost = dict.fromkeys(sorted({index for line in lines for index in line.writers}), 0)
    came: list[tuple[int, set[int]]] = []
    """Of each line: the version that was the cheapest before it, and those to which it is cheaper to come from there
    than to have stayed."""
    for line in lines:
        best = min(cost, key=cost.__getitem__)
        changed = cost[best] + _CHANGE
        came.append((best, {index for index, stayed in cost.items() if stayed > changed}))
        writers = line.writers
        cost = {
            index: (stayed if stayed < changed else changed) + (0 if index in writers else _STRANGE)
            for index, stayed in cost.items()
        }
    state = min(cost, key=cost.__getitem__)
    found = []
    for line, (best, comers) in zip(reversed(lines), reversed(came), strict=True):
        found.append(state if state in line.writers else min(line.writers))
        state = best if state in comers else state
    return found[::-1]


def _is_plain(line: _Line, versions: Sequence[Version]) -> bool:
    """Do all that could have written it say the same?"""
    first, *others = line.writers
    said = _whose(line, first, versions)
    return all(_whose(line, other, versions) == said for other in others)
