"""What the passes made of a graph's results: the graph as it was before them, run beside the one that is lowered."""

import functools
from collections.abc import Callable, Collection, Container, Sequence
from typing import Any, Final

from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import (
    ALL_PASSES,
    BEFORE_PASSES,
    COMPILED,
    LOWERED_GRAPH,
    LOWERING,
    between,
)
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.errors import exactly_apart
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    changed_values,
    depends_on_random,
    results_of,
    viewed,
)
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared, changed_inputs, overwritten
from inspect_compile.lowering.intervention.numerics.inputs import RandomState
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs, compared_with_eager
from inspect_compile.lowering.intervention.numerics.left_behind.edited import (
    constants_of,
    first_apart,
    with_edit,
)
from inspect_compile.lowering.intervention.numerics.left_behind.left import (
    InputsCheck,
    Pair,
    alone,
    changed,
    sharers,
    sharing,
    strides_of,
    with_sharing,
    with_strides,
)
from inspect_compile.lowering.intervention.numerics.left_behind.own_results import OwnResults
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.results import Left, Place, Results
from inspect_compile.lowering.intervention.numerics.values import Plan

_OVERWRITTEN: Final = "a part of an input that the graph changes, which has no exact value"
_RANDOM: Final = "its random numbers are drawn in another way before the passes"


