"""What passes made of a graph's results, and of the inputs that it changes: the graph before them, run beside."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.errors import exactly_apart
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.graphs.shared import overwritten
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs, compared_with_eager
from inspect_compile.lowering.intervention.numerics.left_behind.edited import by_edit, constants_of, first_apart
from inspect_compile.lowering.intervention.numerics.left_behind.left import (
    InputsCheck,
    OwnResults,
    Pair,
    sharers,
    with_sharing,
)
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.results import Left, Place, Results

Compared = Callable[[Any], Checked]
"""The row of a value that is left at a place."""
_OVERWRITTEN: Final = "a part of an input that the graph changes, which has no exact value"


class Passes:
    """What a graph leaves behind after each of the passes over it."""

    def __init__(self, levels: Sequence[Level], run: Callable[[GraphModule], Results], last: str) -> None:
        """`levels` begins with the graph before the passes; `run` gives what is compared of one of these graphs. `last`
        is the level that is blamed if no pass is.
        """
        self._levels, self._run, self._last = levels, run, last
        self._ran: dict[int, Results] = {}
        """Position of a level → its results."""
        self._exacts: dict[int, Exacts] = {}
        """The same → its values in fp64."""

    def blamed(self, row: Checked, place: Place, compared: Compared) -> Checked:
        """`row` with the first pass after which what is at this place is as wrong as it is."""
        for position in range(1, len(self._levels)):
            try:
                left = self._results(position).left
            except torch.OutOfMemoryError:  # says nothing of the pass
                break
            except RuntimeError as error:  # such as a copy within one memory, which the pass before did not need
                error.__traceback__ = None
                return self._by(position, row, place)
            if verdict(compared(place.of(left))) == WRONG:
                return self._by(position, row, place)
        return with_fields(row, level=self._last)

    def in_fp64(self, row: Checked, place: Place, known: Any, constants: set[str]) -> Checked:
        """`row`, wrong if a pass made another function of the result at this place, whose exact value before them is
        `known`: see `first_apart`. `constants` are those of the graph before them.
        """
        found = first_apart(len(self._levels) - 1, lambda position: self._apart(position, place, known, constants))
        if found is None:
            return row
        position, distance = found
        return with_fields(self._by(position, row, place), exact_apart=distance)

    def sharing(
        self, row: Checked, pairs: set[Pair], pairs_after: Callable[[GraphModule], set[Pair]]
    ) -> Checked | None:
        """`row`, wrong by the first pass after which its result shares memory as in one of `pairs`; None if it is none.
        `pairs_after` gives those that share memory in one of the graphs.
        """
        for position, level in enumerate(self._levels[1:], start=1):
            if any(buffer == row.buffer for buffer, _ in pairs_after(level.module) & pairs):
                return self._by(position, with_sharing(row, pairs, level.name), *sharers(row.buffer, pairs))
        return None

    def passed(self, at: int) -> None:
        """The result at that position is not asked for any more."""
        for position, exact in self._exacts.items():
            node = results_of(self._ran[position].module)[at]
            if isinstance(node, Node):
                exact.passed(node.name)

    def _by(self, position: int, row: Checked, *places: Place) -> Checked:
        return by_edit(row, self._levels[position - 1], self._levels[position], *places)

    def _results(self, position: int) -> Results:
        if position not in self._ran:
            self._ran[position] = self._run(self._levels[position].module)
        return self._ran[position]

    def _apart(self, position: int, place: Place, known: Any, constants: set[str]) -> float:
        """How far the exact value of a result is from `known` after a pass; 0 if it is not known. What a pass computes
        beforehand in a half type is rounded as it would be later.
        """
        ran = self._results(position)
        nodes = results_of(ran.module)
        node = nodes[place.at]
        if not isinstance(node, Node) or not constants_of(ran.module) <= constants:
            return 0.0
        if position not in self._exacts:
            names = {one.name for one in nodes if isinstance(one, Node)}
            self._exacts[position] = Exacts(ran.module, lambda: ran.for_exact, (), {}, names)
        exact = self._exacts[position].of()
        value = exact.value(node.name)
        return 0.0 if exact.taken.get(node.name) or value.shape != known.shape else exactly_apart(value, known)


class PassesCheck:
    """Compares what a graph leaves behind in one call before passes with what it leaves behind after them."""

    def __init__(
        self,
        row: Checked,
        before: Results,
        passes: Passes,
        own: OwnResults,
        random: str,
        *,
        always_exact: bool,
        first: int = 0,
    ) -> None:
        """`row` says which call of which graph is compared, and at which levels; `before` is what the graph leaves
        behind before the passes, and `own` what the compiled code gives. `random` is why results that depend on random
        numbers are not compared. For `always_exact` see `compared_graphs`. The results that the compiled code computes
        begin at the position `first`.
        """
        self.row = row
        """A row without a value: which call of which graph is compared, and at which levels."""
        self._before, self._passes, self._own = before, passes, own
        self._why_random, self._always_exact, self._first = random, always_exact, first
        module = before.module
        self._random = depends_on_random(module)
        self._overwritten = overwritten(module, before.args)
        self.nodes = results_of(module)[first:]
        """The nodes of the results, and what is no node."""
        names = {one.name for one in self.nodes if isinstance(one, Node)}
        self._exact = Exacts(module, lambda: before.for_exact, (), {}, names)
        self.changes = InputsCheck(before, self._exact, always_exact=always_exact)
        """Compares the inputs that the graph changes."""

    def is_random(self, node: Node | None) -> bool:
        """True for a node whose value depends on random numbers."""
        return node is not None and node.name in self._random

    def is_compared(self, at: int) -> bool:
        """True if the result at that position is compared."""
        return isinstance(self.nodes[at], Node) and not self.is_random(self.nodes[at])

    def results(self, after: Left, names: Sequence[str]) -> list[Checked]:
        """A row for each result. `after` is what the graph leaves behind after the passes, and `names` are the nodes of
        its results there; empty for one that is no node.
        """
        rows = []
        for at, (node, name) in enumerate(zip(self.nodes, names, strict=False)):
            if not isinstance(node, Node) or not name:
                continue
            row = with_fields(self.row, buffer=f"result {at}", node=name)
            if self.is_random(node):
                rows.append(with_fields(row, reason=self._why_random))
                continue
            compared, place = functools.partial(self.compared, row, at), Place(at)
            row = compared(place.of(after))
            if verdict(row) == WRONG:
                row = self._own.mended(self.blamed(row, place, compared), place, compared)
            elif verdict(row) not in (EXACT, NOT_COMPARABLE) and node not in self._overwritten:
                row = self._in_fp64(row, place, node.name)
            rows.append(row)
            self._exact.passed(node.name)
            self._passes.passed(at + self._first)
        return rows

    def inputs(self, after: Mapping[int, Any], names: Mapping[str, str], *, is_own: bool = True) -> list[Checked]:
        """A row for each input, by its position, that is changed to what it is `after` the passes. `names` has the node
        that changes it there. `is_own`: the compiled code has it at the same position.
        """
        rows = []
        for at, value in after.items():
            name = self.changes.names[at]
            row = with_fields(self.row, buffer=name, node=names.get(name, name))
            if self.is_random(self.changes.writer(at)):
                rows.append(with_fields(row, reason=self._why_random))
                continue
            compared, place = functools.partial(self.changes.compared, row, at), Place(at, is_input=True)
            row = compared(value)
            if verdict(row) == WRONG:
                row = self._own.mended(self.blamed(row, place, compared), place if is_own else None, compared)
            rows.append(row)
        return rows

    def compared(self, row: Checked, at: int, value: Any) -> Checked:
        """`row` with how near `value` is to the result at that position before the passes."""
        node = self.nodes[at]
        if node in self._overwritten and node.name in self.changes.names:
            return self.changes.compared(row, self.changes.names.index(node.name), value)
        if node in self._overwritten:
            return compared_with_eager(row, value, self._before.last[at + self._first], _OVERWRITTEN)
        eager = self._before.value(node.name)
        return compared_graphs(row, value, eager, node.name, self._exact, always_exact=self._always_exact)

    def blamed(self, row: Checked, place: Place, compared: Compared) -> Checked:
        """`row` with the first pass after which what is at this place of the compiled code is as wrong as it is."""
        return self._passes.blamed(row, self._in_graph(place), compared)

    def _in_fp64(self, row: Checked, place: Place, name: str) -> Checked:
        exact = self._exact.of()
        if not exact.rounds_to_half(name):
            return row
        known = exact.value(name)
        if exact.taken.get(name):
            return row
        return self._passes.in_fp64(row, self._in_graph(place), known, constants_of(self._before.module))

    def _in_graph(self, place: Place) -> Place:
        """Where the graphs have what the compiled code has at this place."""
        return place if place.is_input else Place(place.at + self._first)
