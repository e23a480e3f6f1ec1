"""Finds what was written while a kernel was generated again in its source. Plain values in, plain values out.

C++ has several versions of a body in one source, and several bodies, whose lines may read alike. The lines of one
version stand together there: a line that could be of several is of the one that the lines around it are of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from inspect_compile.codegen.operation_counts import Computed, Node
from inspect_compile.knowledge.statement_forms import assigned, is_statement

_SHORTEST: Final = 3
"""Characters of a line that says something."""

_ACCUMULATOR: Final = re.compile(r"\baccum(\d{1,9})\b")
_ACCUMULATES: Final = "partial_accumulate"
_TAIL: Final = re.compile(r"\b(x\d+)_tail\b")
"""What torch renames a loop's variable to in a scalar tail, once its statements are written."""

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

    @cached_property
    def by_variable(self) -> dict[str, _Written]:
        """Variable → what assigned it: the rest of such a line may change after it was written."""
        return {name: written for line, written in self.lines.items() for name in assigned(line)}


@dataclass
class Found:
    """The lines of a source."""

    lines: list[tuple[int, str, set[Node]]]
    """Number, operator, nodes."""
    unmapped: list[int]
    """Statements that nobody is known to have written."""


def lines_of(source: Sequence[str], versions: Sequence[Version], accumulators: Sequence[Node | None] = ()) -> Found:
    """What each line of `source` is of. `accumulators`: of which node `accum0`, `accum1`, … each are."""
    found = Found([], [])
    candidates: list[tuple[int, dict[int, tuple[str, set[Node]]]]] = []
    for number, text in enumerate(source, 1):
        line = text.strip()
        names = assigned(line)
        writers = _writers(versions, line) or _writers(versions, _TAIL.sub(r"\1", line))
        if not writers and names:
            writers = {
                index: known
                for index, version in enumerate(versions)
                if (known := version.by_variable.get(names[0])) is not None
            }
        if writers:
            candidates.append((number, {index: _whose(versions[index], names, writers[index]) for index in writers}))
        elif is_statement(line):
            found.unmapped.append(number)
    for (number, writers_of), chosen in zip(candidates, _chosen([writers for _, writers in candidates]), strict=True):
        operator, nodes = writers_of[chosen]
        found.lines.append((number, operator, nodes))
    return _accumulated(found, source, accumulators) if accumulators else found


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


def _writers(versions: Sequence[Version], line: str) -> dict[int, _Written]:
    """Position of a version → what it wrote there, where it did write this line."""
    return {
        index: written for index, version in enumerate(versions) if (written := version.lines.get(line)) is not None
    }


def _whose(version: Version, names: tuple[str, ...], written: _Written) -> tuple[str, set[Node]]:
    return written.operator, written.nodes.union(*(version.variables.get(name, ()) for name in names))


def _chosen(lines: list[dict[int, tuple[str, set[Node]]]]) -> list[int]:
    """The version of each line: the cheapest way through all of them."""
    if all(len(line) == 1 or _is_plain(line) for line in lines):
        return [min(line) for line in lines]
    versions = sorted({index for line in lines for index in line})
    cost = dict.fromkeys(versions, 0)
    came: list[dict[int, int]] = []
    for line in lines:
        best = min(versions, key=cost.__getitem__)
        origin = {index: index if cost[index] <= cost[best] + _CHANGE else best for index in versions}
        came.append(origin)
        cost = {
            index: min(cost[index], cost[best] + _CHANGE) + (0 if index in line else _STRANGE) for index in versions
        }
    state = min(versions, key=cost.__getitem__)
    found = []
    for line, origin in zip(reversed(lines), reversed(came), strict=True):
        found.append(state if state in line else min(line))
        state = origin[state]
    return found[::-1]


def _is_plain(line: dict[int, tuple[str, set[Node]]]) -> bool:
    """Do all that could have written it say the same?"""
    first = next(iter(line.values()))
    return all(other == first for other in line.values())
