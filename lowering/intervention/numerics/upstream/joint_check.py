"""What the passes over the joint graph, and the partitioner, made of its results."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import BEFORE_PASSES, JOINT_GRAPH, JOINT_PASSES, PARTITIONER, between
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.errors import exactly_apart
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.graphs.shared import changed_inputs
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs
from inspect_compile.lowering.intervention.numerics.left_behind.edited import (
    constants_of,
    first_apart,
    with_edit,
)
from inspect_compile.lowering.intervention.numerics.left_behind.left import (
    InputsCheck,
    Pair,
    changed,
    sharers,
    with_sharing,
)
from inspect_compile.lowering.intervention.numerics.left_behind.own_results import OwnResults
from inspect_compile.lowering.intervention.numerics.levels import inputs_of
from inspect_compile.lowering.intervention.numerics.results import Left, Place, Results

_RANDOM: Final = "its random numbers are drawn in another way before the passes over the joint graph"


class Stage(NamedTuple):
    """A pass."""

    name: str
    before: GraphModule
    after: GraphModule
    compute: Callable[[], tuple[GraphModule, Results]]
    """The part of the later graph that is compared, and what it leaves behind."""


Stages = Sequence[Stage]


class JointCheck:
    """Compares results of the joint graph, as AOTAutograd traced it, with those of what it became."""

    def __init__(
        self,
        graph: str,
        number: int,
        module: GraphModule,
        values: Results,
        first: int,
        names: Sequence[str],
        own: OwnResults,
        *,
        always_exact: bool,
    ) -> None:
        """`module` is the joint graph, or the part of it that computes the forward's results, which are `values`. Its
        results from the position `first` on are called `names`, by the nodes of the graph that is lowered; `own`
        has what the compiled code gives. For `always_exact` see `compared_graphs`.
        """
        self._always_exact = always_exact
        self._own = own
        self._row = Checked(graph=graph, call=number, index=-1, level=JOINT_PASSES, against=JOINT_GRAPH)
        self._module = module
        self._first = first
        self._values = values
        self._nodes = results_of(module)[first:]
        wanted = {one.name for one in self._nodes if isinstance(one, Node)}
        self._exact = Exacts(module, lambda: values.for_exact, (), {}, wanted)
        self._names = names
        self.random = depends_on_random(module)
        """The nodes whose values are not compared, as they depend on random numbers."""
        self.compared = [isinstance(one, Node) and one.name not in self.random for one in self._nodes]
        """Whether each result is compared."""

    def rows(self, found: Left, stages: Stages | None) -> list[Checked]:
        """A row for each result; `found` is what became of the graph left behind.

        `stages` are passes, and what the graph leaves behind after each; the partitioner is blamed if none of them is.
        None if it cannot be said which is.
        """
        rows = []
        later: dict[int, tuple[GraphModule, Results]] = {}
        for at, (node, value, name) in enumerate(zip(self._nodes, found.results, self._names, strict=False)):
            if not isinstance(node, Node) or not name:
                continue
            row = with_fields(self._row, buffer=f"result {at}", node=name)
            if node.name in self.random:
                rows.append(with_fields(row, reason=_RANDOM))
                continue
            compared = functools.partial(self._compared, row, node.name)
            row = compared(value)
            place = Place(at)
            judged = self._blamed(self._own.mended(row, place, compared), place, compared, stages, later)
            if verdict(row) not in (EXACT, NOT_COMPARABLE, WRONG) and self._exact.of().rounds_to_half(node.name):
                judged = self._in_fp64(judged, at, node.name, stages or (), later)
            rows.append(judged)
            self._exact.passed(node.name)
        return rows

    def inputs(self, args: Sequence[Any], found: Left, stages: Stages | None) -> list[Checked]:
        """A row for each of the inputs `args` that the graph changes, or what became of it."""
        both = changed(args, self._values.inputs, found.inputs)
        at = sorted({*both, *(changed_inputs(self._module) or ())})
        return self._of_inputs(args, {each: found.inputs[each] for each in at}, stages, is_own=True)

    def inputs_of_backward(self, args: Sequence[Any], found: Mapping[str, Any], stages: Stages | None) -> list[Checked]:
        """A row for each of these inputs of the backward graph, which it changed to what was `found`, if the joint
        graph, whose inputs are `args`, has an input of that name.
        """
        names = inputs_of(self._module)
        values = {names.index(name): value for name, value in found.items() if name in names}
        return self._of_inputs(args, values, stages, is_own=False)

    def _of_inputs(
        self, args: Sequence[Any], found: Mapping[int, Any], stages: Stages | None, *, is_own: bool
    ) -> list[Checked]:
        """A row for each input, by position, that was `found`; `is_own`: at the same position in the graph that is
        lowered.
        """
        check = InputsCheck(self._module, args, self._values, self._exact, always_exact=self._always_exact)
        rows = []
        later: dict[int, tuple[GraphModule, Results]] = {}
        for at, value in found.items():
            row, writer = with_fields(self._row, buffer=check.names[at], node=check.names[at]), check.writer(at)
            if writer is not None and writer.name in self.random:
                rows.append(with_fields(row, reason=_RANDOM))
                continue
            compared = functools.partial(check.compared, row, at)
            place = Place(at, is_input=True)
            row = self._own.mended(compared(value), place if is_own else None, compared)
            rows.append(self._blamed(row, place, compared, stages, later))
        return rows

    def sharing(
        self, suspects: set[Pair], became: set[Pair], stages: Stages, pairs_after: Callable[[GraphModule], set[Pair]]
    ) -> list[Checked]:
        """A row for each result of the forward that shares memory as one of `suspects` in what the graph `became`; they
        share none in the graph itself. `pairs_after` gives those that share memory in the graph after a pass.
        """
        rows = []
        pairs = suspects & became
        for buffer in sorted({one for one, _ in pairs}):
            row = with_fields(self._row, buffer=buffer, node=self._names[int(buffer.removeprefix("result "))])
            row = with_sharing(row, pairs, PARTITIONER)
            for stage in stages:
                if any(one == buffer for one, _ in pairs_after(stage.after) & pairs):
                    row = with_edit(
                        with_fields(row, level=stage.name), stage.before, stage.after, *sharers(buffer, pairs)
                    )
                    break
            rows.append(row)
        return rows

    def _blamed(
        self,
        judged: Checked,
        place: Place,
        compared: Callable[[Any], Checked],
        stages: Stages | None,
        later: dict[int, tuple[GraphModule, Results]],
    ) -> Checked:
        """`judged`, which says of what is at this place what `compared` says of values, with the level that is blamed.
        `later` has what was left behind after the stages that ran.
        """
        if stages is None and verdict(judged) == WRONG:
            return with_fields(judged, level=between(JOINT_GRAPH, BEFORE_PASSES))
        if stages is None or verdict(judged) != WRONG:
            return judged
        for position, stage in enumerate(stages):
            if position not in later:
                later[position] = stage.compute()
            _, ran = later[position]
            if verdict(compared(place.of(Left(ran.values()[self._first :], ran.inputs)))) == WRONG:
                return self._by(stage, judged, place)
        return with_fields(judged, level=PARTITIONER)

    def _by(self, stage: Stage, row: Checked, place: Place) -> Checked:
        """`row`, with the pass, and where its edit begins."""
        there = place if place.is_input else Place(place.at + self._first)
        return with_edit(with_fields(row, level=stage.name), stage.before, stage.after, there)

    def _in_fp64(
        self, row: Checked, at: int, node: str, stages: Stages, later: dict[int, tuple[GraphModule, Results]]
    ) -> Checked:
        """`row`, wrong if the passes made another function of the result: see `first_apart`."""
        known = self._exact.of().value(node)

        def apart(position: int) -> float:
            if position not in later:
                later[position] = stages[position].compute()
            module, ran = later[position]
            last = results_of(module)[at + self._first]
            if not isinstance(last, Node) or not constants_of(module) <= constants_of(self._module):
                return 0.0
            exact = Exacts(module, lambda: ran.for_exact, (), {}, {last.name}).of()
            value = exact.value(last.name)
            is_known = not exact.taken.get(last.name) and not self._exact.of().taken.get(node)
            return exactly_apart(value, known) if is_known and value.shape == known.shape else 0.0

        if (found := first_apart(len(stages), lambda number: apart(number - 1))) is None:
            return row
        number, distance = found
        return with_fields(self._by(stages[number - 1], row, Place(at)), exact_apart=distance)

    def _compared(self, row: Checked, node: str, value: Any) -> Checked:
        eager = self._values.value(node)
        return compared_graphs(row, value, eager, node, self._exact, always_exact=self._always_exact)


def names_of(module: GraphModule) -> list[str]:
    """The nodes of a graph's results; empty for one that is no node."""
    return [one.name if isinstance(one, Node) else "" for one in results_of(module)]
