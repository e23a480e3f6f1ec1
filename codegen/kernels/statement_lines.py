"""Finds in a kernel's source what was written during its generation. Plain values in, plain values out.

A C++ source has several versions of a body, and several bodies, whose lines may be equal: `statement_places` says which
versions can have written the line at a place. Lines of one version are contiguous: an ambiguous line belongs to the
version of the lines around it.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, NamedTuple

from inspect_compile.codegen.kernels.operation_counts import Computed, Node
from inspect_compile.knowledge.kernels.statement_forms import assigned, is_statement

_SHORTEST: Final = 3
"""Minimum length of a line that is distinctive."""

_ACCUMULATOR: Final = re.compile(r"\baccum(\d{1,9})\b")
_ACCUMULATES: Final = "partial_accumulate"
_TAIL: Final = re.compile(r"\b(x\d+)_tail\b")
_ARRAY: Final = re.compile(r"\b(\w+)_arr\[[^\[\]]*\]")
"""The name that torch gives a loop variable and an accumulator in a scalar tail, after its statements are written."""

_STRANGE: Final = 1
_CHANGE: Final = 3
"""Cost of assigning a line to a version that did not write it, and of switching to another version."""


@dataclass(slots=True)
class _Written:
    """What one text belongs to."""

    operator: str
    times: list[tuple[int, Node | None]]
    """Each time that it was written: into which of the buffers that make up a C++ body, by their order, -1 for any
    other one, and for which node.
    """

    @property
    def nodes(self) -> set[Node]:
        """The nodes that it was written for."""
        return {node for _, node in self.times if node is not None}

    def in_order(self) -> list[Node | None]:
        """The node of each place that it has in the body, if nothing was dropped."""
        return [node for section, node in sorted(self.times, key=itemgetter(0)) if section >= 0]


@dataclass(slots=True)
class Version:
    """What was written for one of torch's kernel objects."""

    operation: str = ""
    """The scheduler node that is being generated."""
    scheduled: Callable[[], Any] = field(default=lambda: None, repr=False, compare=False)
    """A weak reference to it."""
    is_cpp: bool = False
    """A C++ kernel, whose body torch puts together from several buffers."""
    operations: dict[str, None] = field(default_factory=dict)
    lines: dict[str, _Written] = field(default_factory=dict)
    """By line, without surrounding blanks."""
    variables: dict[str, set[Node]] = field(default_factory=dict)
    """Variable → the nodes that asked for it."""
    computed: Computed = field(default_factory=Computed)

    def write(self, text: str, node: Node | None, operator: str, section: int = -1) -> None:
        """A line was written; `section` is the position of its buffer among those of a body, -1 for any other."""
        if self.operation:
            self.operations[self.operation] = None
        lines = self.lines
        for line in text.split("\n") if "\n" in text else (text,):
            stripped = line.strip()
            if len(stripped) < _SHORTEST:
                continue  # a brace
            known = lines.get(stripped)
            if known is None:
                lines[stripped] = _Written(operator, [(section, node)])
            else:
                known.times.append((section, node))

    def ask(self, name: str, node: Node | None) -> None:
        """An operation of `node` computes the variable's value."""
        if node is not None:
            self.variables.setdefault(name, set()).add(node)


@dataclass
class LineOrigins:
    """The lines of a source."""

    lines: list[tuple[int, str, set[Node]]]
    """Line number, operator, nodes."""
    unmapped: list[int]
    """Statements whose origin is not known."""


_Writers = dict[int, _Written]
"""Index of a version → what it wrote there."""


class _Index:
    """What several versions wrote, by line and by assigned variable."""

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = versions
        self._owned: dict[int, frozenset[int]] = {}
        """Owners of a place, by identity → their indices."""
        self._lines: dict[str, _Writers] = {}
        for index, version in enumerate(versions):
            for line, written in version.lines.items():
                known = self._lines.get(line)
                if known is None:
                    self._lines[line] = {index: written}
                else:
                    known[index] = written

    def writers(self, line: str, names: tuple[str, ...], owners: Sequence[Version] | None) -> _Writers:
        """The versions that can have written a line of the source that assigns to `names`; only of `owners` if these
        are known.
        """
        found = self._of(owners, self._lines.get(line))
        if not found and "_tail" in line:
            found = self._of(owners, self._lines.get(_TAIL.sub(r"\1", _ARRAY.sub(r"\1", line))))
        if not found and names:
            found = self._of(owners, self._variables.get(names[0]))
        return found

    def _of(self, owners: Sequence[Version] | None, writers: _Writers | None) -> _Writers:
        if owners is None or not writers:
            return writers or {}
        own = self._owned.get(id(owners))
        if own is None:
            own = frozenset(index for index, version in enumerate(self._versions) if _is_one(version, owners))
            self._owned[id(owners)] = own
        return {index: written for index, written in writers.items() if index in own}

    @functools.cached_property
    def _variables(self) -> dict[str, _Writers]:
        """By variable: the rest of a line that assigns to it may change after it was written."""
        found: dict[str, _Writers] = {}
        for index, version in enumerate(self._versions):
            for line, written in version.lines.items():
                for name in assigned(line):
                    found.setdefault(name, {})[index] = written
        return found


