"""The levels above one graph that Inductor compiled, in the checked calls of that graph."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.facts.numerics import ALL_RESULTS
from inspect_compile.knowledge.numerics.levels import (
    AOT,
    BEFORE_PASSES,
    DYNAMO_GRAPH,
    JOINT_GRAPH,
    JOINT_PASSES,
    PARTITIONER,
    between,
)
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    depends_on_random,
    has_collectives,
    inputs_of,
    names_of,
    results_of,
)
from inspect_compile.lowering.intervention.numerics.graphs.offload import Offload, give_back
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared, changed_inputs, known_results
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.left_behind.left import (
    OwnResults,
    Pair,
    alone,
    changed,
    sharers,
    sharing,
    with_sharing,
)
from inspect_compile.lowering.intervention.numerics.left_behind.passes import Passes, PassesCheck
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.results import Left, Results
from inspect_compile.lowering.intervention.numerics.upstream.beside import forward_part
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_check import DynamoCheck
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_run import is_tangent
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origin
from inspect_compile.probe import let_pass

_WAITING: Final = 4
"""Maximum number of forward calls of one graph whose inputs are kept for their backward."""

_RANDOM: Final = "its random numbers are drawn differently before the passes over the joint graph"
_NO_FORWARD: Final = "its forward call was not checked, or saved other values"


@dataclass(frozen=True)
class _Forward:
    """A checked call of a forward graph."""

    kept: list[Any]
    """Copies of its inputs."""
    store: Offload | None
    """Where these are; None for memory."""
    state: RandomState
    saved: frozenset[int]
    """Where the values are that it returned for the backward."""

    @functools.cached_property
    def args(self) -> list[Any]:
        """Its inputs."""
        return self.kept if self.store is None else list(self.store.get(self.kept))


class UpstreamCheck:
    """Compares what a graph computes with the levels above it."""

    def __init__(self, graph: str, level: Level, origin: Origin, *, is_backward: bool, always_exact: bool) -> None:
        """`level` is the graph as Inductor got it; for `always_exact` see `judges.compared_graphs`."""
        self._always_exact = always_exact
        self._graph = graph
        self._module = level.module
        self._is_collective = has_collectives(level.module)
        self._origin = origin
        self.is_backward = is_backward
        self._traced: Left | None = None
        """What Dynamo's graph left behind in the latest call, at the places of AOTAutograd's; None if it did not run.
        """
        self._before: tuple[list[Any], Offload | None, RandomState] | None = None
        assert origin.traced is not None
        self._forward = forward_part(origin.traced, origin.primals) if origin.is_joint else origin.traced
        self.visible: tuple[int, ...] = ()
        """Positions of the results of the latest call that the program gets in the memory that the compiled code gives
        them, as far as Dynamo's graph tells.
        """

    @property
    def left_out(self) -> str:
        """Why Dynamo's graph is not known to be the program's function; empty if it is not known not to be."""
        return self._origin.left_out

    def rows(
        self, args: Sequence[Any], number: int, state: RandomState, shared: Shared, own: OwnResults, left: Left
    ) -> list[Checked]:
        """What was found in one call of the graph. A level that cannot be run is a row, too. `shared` has what other
        graphs compute from `args`, `own` what the compiled code gives, and `left` what a forced call of it left behind.
        """
        self._traced, self.visible = None, ()
        try:
            if self.is_backward:
                return self._of_backward(args, number, shared.store, own)
            return self._of_forward(args, number, state, shared, own, left)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            return [not_compared(self._graph, number, f"a level above it could not be run ({type(error).__name__})")]

    def taken(self) -> Left | None:
        """What Dynamo's graph left behind in the call that was checked last, which is let go here."""
        found, self._traced = self._traced, None
        return found

    def returned(self, found: Sequence[Any]) -> None:
        """The program's own call of the graph has returned `found`, and its backward may follow."""
        before, self._before = self._before, None
        if before is None:
            return
        saved = found[len(results_of(self._forward)) :]
        addresses = frozenset(one.data_ptr() for one in saved if isinstance(one, torch.Tensor) and one.numel())
        # A backward that needs nothing of its forward gives the same for each call of it.
        if addresses or not saved:
            self._origin.pending.append(_Forward(*before, addresses))
            del self._origin.pending[:-_WAITING]

    def _of_forward(
        self, args: Sequence[Any], number: int, state: RandomState, shared: Shared, own: OwnResults, left: Left
    ) -> list[Checked]:
        values = Results(self._forward, args, state, shared)
        dynamo = self._dynamo(number, state, own)
        rows = dynamo.results(self._forward, values, args, left)
        self._traced, self.visible = dynamo.left, dynamo.visible
        if not self._origin.is_joint:
            return rows
        if self._origin.backward_inputs:
            self._before = *_kept(args, None if shared.store is None else Offload()), state
        primals = self._origin.primals

        def run(module: GraphModule) -> Results:
            return Results(forward_part(module, primals), args, state, shared)

        passes = self._passes(run)
        check = self._joint(number, values, passes, own)
        ran = Results(self._module, args, state, shared, without=depends_on_random(self._module))
        at = {*changed(args, values.inputs, ran.inputs), *(changed_inputs(self._forward) or ())}
        rows += check.results(ran.left, names_of(self._module))
        rows += check.inputs({each: ran.inputs[each] for each in sorted(at)}, {})
        if not dynamo.suspects or self._is_collective:
            return rows

        def pairs(module: GraphModule) -> set[Pair]:
            return sharing(alone(module, args, state), inputs_of(module), self.visible)

        shared_now = dynamo.suspects & pairs(self._module)
        for buffer in sorted({one for one, _ in shared_now}):
            row = with_fields(check.row, buffer=buffer, node=names_of(self._module)[sharers(buffer, shared_now)[0].at])
            by_pass = passes.sharing(row, shared_now, lambda module: pairs(forward_part(module, primals)))
            rows.append(by_pass or with_sharing(row, shared_now, PARTITIONER))
        return rows

    def _of_backward(self, args: Sequence[Any], number: int, store: Offload | None, own: OwnResults) -> list[Checked]:
        joint, forward = self._origin.traced, self._origin.forward
        call = self._call(args)
        assert joint is not None
        if call is None or forward is None or tuple(inputs_of(forward)) != self._origin.primals:
            return [not_compared(self._graph, number, _NO_FORWARD)]
        count = len([node for node in joint.graph.find_nodes(op="placeholder") if is_tangent(node)])
        tangents = list(args[len(args) - count :])
        whole = [*call.args, *tangents]
        first = len(results_of(self._forward))
        shared = Shared(store)
        values = Results(joint, whole, call.state, shared)
        give_back()
        names = inputs_of(self._module)
        lowered = [names[at] for at in sorted(changed_inputs(self._module) or ())]
        unchanged = {
            name: one for name, one in self._written_in_backward(joint, call.args).items() if name not in lowered
        }
        changed_later = [*lowered, *unchanged]
        rows = self._dynamo(number, call.state, own).gradients(joint, values, call.args, tangents, changed_later)
        passes = self._passes(lambda module: Results(module, whole, call.state, shared))
        check = self._joint(number, values, passes, own, first)
        compared = list(map(check.is_compared, range(len(check.nodes))))
        same = self._as_joint(forward, call.args, first, shared, compared) if not changed_later else None
        found = self._cut(forward, call, tangents, first, shared) if same is None else Left(same, ())
        rows += check.results(found, names_of(self._module))
        left = dict(zip(names, found.inputs, strict=False)) | unchanged
        places = {name: at for at, name in enumerate(inputs_of(joint))}
        later = {places[name]: left[name] for name in changed_later if name in places}
        return rows + check.inputs(later, {}, is_own=False)

    def _written_in_backward(self, joint: GraphModule, args: Sequence[Any]) -> dict[str, Any]:
        """The inputs that the joint graph changes and its forward part does not, as they are before: a pass can leave
        out a change, so that the backward graph does not even get the input.
        """
        names, forward = inputs_of(joint), inputs_of(self._forward)
        before = {forward[at] for at in changed_inputs(self._forward) or ()}
        written = {at for at in changed_inputs(joint) or () if at < len(args) and names[at] not in before}
        return {names[at]: args[at] for at in sorted(written)}

    def _dynamo(self, number: int, state: RandomState, own: OwnResults) -> DynamoCheck:
        return DynamoCheck(self._graph, number, self._origin, state, own, always_exact=self._always_exact)

    def _joint(self, number: int, values: Results, passes: Passes, own: OwnResults, first: int = 0) -> PassesCheck:
        row = Checked(graph=self._graph, call=number, index=-1, level=JOINT_PASSES, against=JOINT_GRAPH)
        return PassesCheck(row, values, passes, own, _RANDOM, always_exact=self._always_exact, first=first)

    def _passes(self, run: Callable[[GraphModule], Results]) -> Passes:
        """The passes over the joint graph; none if one rank alone, whose results are wrong, cannot compute them."""
        if self._is_collective:
            return Passes((), run, between(JOINT_GRAPH, BEFORE_PASSES))
        return Passes(self._origin.joint, run, PARTITIONER)

    def _as_joint(
        self, forward: GraphModule, args: Sequence[Any], first: int, shared: Shared, compared: Sequence[bool]
    ) -> list[Any] | None:
        """The results of the backward graph that are `compared`, if it computes them, after the forward graph, by the
        same operators as the joint graph, whose values are in `shared`; None if not. `args`: the inputs of the forward.
        """
        saved = known_results(shared, forward, inputs=args)
        if saved is None:
            return None
        results_forward = list(zip(results_of(forward), saved, strict=True))[first:]
        numbers = [number for one, number in results_forward if isinstance(one, Node) and _is_tensor(one)]
        others = [number for one, number in results_forward if not isinstance(one, Node) or not _is_tensor(one)]
        inputs = len(inputs_of(self._module))
        tangents = map(shared.of_input, range(len(args), len(args) + inputs - len(others) - len(numbers)))
        given = [shared.alone() if one is None else one for one in (*others, *numbers)]
        found = known_results(shared, self._module, [*given, *tangents])
        if found is None or not all(shared.has(one) for one, asked in zip(found, compared, strict=False) if asked):
            return None
        return [shared.value(one) if one is not None and shared.has(one) else None for one in found]

    def _cut(self, forward: GraphModule, call: _Forward, tangents: list[Any], first: int, shared: Shared) -> Left:
        """What the backward graph leaves behind, after the forward graph has run. `shared` has values of the joint
        graph, whose inputs are those of the forward graph and then `tangents`.
        """
        ran = Results(forward, call.args, call.state, shared)
        saved = list(zip(ran.last, ran.numbers, strict=True))[first:]
        tensors = [pair for pair in saved if isinstance(pair[0], torch.Tensor)]
        others = [pair for pair in saved if not isinstance(pair[0], torch.Tensor)]
        of_tangents = [(one, shared.of_input(at)) for at, one in enumerate(tangents, start=len(call.args))]
        values, numbers = zip(*others, *tensors, *of_tangents, strict=True)
        given_numbers = [shared.alone() if one is None else one for one in numbers]
        cut = Results(self._module, values, call.state, shared, numbers=given_numbers)
        return Left(cut.values(), cut.inputs)

    def _call(self, args: Sequence[Any]) -> _Forward | None:
        """The call of the forward graph that saved these inputs of the backward graph."""
        given = {one.data_ptr() for one in args if isinstance(one, torch.Tensor)}
        pending = self._origin.pending
        found = next((one for one in reversed(pending) if one.saved <= given), None)
        if found is not None:
            pending.remove(found)
        return found


def _kept(args: Sequence[Any], store: Offload | None) -> tuple[list[Any], Offload | None]:
    """Copies of these, as far as there is room in the place for them."""
    return copies(args if store is None else store.put(list(args), is_fixed=True)), store


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def not_compared(graph: str, number: int, reason: str) -> Checked:
    """A row for the results of a call that could not be compared with the level above."""
    return Checked(
        graph=graph, call=number, index=-1, level=AOT, against=DYNAMO_GRAPH, buffer=ALL_RESULTS, reason=reason
    )