class LevelCheck:
    """Compares the results of one call of a graph before and after the passes."""

    def __init__(
        self,
        plan: Plan,
        levels: Sequence[Level],
        args: Sequence[Any],
        number: int,
        state: RandomState,
        *,
        always_exact: bool,
        shared: Shared,
        own: OwnResults,
        visible: Sequence[int],
        keeps_inputs: bool,
        is_generated: bool,
    ) -> None:
        """`levels` begins with the graph before the passes; for `always_exact` see `compared_graphs`. `shared` has what
        other graphs compute from `args`, and `own` what the compiled code gives. `visible`: positions of the results
        that the program gets in the memory, and with the strides, that the compiled code gives them. `keeps_inputs`:
        the compiled code may change no other inputs than the graph does; a backward uses the memory of saved values.
        `is_generated`: the code was loaded as torch generated it, so that the lowering can be blamed.
        """
        self._own = own
        self._shared = shared
        self._plan = plan
        self._levels = levels
        self._args = args
        self._number = number
        self._state = state
        self._visible = visible
        self._keeps_inputs = keeps_inputs
        self._lowering = LOWERING if is_generated else COMPILED
        self._always_exact = always_exact
        first = levels[0].module
        self._random = depends_on_random(first)
        self._before = before = self._values(first, self._random)
        self._nodes = results_of(first)
        self._overwritten = overwritten(first, args)
        names = {one.name for one in self._nodes if isinstance(one, Node)}
        self._exact = Exacts(first, lambda: before.for_exact, (), {}, names)
        self._inputs = InputsCheck(first, args, before, self._exact, always_exact=always_exact)
        self._later: dict[int, Results] = {}
        """Position of a level → its results."""
        self._exacts: dict[int, Exacts] = {}
        """The same → its values in fp64."""

    def rows(self, plain: Reference, afterwards: Sequence[Any]) -> list[Checked]:
        """A row for each result of the graph that is a tensor, and for each input that it changes. `plain` has the
        values of the graph that is lowered, and `afterwards` are its inputs after it ran.
        """
        found = []
        for at, (before, after) in enumerate(zip(self._nodes, results_of(self._plan.module), strict=False)):
            if not isinstance(before, Node) or not isinstance(after, Node):
                continue
            row = self._row(f"result {at}", after.name, ALL_PASSES, BEFORE_PASSES)
            if before.name in self._random:
                found.append(with_fields(row, reason=_RANDOM))
                continue
            compared = functools.partial(self._compared, row, at)
            row = compared(plain.results[at])
            judged = self._judged(row, Place(at), compared)
            is_apart = verdict(row) not in (EXACT, NOT_COMPARABLE, WRONG) and before not in self._overwritten
            if is_apart and self._exact.of().rounds_to_half(before.name):
                judged = self._in_fp64(judged, at, before.name)
            found.append(judged)
            self._exact.passed(before.name)
        both = changed(self._args, self._before.inputs, afterwards)
        for at in sorted({*both, *(changed_inputs(self._plan.module) or ())}):
            name = self._inputs.names[at]
            row, writer = self._row_of_input(name, ALL_PASSES, BEFORE_PASSES), self._inputs.writer(at)
            if writer is not None and writer.name in self._random:
                found.append(with_fields(row, reason=_RANDOM))
                continue
            compared = functools.partial(self._inputs.compared, row, at)
            found.append(self._judged(compared(afterwards[at]), Place(at, is_input=True), compared))
        return found

    def _judged(self, row: Checked, place: Place, compared: Callable[[Any], Checked]) -> Checked:
        """`row`, which says of what is at this place what `compared` says of values, with the pass that is blamed."""
        if verdict(row) != WRONG:
            return row
        return self._own.mended(self._blamed(row, place, compared), place, compared)

    def launched(
        self, plain: Reference, afterwards: Sequence[Any], left: Left, rows: Sequence[Checked]
    ) -> list[Checked]:
        """What a forced call `left` behind, where no row of a launch says it: a row for each result that is in no
        buffer which a launch was judged by, as a lowering can give it one that is smaller than any node's value; and
        for each result or input that is wrong in the end, though what a launch wrote was right. `rows` are those of the
        call. What a wrong launch wrote or what is assembled from that is wrong with it, and no fault of its lowering.
        """
        module = self._plan.module
        judged = [row for row in rows if row.kernel and row.graph == self._plan.graph and not row.is_step]
        known = {row.node for row in judged if verdict(row) != NOT_COMPARABLE}
        known.update(node.name for node in module.graph.find_nodes(op="placeholder"))
        memories = {plain.values.memory(name) for name in known}
        wrong = {row.buffer for row in rows if row.against == BEFORE_PASSES and verdict(row) == WRONG}
        callers = self._callers({row.graph for row in rows if row.kernel and verdict(row) == WRONG})
        explained = _made_of(module, {row.node for row in judged if verdict(row) == WRONG} | callers)
        launches = {row.index for row in judged if verdict(row) == WRONG}
        beside = {row.node for row in judged if row.index in launches and verdict(row) == NOT_COMPARABLE}
        added = []
        pairs = sharing(left, self._inputs.names, self._visible)
        pairs -= self._pairs(self._levels[0].module) if pairs else set()
        for at, (before, after) in enumerate(zip(self._nodes, results_of(module), strict=False)):
            if not isinstance(before, Node) or not isinstance(after, Node) or f"result {at}" in wrong:
                continue
            row = self._row(f"result {at}", after.name, self._lowering, LOWERED_GRAPH)
            row = self._with_sharing(row, at, pairs)
            if verdict(row) == WRONG:
                added.append(row)
                continue
            if before.name in self._random or after.name in plain.unknown or after in explained:
                continue
            row = self._compared(row, at, left.results[at])
            is_seen = at in self._visible and verdict(row) not in (WRONG, NOT_COMPARABLE)
            formed = with_strides(row, left.results[at], strides_of(before.meta.get("val"))) if is_seen else row
            if formed.other_strides:
                added.append(with_fields(formed, level=between(BEFORE_PASSES, COMPILED)))
            elif plain.results.memory(at) not in memories or verdict(row) == WRONG:
                added.append(row)
        for at in changed(self._args, afterwards, *([left.inputs] if self._keeps_inputs else [])):
            name, writer = self._inputs.names[at], self._inputs.writer(at)
            if name in wrong or (writer is not None and writer.name in self._random):
                continue
            writers = _writers(module, name)
            if any(one in explained or one.name in plain.unknown or one.name in beside for one in writers):
                continue
            row = self._row_of_input(name, self._lowering, LOWERED_GRAPH)
            row = self._inputs.compared(row, at, left.inputs[at])
            if verdict(row) == WRONG:
                added.append(row)
        return added

    def _callers(self, graphs: Container[str]) -> set[str]:
        """The nodes that call any of these nested graphs."""
        return {
            node
            for node, nested in self._plan.nested.items()
            if any(each.graph in graphs for plan in nested.values() for each in plan.all_graphs())
        }

    def refused(self, left: Left) -> list[Checked]:
        """A row for each result and changed input of what the compiled code `left` behind, where ATen does not run the
        graph that is lowered: what makes one wrong is the pass after which it is wrong, or ATen refuses the graph.
        """
        found = []
        for at, (before, after) in enumerate(zip(self._nodes, results_of(self._plan.module), strict=False)):
            if isinstance(before, Node) and isinstance(after, Node) and before.name not in self._random:
                row = self._row(f"result {at}", after.name, ALL_PASSES, BEFORE_PASSES)
                found.append((Place(at), functools.partial(self._compared, row, at)))
        for at in changed(self._args, self._before.inputs, left.inputs if self._keeps_inputs else self._args):
            writer = self._inputs.writer(at)
            if writer is None or writer.name not in self._random:
                row = self._row_of_input(self._inputs.names[at], ALL_PASSES, BEFORE_PASSES)
                found.append((Place(at, is_input=True), functools.partial(self._inputs.compared, row, at)))
        rows = []
        for place, compared in found:
            row = compared(place.of(left))
            if verdict(row) == WRONG:
                row = self._blamed(row, place, compared)
                if row.level == self._last_level():  # of what is right after each pass the code may be to blame as well
                    row = with_fields(row, level=between(BEFORE_PASSES, COMPILED))
            rows.append(row)
        return rows

    def _with_sharing(self, row: Checked, at: int, pairs: set[Pair]) -> Checked:
        """`row`, wrong if a result that the program gets as it is shares memory as one of `pairs`, which share none
        before the passes.
        """
        if at not in self._visible or all(one != row.buffer for one, _ in pairs):
            return row
        by_pass = with_fields(row, against=BEFORE_PASSES)
        for position, level in enumerate(self._levels[1:], start=1):
            if any(one == row.buffer for one, _ in self._pairs(level.module) & pairs):
                return self._by(position, with_sharing(by_pass, pairs, level.name), *sharers(row.buffer, pairs))
        if any(one == row.buffer for one, _ in self._pairs(self._plan.module) & pairs):
            return with_sharing(by_pass, pairs, self._last_level())
        return with_sharing(row, pairs, self._lowering)

    def _pairs(self, module: GraphModule) -> set[Pair]:
        """What shares memory after a graph of these has run."""
        return sharing(alone(module, self._args, self._state), self._inputs.names, self._visible)

    def _row_of_input(self, name: str, level: str, against: str) -> Checked:
        writers = _writers(self._plan.module, name)
        return self._row(name, writers[-1].name if writers else name, level, against)

    def _row(self, buffer: str, node: str, level: str, against: str) -> Checked:
        return Checked(
            graph=self._plan.graph,
            call=self._number,
            index=-1,
            level=level,
            against=against,
            buffer=buffer,
            node=node,
        )

    def _compared(self, row: Checked, at: int, value: Any) -> Checked:
        """`value` beside the result `at` of the graph before the passes."""
        node = self._nodes[at]
        if node.name in self._inputs.names and node in self._overwritten:
            return self._inputs.compared(row, self._inputs.names.index(node.name), value)
        if node in self._overwritten:
            return compared_with_eager(row, value, self._before.last[at], _OVERWRITTEN)
        eager = self._before.value(node.name)
        return compared_graphs(row, value, eager, node.name, self._exact, always_exact=self._always_exact)

    def _blamed(self, row: Checked, place: Place, compared: Callable[[Any], Checked]) -> Checked:
        """`row`, with the first pass after which what is at this place is wrong as it is."""
        if len(self._levels) == 1:
            return row
        for position, level in enumerate(self._levels[1:], start=1):
            if position not in self._later:
                try:
                    self._later[position] = self._values(level.module)
                except RuntimeError as error:  # such as a copy within one memory, which the pass before did not need
                    error.__traceback__ = None
                    return self._by(position, row, place)
            later = self._later[position]
            if verdict(compared(place.of(later.left))) == WRONG:
                return self._by(position, row, place)
        return with_fields(row, level=self._last_level())

    def _by(self, position: int, row: Checked, *places: Place) -> Checked:
        """`row`, with the pass that made the level at this position, and where its edit begins."""
        before, after = self._levels[position - 1], self._levels[position]
        return with_edit(with_fields(row, level=after.name), before.module, after.module, *places)

    def _last_level(self) -> str:
        """What changed the graph after its last copy."""
        last = self._levels[-1]
        return between(f"pass {last.name}" if len(self._levels) > 1 else BEFORE_PASSES, LOWERED_GRAPH)

    def _in_fp64(self, row: Checked, at: int, before: str) -> Checked:
        """`row`, wrong if the passes made another function of the result `at`, the node `before`: see `first_apart`."""
        known = self._exact.of().value(before)
        found = first_apart(len(self._levels) - 1, lambda position: self._apart(position, at, known, before))
        if found is None:
            return row
        position, apart = found
        return with_fields(self._by(position, row, Place(at)), exact_apart=apart)

    def _apart(self, position: int, at: int, known: Any, before: str) -> float:
        """How far the exact value of the result `at` is from `known` in a later graph; 0 if it is not known. What a
        pass computes beforehand in a half type is rounded as it would be later.
        """
        module = self._levels[position].module
        node = results_of(module)[at]
        if not isinstance(node, Node) or not constants_of(module) <= constants_of(self._levels[0].module):
            return 0.0
        if position not in self._later:
            self._later[position] = self._values(module)
        if position not in self._exacts:
            later = self._later[position]
            self._exacts[position] = Exacts(module, lambda: later.for_exact, (), {}, None)
        exact = self._exacts[position].of()
        value = exact.value(node.name)
        if exact.taken.get(node.name) or self._exact.of().taken.get(before) or value.shape != known.shape:
            return 0.0
        return exactly_apart(value, known)

    def _values(self, module: GraphModule, without: Collection[str] = ()) -> Results:
        return Results(module, self._args, self._state, self._shared, without=without)


def _writers(module: GraphModule, name: str) -> list[Node]:
    """The nodes that change the input of this name, or a view of it, in place."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    return [node for node in nodes if any(_is_of(one, name) for one in changed_values(node))]


def _is_of(value: Any, name: str) -> bool:
    return isinstance(value, Node) and any(one.name == name for one in viewed(value))


def _made_of(module: GraphModule, names: set[str]) -> set[Node]:
    """The nodes of these names, and those whose values are computed from theirs."""
    found: set[Node] = set()
    for node in module.graph.nodes:
        if node.name in names or not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return found