class _Line(NamedTuple):
    """A line of the source, and the versions that can have written it."""

    number: int
    names: tuple[str, ...]
    """The variables that it assigns to."""
    writers: _Writers


def lines_of(
    source: Sequence[str],
    versions: Sequence[Version],
    accumulators: Sequence[Node | None] = (),
    places: Mapping[int, Sequence[Version]] | None = None,
) -> LineOrigins:
    """What each line of `source` belongs to. `accumulators` are the nodes of `accum0`, `accum1`, ….

    `places`: line number → the only versions that can have written it; lines without entry can be of any.
    """
    places = places or {}
    versions = [*versions, *_others(versions, places)]
    found, index = LineOrigins([], []), _Index(versions)
    candidates: list[_Line] = []
    for number, text in enumerate(source, 1):
        line = text.strip()
        names = assigned(line)
        writers = index.writers(line, names, places.get(number))
        if writers:
            candidates.append(_Line(number, names, writers))
        elif names or is_statement(line):
            found.unmapped.append(number)
    own = _chosen(candidates, versions)
    exact = _one_by_one(candidates, own) if places else {}
    for candidate, chosen in zip(candidates, own, strict=True):
        found.lines.append((candidate.number, *_whose(candidate, chosen, versions, exact.get(candidate.number))))
    return _accumulated(found, source, accumulators) if accumulators else found


def _is_one(version: Version, owners: Sequence[Version]) -> bool:
    return any(version is owner for owner in owners)


def _others(versions: Sequence[Version], places: Mapping[int, Sequence[Version]]) -> list[Version]:
    """The versions that only `places` names."""
    known = {id(version) for version in versions}
    named = {id(owner): owner for owners in places.values() for owner in owners}
    return [owner for key, owner in named.items() if key not in known]


def _accumulated(found: LineOrigins, source: Sequence[str], accumulators: Sequence[Node | None]) -> LineOrigins:
    """Lines that nobody wrote belong to the accumulator that is named next: torch writes it at the end of the loop."""
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
    return LineOrigins(lines, unmapped + waiting)


def _one_by_one(lines: Sequence[_Line], chosen: Sequence[int]) -> dict[int, Node]:
    """Line number → the node that it is of, among lines of one version with the same text, which operations wrote one
    after the other: the order of the places is that of the writing, if there are as many.
    """
    places: dict[int, list[int]] = {}
    texts: dict[int, _Written] = {}
    for line, index in zip(lines, chosen, strict=True):
        written = line.writers[index]
        texts[id(written)] = written
        places.setdefault(id(written), []).append(line.number)
    found: dict[int, Node] = {}
    for key, numbers in places.items():
        nodes = texts[key].in_order() if len(numbers) > 1 else []
        if len(nodes) == len(numbers):
            found.update((number, node) for number, node in zip(numbers, nodes, strict=True) if node is not None)
    return found


def _whose(line: _Line, index: int, versions: Sequence[Version], exact: Node | None = None) -> tuple[str, set[Node]]:
    """Operator and nodes of a line, if the version at `index` wrote it; `exact` is the node that wrote it there."""
    written, variables = line.writers[index], versions[index].variables
    asked = [nodes for name in line.names if (nodes := variables.get(name)) is not None]
    return written.operator, (written.nodes if exact is None else {exact}).union(*asked)


def _chosen(lines: list[_Line], versions: Sequence[Version]) -> list[int]:
    """The version of each line: the cheapest path through all of them."""
    if all(len(line.writers) == 1 or _is_plain(line, versions) for line in lines):
        return [min(line.writers) for line in lines]
    cost = dict.fromkeys(sorted({index for line in lines for index in line.writers}), 0)
    came: list[tuple[int, set[int]]] = []
    """For each line: the cheapest version before it, and those that are cheaper to reach from there than by staying."""
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
    """True if all versions that can have written it agree."""
    first, *others = line.writers
    said = _whose(line, first, versions)
    return all(_whose(line, other, versions) == said for other in others)
