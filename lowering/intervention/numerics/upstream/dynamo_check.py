"""What AOTAutograd and the decompositions made of a graph's results: Dynamo's graph run beside AOTAutograd's."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import AOT, DYNAMO_GRAPH
from inspect_compile.knowledge.numerics.verdicts import WRONG, verdict
from inspect_compile.lowering.core.fx_nodes import origins, target_name, user_line
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.reference import Reference, reference, results_of
from inspect_compile.lowering.intervention.numerics.upstream.beside import beside
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_run import (
    Gradients,
    NotMappedError,
    Places,
    Ran,
    places,
    run,
)
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origin
from inspect_compile.lowering.intervention.numerics.upstream.shadow import Shadow
from inspect_compile.probe import let_pass

_MADE: Final = "AOTAutograd returns it in the place of results that share its memory"

_CHANGED: Final = "a gradient is given for an input that the graph changes"
_Wanted = Sequence[tuple[str, str, Any, Any]]
"""Name of a result, its node of AOTAutograd's graph, where it is in a run of Dynamo's, and its value."""
_Of = Callable[[Ran, Places, Any], Any]


class DynamoCheck:
    """Compares the results of one call of AOTAutograd's graph with those of Dynamo's."""

    def __init__(self, graph: str, number: int, origin: Origin, state: RandomState) -> None:
        self._graph = graph
        self._number = number
        self._origin = origin
        self._state = state
        self._runs: dict[tuple[int, bool], tuple[Ran, Places]] = {}
        self._culprit: Node | None = None
        self._has_looked = False

    def results(
        self, module: GraphModule, values: Reference, given: Sequence[Any], args: Sequence[Any]
    ) -> list[Checked]:
        """A row for each result, and for each input that is changed in place, of AOTAutograd's graph `module`.

        `values` are those of its nodes, `given` its inputs after it ran, `args` those before.
        """
        wanted = []
        described = _descriptions(module)
        for at, node in enumerate(results_of(module)):
            if isinstance(node, Node):
                wanted.append((f"result {at}", node.name, described.get(at), values.values.get(node.name)))

        def of(ran: Ran, where: Places, description: Any) -> Any:
            kind = type(description).__name__
            if kind == "PlainAOTOutput" and description.idx < len(ran.results):
                return ran.results[description.idx]
            if kind == "InputMutationAOTOutput":
                at = where.place_of(description.mutated_input)
                return None if at is None else ran.inputs[at]
            return None

        rows = self._rows(wanted, args, of, None)
        named = [self._named(module, values, args, row) if row.level == AOT else row for row in rows]
        return named + self._changed(module, given, args)

    def gradients(
        self, module: GraphModule, values: Reference, args: Sequence[Any], tangents: Sequence[Any]
    ) -> list[Checked]:
        """A row for each gradient that the joint graph `module` returns; `args` are its inputs without `tangents`."""
        described = _descriptions(module)
        try:
            where = places(module, self._origin.dynamo[0].module)
        except NotMappedError:
            return []
        wanted, inputs = [], []
        first = next((at for at, one in described.items() if type(one).__name__ == "GradAOTOutput"), 0)
        for at, node in enumerate(results_of(module)):
            if type(described.get(at)).__name__ == "GradAOTOutput" and isinstance(node, Node):
                place = where.place_of(described[at].grad_of)
                if place is not None:
                    wanted.append((f"result {at - first}", node.name, len(inputs), values.values.get(node.name)))
                    inputs.append(place)
        outputs = []
        for node in module.graph.find_nodes(op="placeholder"):
            found = getattr(node.meta.get("desc"), "output", None)
            if type(node.meta.get("desc")).__name__ == "TangentAOTInput":
                outputs.append(found.idx if type(found).__name__ == "PlainAOTOutput" else None)
        if None in outputs:
            return [
                self._row(buffer, node, "a gradient is given for an input that the graph changes")
                for buffer, node, _, _ in wanted
            ]
        asked = Gradients(tuple(inputs), tuple(outputs), tangents)
        return self._rows(wanted, args, lambda ran, _, at: ran.gradients[at], asked)

    def _rows(
        self,
        wanted: Sequence[tuple[str, str, Any, Any]],
        args: Sequence[Any],
        of: Callable[[Ran, Places, Any], Any],
        gradients: Gradients | None,
    ) -> list[Checked]:
        """Rows of the results `wanted`; `of` finds one in a run."""
        try:
            first, where = self._ran(0, args, gradients)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            reason = (
                str(error)
                if isinstance(error, NotMappedError)
                else f"Dynamo's graph could not be run ({type(error).__name__})"
            )
            return [self._row(buffer, node, reason) for buffer, node, _, _ in wanted]
        rows = []
        for buffer, node, place, value in wanted:
            eager = of(first, where, place)
            if eager is None:
                rows.append(self._row(buffer, node, _MADE))
                continue
            row = self._row(buffer, node)
            plain = row
            row = beside(row, value, eager, first.shadow.value)
            if verdict(row) == WRONG:
                row = with_fields(row, level=AOT)
                for at, level in enumerate(self._origin.dynamo[1:], start=1):
                    changed = beside(
                        plain,
                        of(self._ran(at, args, gradients)[0], where, place),
                        eager,
                        first.shadow.value,
                    )
                    if verdict(changed) == WRONG:
                        row = with_fields(row, level=level.name)
                        break
            rows.append(row)
        return rows

    def _ran(self, at: int, args: Sequence[Any], gradients: Gradients | None) -> tuple[Ran, Places]:
        """Dynamo's graph after so many edits."""
        key = at, gradients is not None
        if key not in self._runs:
            assert self._origin.traced is not None
            module = self._origin.dynamo[at].module
            where = places(self._origin.traced, module)
            self._state.restore()
            self._runs[key] = run(module, where, copies(args), self._origin.surroundings, gradients=gradients), where
        return self._runs[key]

    def _changed(self, module: GraphModule, given: Sequence[Any], args: Sequence[Any]) -> list[Checked]:
        """Rows of inputs that the graph changes in place."""
        names = [node.name for node in module.graph.find_nodes(op="placeholder")]
        written = {node.args[0].name for node in module.graph.nodes if node.op == "call_function" and _is_copy(node)}
        wanted = [(name, name, at, given[at]) for at, name in enumerate(names) if name in written]
        return self._rows(wanted, args, lambda ran, _, at: ran.inputs[at], None) if wanted else []

    def _named(self, module: GraphModule, values: Reference, args: Sequence[Any], row: Checked) -> Checked:
        """The row with the first node of Dynamo's graph whose value is another one in AOTAutograd's."""
        if not self._has_looked:
            self._has_looked = True
            try:
                self._culprit = self._first_wrong(module, values, args)
            except Exception as error:
                let_pass(error)
                error.__traceback__ = None
        node = self._culprit
        if node is None:
            return row
        return with_fields(row, source=node.name, operator=target_name(node.target), where=user_line(node))

    def _first_wrong(self, module: GraphModule, values: Reference, args: Sequence[Any]) -> Node | None:
        made: dict[str, list[torch.Tensor]] = {}
        for node in module.graph.nodes:
            name, value = next(iter(origins(node.meta)), ""), values.values.get(node.name)
            if name and isinstance(value, torch.Tensor):
                made.setdefault(name, []).append(value)
        found: list[Node] = []

        def seen(node: Node, value: Any, shadow: Shadow) -> bool:
            if not isinstance(value, torch.Tensor):
                return True
            like = [one for one in made.get(node.name, ()) if one.shape == value.shape and one.dtype == value.dtype]
            rows = [beside(self._row("", ""), one, value, shadow.value) for one in reversed(like)]
            if rows and all(verdict(one) == WRONG for one in rows):
                found.append(node)
            return not found

        last = self._origin.dynamo[-1].module
        assert self._origin.traced is not None
        self._state.restore()
        run(last, places(self._origin.traced, last), copies(args), self._origin.surroundings, seen)
        return found[0] if found else None

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


def forward_values(module: GraphModule, args: Sequence[Any], state: RandomState) -> tuple[Reference, list[Any]]:
    """The values of AOTAutograd's graph, and its inputs after it ran."""
    given = copies(args)
    state.restore()
    return reference(module, given), given


def _descriptions(module: GraphModule) -> dict[int, Any]:
    """Position of a result → what AOTAutograd says it is."""
    found = module.graph.output_node().meta.get("desc") or ()
    return {at: one for at, one in enumerate(found) if one is not None}


def _is_copy(node: Node) -> bool:
    return node.target is torch.ops.aten.copy_.default and node.args[0].op == "placeholder"  # type: ignore[union-attr]
