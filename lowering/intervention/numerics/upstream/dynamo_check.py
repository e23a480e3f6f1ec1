"""What AOTAutograd and the decompositions made of a graph's results: Dynamo's graph run beside AOTAutograd's."""

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import AOT, AOT_GRAPH, DYNAMO_GRAPH, between
from inspect_compile.knowledge.numerics.verdicts import EXACT as SAME
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, inputs_of, results_of
from inspect_compile.lowering.intervention.numerics.inputs import RandomState
from inspect_compile.lowering.intervention.numerics.left_behind.edited import constants_of
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
from inspect_compile.lowering.intervention.numerics.results import Left, Place, Results
from inspect_compile.lowering.intervention.numerics.upstream.beside import beside, reproduced
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_edits import DynamoEdits
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_run import (
    Gradients,
    InputMapping,
    NotMappedError,
    Ran,
    is_tangent,
    places,
)
from inspect_compile.lowering.intervention.numerics.upstream.first_wrong import FirstWrong
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origin, Surroundings
from inspect_compile.lowering.intervention.numerics.upstream.shadow import EXACT, Shadowed
from inspect_compile.probe import let_pass

_MADE: Final = "AOTAutograd returns it instead of results that share its memory"
_CHANGED: Final = "a gradient is given for an input that the graph changes"
_AUTOCAST: Final = "the forward ran under autocast, and whether the backward does in eager is not known"
_FORMS: Final = "strides and shared memory of the results"
_ALIKE: Final = "they are not compared in a graph with collectives, of which all ranks would have to look alike"


class _Wanted(NamedTuple):
    """A result of AOTAutograd's graph, or an input that it changes in place."""

    buffer: str
    node: str
    place: Any
    """Where it is in a run of Dynamo's graph."""
    value: Any
    at: int | None = None
    """Its position among the results of the graph that is lowered; None for an input."""
    maker: str = ""
    """The node of AOTAutograd's graph that computes the value; empty if that is `node`, or none does."""


