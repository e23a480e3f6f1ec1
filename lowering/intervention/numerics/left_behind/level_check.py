"""What the passes made of a graph's results: the graph as it was before them, run beside the one that is lowered."""

import functools
from collections.abc import Collection, Container, Sequence
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
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    changed_values,
    depends_on_random,
    names_of,
    results_of,
    viewed,
)
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared, changed_inputs
from inspect_compile.lowering.intervention.numerics.inputs import RandomState
from inspect_compile.lowering.intervention.numerics.left_behind.left import (
    OwnResults,
    Pair,
    alone,
    changed,
    sharing,
    strides_of,
    with_sharing,
    with_strides,
)
from inspect_compile.lowering.intervention.numerics.left_behind.passes import Passes, PassesCheck
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.results import Left, Place, Results
from inspect_compile.lowering.intervention.numerics.values import Plan

_RANDOM: Final = "its random numbers are drawn differently before the passes"


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
        self._plan = plan
        self._levels = levels
        self._args = args
        self._state = state
        self._visible = visible
        self._keeps_inputs = keeps_inputs
        self._lowering = LOWERING if is_generated else COMPILED
        random = depends_on_random(levels[0].module)

        def run(module: GraphModule, without: Collection[str] = ()) -> Results:
            return Results(module, args, state, shared, without=without)

        last = f"pass {levels[-1].name}" if len(levels) > 1 else BEFORE_PASSES
        self._last = between(last, LOWERED_GRAPH)
        """What changed the graph after its last copy."""
        self._before = run(levels[0].module, random)
        self._passes = Passes(levels, run, self._last if len(levels) > 1 else ALL_PASSES)
        row = Checked(graph=plan.graph, call=number, index=-1, level=ALL_PASSES, against=BEFORE_PASSES)
        self._check = PassesCheck(row, self._before, self._passes, own, _RANDOM, always_exact=always_exact)
        self._changes = self._check.changes

    def rows(self, plain: Reference, afterwards: Sequence[Any]) -> list[Checked]:
        """A row for each result of the graph that is a tensor, and for each input that it changes. `plain` has the
        values of the graph that is lowered, and `afterwards` are its inputs after it ran.
        """
        module = self._plan.module
        found = self._check.results(Left(plain.results, afterwards), names_of(module))
        both = changed(self._args, self._before.inputs, afterwards)
        at = sorted({*both, *(changed_inputs(module) or ())})
        names = {name: _writer(module, name) for name in map(self._changes.names.__getitem__, at)}
        return found + self._check.inputs({each: afterwards[each] for each in at}, names)

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
        lowering = with_fields(self._check.row, level=self._lowering, against=LOWERED_GRAPH)
        pairs = sharing(left, self._changes.names, self._visible)
        pairs -= self._pairs(self._levels[0].module) if pairs else set()
        for at, (before, after) in enumerate(zip(self._check.nodes, results_of(module), strict=False)):
            if not isinstance(before, Node) or not isinstance(after, Node) or f"result {at}" in wrong:
                continue
            row = self._with_sharing(with_fields(lowering, buffer=f"result {at}", node=after.name), at, pairs)
            if verdict(row) == WRONG:
                added.append(row)
                continue
            if self._check.is_random(before) or after.name in plain.unknown or after in explained:
                continue
            row = self._check.compared(row, at, left.results[at])
            is_seen = at in self._visible and verdict(row) not in (WRONG, NOT_COMPARABLE)
            formed = with_strides(row, left.results[at], strides_of(before.meta.get("val"))) if is_seen else row
            if formed.other_strides:
                added.append(with_fields(formed, level=between(BEFORE_PASSES, COMPILED)))
            elif plain.results.memory(at) not in memories or verdict(row) == WRONG:
                added.append(row)
        for at in changed(self._args, afterwards, *([left.inputs] if self._keeps_inputs else [])):
            name = self._changes.names[at]
            if name in wrong or self._check.is_random(self._changes.writer(at)):
                continue
            writers = _writers(module, name)
            if any(one in explained or one.name in plain.unknown or one.name in beside for one in writers):
                continue
            row = with_fields(lowering, buffer=name, node=_writer(module, name))
            row = self._changes.compared(row, at, left.inputs[at])
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
        module, found = self._plan.module, []
        for at, name in enumerate(names_of(module)[: len(self._check.nodes)]):
            if name and self._check.is_compared(at):
                row = with_fields(self._check.row, buffer=f"result {at}", node=name)
                found.append((Place(at), functools.partial(self._check.compared, row, at)))
        for at in changed(self._args, self._before.inputs, left.inputs if self._keeps_inputs else self._args):
            if not self._check.is_random(self._changes.writer(at)):
                name = self._changes.names[at]
                row = with_fields(self._check.row, buffer=name, node=_writer(module, name))
                found.append((Place(at, is_input=True), functools.partial(self._changes.compared, row, at)))
        rows = []
        for place, compared in found:
            row = compared(place.of(left))
            if verdict(row) == WRONG:
                row = self._check.blamed(row, place, compared)
                if row.level == self._last:  # of what is right after each pass the code may be to blame as well
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
        if by_one := self._passes.sharing(by_pass, pairs, self._pairs):
            return by_one
        if any(one == row.buffer for one, _ in self._pairs(self._plan.module) & pairs):
            return with_sharing(by_pass, pairs, self._last)
        return with_sharing(row, pairs, self._lowering)

    def _pairs(self, module: GraphModule) -> set[Pair]:
        """What shares memory after a graph of these has run."""
        return sharing(alone(module, self._args, self._state), self._changes.names, self._visible)


def _writers(module: GraphModule, name: str) -> list[Node]:
    """The nodes that change the input of this name, or a view of it, in place."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    return [node for node in nodes if any(_is_of(one, name) for one in changed_values(node))]


def _writer(module: GraphModule, name: str) -> str:
    """The last node that changes the input of this name; the input itself if none does."""
    writers = _writers(module, name)
    return writers[-1].name if writers else name


def _is_of(value: Any, name: str) -> bool:
    return isinstance(value, Node) and any(one.name == name for one in viewed(value))


def _made_of(module: GraphModule, names: set[str]) -> set[Node]:
    """The nodes of these names, and those whose values are computed from theirs."""
    found: set[Node] = set()
    for node in module.graph.nodes:
        if node.name in names or not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return found