class DynamoCheck:
    """Compares the results of one call of AOTAutograd's graph with those of Dynamo's."""

    def __init__(
        self, graph: str, number: int, origin: Origin, state: RandomState, own: OwnResults, *, always_exact: bool
    ) -> None:
        """`own` has what the compiled code gives; for `always_exact` see `judges.compared_graphs`."""
        self._own = own
        self._graph = graph
        self._number = number
        self._origin = origin
        self._state = state
        self._edits = DynamoEdits(origin, state, always_exact=always_exact)
        self._first_wrong = FirstWrong(origin, state, self._row("", ""), is_collective=self._edits.is_collective)
        self.left: Left | None = None
        """What Dynamo's graph leaves behind, at the places of AOTAutograd's graph; None if it did not run."""
        self.suspects: set[Pair] = set()
        """What shares memory in what the compiled code leaves behind, and neither in Dynamo's nor AOTAutograd's graph.
        """
        self.visible: tuple[int, ...] = ()
        """Positions of the results that the program gets as the compiled code gives them; empty if it is not known."""
        self._as_traced: Gradients | None = None
        """The gradients that are asked for in a run that gives what AOTAutograd's graph does, and one without does not.
        """

    def results(self, module: GraphModule, values: Results, args: Sequence[Any], left: Left) -> list[Checked]:
        """A row for each result, and for each input that is changed in place, of AOTAutograd's graph `module`, which
        leaves `values` behind of `args`, and the compiled code in a forced call what it `left`.
        """
        wanted = []
        described = _descriptions(module)
        for at, node in enumerate(results_of(module)):
            if isinstance(node, Node):
                value = values.value(node.name)
                wanted.append(_Wanted(f"result {at}", node.name, described.get(at), value, at))

        def of(ran: Ran, where: InputMapping, description: Any) -> Any:
            kind = type(description).__name__
            if kind == "PlainAOTOutput" and description.idx < len(ran.results):
                return ran.results[description.idx]
            if kind == "InputMutationAOTOutput":
                at = where.place_of(description.mutated_input)
                return None if at is None else ran.inputs[at]
            return None

        exact = _exact(module, values)
        rows = self._rows(wanted, args, of, None, module, exact)
        self.left = self._left(rows, args, module)
        rows = self._with_forms(rows, wanted, args, module, left) + self._changed(module, values, args)
        rows += self._edited(module, args)
        return self._first_wrong.of_results(rows, module, values, args, self._differentiated)

    def gradients(
        self,
        module: GraphModule,
        values: Results,
        args: Sequence[Any],
        tangents: Sequence[Any],
        changed_later: Collection[str],
    ) -> list[Checked]:
        """A row for each gradient that the joint graph `module` returns, and for those of its inputs that the backward
        changes: `changed_later`. `args` are its inputs without `tangents`.
        """
        described = _descriptions(module)
        try:
            where = places(module, self._origin.dynamo[0].module)
        except NotMappedError:
            return []
        wanted: list[_Wanted] = []
        inputs: list[int] = []
        first = next((at for at, one in described.items() if type(one).__name__ == "GradAOTOutput"), 0)
        for at, node in enumerate(results_of(module)):
            if type(described.get(at)).__name__ == "GradAOTOutput" and isinstance(node, Node):
                place = where.place_of(described[at].grad_of)
                if place is not None:
                    value = values.value(node.name)
                    wanted.append(_Wanted(f"result {at - first}", node.name, len(inputs), value, at - first))
                    inputs.append(place)
        outputs = [node.meta["desc"].output for node in module.graph.find_nodes(op="placeholder") if is_tangent(node)]
        if any(type(one).__name__ != "PlainAOTOutput" for one in outputs):
            return [self._row(one.buffer, one.node, _CHANGED) for one in wanted]
        around = Surroundings.of_backward()
        if around is None and any(is_on for _, _, is_on in self._origin.surroundings.autocast):
            return [self._row(one.buffer, one.node, _AUTOCAST) for one in wanted]
        asked = Gradients(tuple(inputs), tuple(one.idx for one in outputs), tangents, around)
        rows = self._rows(wanted, args, lambda ran, _, at: ran.gradients[at], asked, module, _exact(module, values))
        names = [name for name in inputs_of(module)[: len(args)] if name in changed_later]
        left = [(name, inputs_of(module).index(name)) for name in names]
        later = [_Wanted(name, name, at, values.inputs[at]) for name, at in left]
        rows += self._rows(later, args, lambda ran, _, at: ran.inputs[at], asked, module)
        return self._first_wrong.of_gradients(rows, module, values, args, asked)

    def _rows(
        self,
        wanted: Sequence[_Wanted],
        args: Sequence[Any],
        of: Callable[[Ran, InputMapping, Any], Any],
        gradients: Gradients | None,
        module: GraphModule,
        exact: Exacts | None = None,
    ) -> list[Checked]:
        """Rows of the results `wanted` of AOTAutograd's graph `module`; `of` finds one in a run, `exact` is it in
        fp64.
        """
        random = depends_on_random(module)
        other = None if gradients is not None else self._differentiated
        try:
            first, where = self._edits.plain(args, gradients)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            if other is not None and not isinstance(error, NotMappedError):
                self._as_traced = other
                return self._rows(wanted, args, of, other, module, exact)
            reason = (
                str(error)
                if isinstance(error, NotMappedError)
                else f"Dynamo's graph could not be run ({type(error).__name__})"
            )
            return [self._row(one.buffer, one.node, reason) for one in wanted]
        rows = []
        for buffer, node, place, value, at, maker in wanted:
            eager = of(first, where, place)
            if eager is None:
                rows.append(self._row(buffer, node, _MADE))
                continue

            def noisy(seed: int, place: Any = place) -> torch.Tensor:
                ran, where = self._edits.noisy(seed, args, gradients)
                assert ran.shadow is not None
                return ran.shadow.noisy(of(ran, where, place), seed)

            def shadow(_: torch.Tensor, place: Any = place, noisy: Callable[[int], torch.Tensor] = noisy) -> Shadowed:
                ran, where = self._edits.exact(args, gradients)
                assert ran.shadow is not None
                found = ran.shadow.value(of(ran, where, place))
                if not self._edits.is_collective:
                    found.noisy, found.has_seeds = noisy, self._edits.has_seeds
                return found

            row = self._row(buffer, node)
            plain = row
            row = beside(row, value, eager, shadow, always_exact=self._edits.at_once, is_random=node in random)
            if verdict(row) == WRONG and exact is not None and not maker and _is_half(value):
                # Kernels round what they store, and not each operator's result: so is the graph rounded here.
                rounded = beside(plain, exact.of().value(node).to(value.dtype), eager, shadow)
                row = row if verdict(rounded) == WRONG else rounded
            if verdict(row) == WRONG and other is not None:
                rows += self._rows([_Wanted(buffer, node, place, value, at, maker)], args, of, other, module, exact)
                self._as_traced = self._as_traced if verdict(rows[-1]) == WRONG else other
                continue

            def again(place: Any = place, plain: Checked = plain, eager: Any = eager, shadow: Any = shadow) -> Checked:
                ran, where = self._edits.ran(0, args, gradients, () if self._edits.at_once else EXACT)
                return beside(plain, of(ran, where, place), eager, shadow)

            row = reproduced(row, plain, None if self._edits.is_collective else again, "Dynamo's graph")
            if verdict(row) == WRONG:
                is_known = not self._edits.is_collective or len(self._origin.dynamo) == 1
                row = with_fields(row, level=AOT if is_known else between(DYNAMO_GRAPH, AOT_GRAPH))
                compared = functools.partial(beside, plain, eager=eager, shadow=shadow)
                row = self._own.mended(row, None if at is None else Place(at), compared)

                def is_wrong(ran: Ran, place: Any = place, compared: Callable[[Any], Checked] = compared) -> bool:
                    return verdict(compared(of(ran, where, place))) == WRONG

                row = self._edits.by_edit(row, args, gradients, is_wrong)
            elif verdict(row) not in (SAME, NOT_COMPARABLE):
                is_half = _is_half(value) or (exact is not None and exact.of().rounds_to_half(maker or node))
                traced = None if exact is None else self._traced(module, exact, maker or node)
                row = self._edits.in_fp64(row, args, of, place, gradients, traced) if is_half else row
            rows.append(row)
        return rows

    def _traced(self, module: GraphModule, exact: Exacts, node: str) -> torch.Tensor | None:
        """The value of a node of AOTAutograd's graph in fp64; None if it has none, or if one of the graphs holds
        numbers in half types, which the other may hold in another form.
        """
        if self._edits.is_collective or constants_of(module) or constants_of(self._origin.dynamo[0].module):
            return None
        try:
            value = exact.of().value(node)
        except KeyError:
            return None
        return value if isinstance(value, torch.Tensor) and not exact.of().taken.get(node) else None

    @functools.cached_property
    def _differentiated(self) -> Gradients | None:
        """The inputs of the forward for which the program asks for gradients, and none of these: code can look at
        whether they are asked for. This takes the memory of what is saved for a backward, so it is done where a result
        is wrong without.
        """
        joint = self._origin.traced
        if joint is None or not self._origin.is_joint or self._edits.is_collective:
            return None
        where = places(joint, self._origin.dynamo[0].module)
        found = [where.place_of(one.grad_of) for one in _descriptions(joint).values() if hasattr(one, "grad_of")]
        return Gradients(tuple(at for at in found if at is not None), (), ())

    def _changed(self, module: GraphModule, values: Results, args: Sequence[Any]) -> list[Checked]:
        """Rows of inputs that the graph changes in place."""
        names = inputs_of(module)
        written = dict.fromkeys((names[at] for at in self._lost(module, args)), "")
        written |= {node.args[0].name: node.name for node in module.graph.nodes if _is_copy(node)}
        afterwards = values.inputs
        wanted = [
            _Wanted(name, name, at, afterwards[at], maker=written[name])
            for at, name in enumerate(names)
            if name in written
        ]
        exact = Exacts(module, lambda: values.for_exact, (), {}, set(filter(None, written.values())))
        return self._rows(wanted, args, lambda ran, _, at: ran.inputs[at], None, module, exact) if wanted else []

    def _left(self, rows: list[Checked], args: Sequence[Any], module: GraphModule) -> Left | None:
        if rows and all(row.reason for row in rows):
            return None
        try:
            ran, _ = self._edits.plain(args, self._as_traced)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            return None
        return _at_places(ran, module)

    def _with_forms(
        self, rows: list[Checked], wanted: Sequence[_Wanted], args: Sequence[Any], module: GraphModule, left: Left
    ) -> list[Checked]:
        """`rows` of `wanted`, wrong where AOTAutograd's graph gives a result other strides than Dynamo's, or has it
        share memory that it has not there: AOTAutograd makes results anew that share some there, and no others.
        """
        if self._edits.is_collective:
            return [*rows, self._row(_FORMS, "", _ALIKE)]
        if self.left is None:
            return rows
        names = inputs_of(module)
        shared = sharing(self.left, names, tuple(plain_results(module)))
        # What is in the memory of an input is made anew from the input when the graph has returned.
        made = {one for one, other in shared if other in names}
        visible = self.visible = tuple(at for at in plain_results(module) if f"result {at}" not in made)
        pairs = sharing(left, names, visible) - shared
        if pairs and self._edits.edits:  # see `_edited`
            edited, _ = self._edits.ran(len(self._edits.edits), args, self._as_traced, ())
            pairs -= sharing(_at_places(edited, module), names, visible)
        if pairs:
            of_aot = sharing(alone(module, args, self._state), names, visible)
            self.suspects, pairs = pairs - of_aot, pairs & of_aot
        shares = {one for pair in shared for one in pair}
        found = []
        for row, one in zip(rows, wanted, strict=True):
            node = results_of(module)[one.at] if one.at is not None and one.at in visible else None
            if isinstance(node, Node) and one.at is not None and verdict(row) not in (WRONG, NOT_COMPARABLE):
                row = with_sharing(row, pairs, AOT)
                if row.buffer not in shares and not row.mismatch:
                    row = with_strides(row, node.meta.get("val"), strides_of(self.left.results[one.at]))
            found.append(row)
        return found

    def _lost(self, module: GraphModule, args: Sequence[Any]) -> list[int]:
        """Inputs that Dynamo's graph changes, and whose new elements AOTAutograd's returns to nobody."""
        if self.left is None:
            return []
        where = places(module, self._origin.dynamo[0].module)
        described = _descriptions(module).values()
        returned = {where.place_of(getattr(one, "mutated_input", None)) for one in described}
        kept = [
            one if isinstance(one, torch.Tensor) and _form(one) == _form(before) else before
            for before, one in zip(args, self.left.inputs, strict=False)
        ]
        return [at for at in changed(args, kept) if at not in returned]

    def _edited(self, module: GraphModule, args: Sequence[Any]) -> list[Checked]:
        """Rows of results that an edit of Dynamo's graph has share memory, and of those that AOTAutograd does not
        return, as they are views of others: the program gets them as the edited graph has them.
        """
        edits = self._edits.edits
        if self.left is None or not edits:
            return []
        try:
            found = self._edits.sharing(lambda buffer: self._row(buffer, ""), inputs_of(module), args, self._as_traced)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            reason = f"Dynamo's graph could not be run after {edits[-1].name} ({type(error).__name__})"
            return [self._row("results", "", reason)]
        last, _ = self._edits.ran(len(edits), args, self._as_traced, ())
        first, _ = self._edits.plain(args, self._as_traced)
        inside = set(plain_results(module).values())
        views = [
            _Wanted(f"result[{at}]", "", at, one)
            for at, one in enumerate(last.results)
            if at not in inside and isinstance(one, torch.Tensor) and at < len(first.results)
        ]
        return found + self._rows(views, args, lambda ran, _, at: ran.results[at], None, module)

    def _row(self, buffer: str, node: str, reason: str = "") -> Checked:
        return Checked(
            graph=self._graph,
            call=self._number,
            index=-1,
            level=AOT,
            against=DYNAMO_GRAPH,
            buffer=buffer,
            node=node,
            reason=reason,
        )


def plain_results(module: GraphModule) -> dict[int, int]:
    """Positions of the results of AOTAutograd's graph that the program gets as they are, and where Dynamo's graph
    returns them.
    """
    described = _descriptions(module)
    return {at: one.idx for at, one in described.items() if type(one).__name__ == "PlainAOTOutput"}


def _exact(module: GraphModule, values: Results) -> Exacts:
    wanted = {one.name for one in results_of(module) if isinstance(one, Node)}
    return Exacts(module, lambda: values.for_exact, (), {}, wanted)


def _descriptions(module: GraphModule) -> dict[int, Any]:
    """Position of a result → what AOTAutograd says it is."""
    found = module.graph.output_node().meta.get("desc") or ()
    return {at: one for at, one in enumerate(found) if one is not None}


def _form(value: Any) -> Any:
    """Sizes and strides: a function can change those of an input, too, and leave its elements as they are."""
    return (value.shape, value.stride()) if isinstance(value, torch.Tensor) else None


def _at_places(ran: Ran, module: GraphModule) -> Left:
    """What a run left behind, at the places of AOTAutograd's graph `module`."""
    results: list[Any] = [None] * len(results_of(module))
    for at, given_as in plain_results(module).items():
        results[at] = ran.results[given_as] if given_as < len(ran.results) else None
    plain = [[one.detach() if isinstance(one, torch.Tensor) else one for one in each] for each in (results, ran.inputs)]
    return Left(*plain)


def _is_half(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)


def _is_copy(node: Node) -> bool:
    is_copy = node.op == "call_function" and node.target is torch.ops.aten.copy_.default
    return is_copy and node.args[0].op == "placeholder"  # type: ignore[union-attr]
