"""Which node of Dynamo's graph is the first whose value, or gradient, is another one in AOTAutograd's graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import AOT
from inspect_compile.knowledge.numerics.verdicts import SAME_IN_FP64, WRONG, verdict
from inspect_compile.lowering.core.fx_nodes import origins, target_name, user_line
from inspect_compile.lowering.intervention.numerics.errors import exactly_apart
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, unseen
from inspect_compile.lowering.intervention.numerics.results import Results
from inspect_compile.lowering.intervention.numerics.upstream.beside import beside
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_run import Gradients, Seen, places, run
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origin
from inspect_compile.lowering.intervention.numerics.upstream.shadow import Shadow
from inspect_compile.probe import let_pass


class _Made(NamedTuple):
    """The values of AOTAutograd's graph."""

    values: Mapping[Any, Any]
    exact: Exacts | None
    """The same in fp64, if these are to be compared."""


class FirstWrong:
    """Looks for it in another run of Dynamo's graph."""

    def __init__(self, origin: Origin, state: RandomState, empty: Checked, *, is_collective: bool) -> None:
        """`empty`: a row that says of no value how near it is. `is_collective`: the other ranks would have to run the
        graph, too, so that nothing is looked for.
        """
        self._origin = origin
        self._state = state
        self._empty = empty
        self._is_collective = is_collective

    def of_results(
        self,
        rows: Sequence[Checked],
        module: GraphModule,
        values: Results,
        args: Sequence[Any],
        gradients: Gradients | None,
    ) -> list[Checked]:
        """`rows` of results of AOTAutograd's graph `module`, with the node where this level is blamed."""
        if not (wrong := _wrong(rows)):
            return list(rows)
        made = self._made(module, values, wrong)
        node = self._looked_for(lambda: self._first_wrong(module, made, args, gradients))
        return [self._with_source(row, node) for row in rows]

    def of_gradients(
        self, rows: Sequence[Checked], module: GraphModule, values: Results, args: Sequence[Any], asked: Gradients
    ) -> list[Checked]:
        """The same of gradients."""
        if not (wrong := _wrong(rows)):
            return list(rows)
        made = self._made(module, values, wrong)
        node = self._looked_for(lambda: self._first_wrong_gradient(made, args, asked))
        return [self._with_source(row, node, "the gradient of ") for row in rows]

    def _looked_for(self, look: Callable[[], Node | None]) -> Node | None:
        """What `look` finds in another run; None if it fails, or the other ranks would have to run, too."""
        if self._is_collective:
            return None
        try:
            return look()
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            return None

    @staticmethod
    def _with_source(row: Checked, node: Node | None, before: str = "") -> Checked:
        """The row with the node of Dynamo's graph that is blamed, if the row is wrong at this level."""
        if node is None or row.level != AOT or verdict(row) != WRONG:
            return row
        return with_fields(row, source=node.name, operator=before + target_name(node.target), where=user_line(node))

    @staticmethod
    def _made(module: GraphModule, values: Results, wrong: Sequence[Checked]) -> _Made:
        """The values of AOTAutograd's graph that are to be compared with those of Dynamo's, to find what made these
        results wrong: those in fp64 if only these are.
        """
        is_hidden = all(row.exact_apart is not None for row in wrong)
        return _Made(values.whole.values, Exacts(module, lambda: values.whole, (), {}) if is_hidden else None)

    def _first_wrong(
        self, module: GraphModule, made: _Made, args: Sequence[Any], gradients: Gradients | None
    ) -> Node | None:
        """The first node of Dynamo's graph whose value is another one in AOTAutograd's graph `module`."""
        source = {node: next(iter(origins(node.meta)), "") for node in module.graph.nodes}
        names: dict[str, list[str]] = {}
        for node in module.graph.nodes:
            # What is computed on the way to it may be right.
            if any(source[user] != source[node] for user in node.users):
                names.setdefault(source[node], []).append(node.name)
        found: list[Node] = []

        def seen(node: Node, value: Any, shadow: Shadow) -> bool:
            if self._is_wrong(value, made, names.get(node.name, ()), shadow):
                found.append(node)
            return not found

        self._again(args, seen, gradients)
        return found[0] if found else None

    def _first_wrong_gradient(self, made: _Made, args: Sequence[Any], gradients: Gradients) -> Node | None:
        """The node of Dynamo's graph whose input has, as the first one, a gradient that the joint graph never has."""
        names = list(made.values)
        found: list[Node] = []

        def seen(node: Node, value: Any, shadow: Shadow) -> bool:
            def gradient(one: torch.Tensor) -> None:
                with unseen():
                    if not found and self._is_wrong(one, made, names, shadow):
                        found.append(node)

            if isinstance(value, torch.Tensor) and value.requires_grad:
                value.register_hook(gradient)  # type: ignore[no-untyped-call]
            return True

        self._again(args, seen, gradients)
        return next(iter(found[0].users)) if found else None

    def _is_wrong(self, value: Any, made: _Made, names: Sequence[str], shadow: Shadow) -> bool:
        """True if `value` should be that of one of the nodes called `names`, and is that of none."""
        if not isinstance(value, torch.Tensor):
            return False
        tensors = {name: one for name in names if isinstance(one := made.values.get(name), torch.Tensor)}
        like = {name: one for name, one in tensors.items() if one.shape == value.shape and one.dtype == value.dtype}
        if made.exact is None:
            rows = (beside(self._empty, one, value, shadow.value) for one in reversed(like.values()))
            return bool(like) and all(verdict(row) == WRONG for row in rows)
        known, exact = shadow.value(value), made.exact.of()
        if not value.is_floating_point() or known.reason or known.is_random:
            return False
        return bool(like) and all(exactly_apart(exact.value(name), known.exact) > SAME_IN_FP64 for name in like)

    def _again(self, args: Sequence[Any], seen: Seen, gradients: Gradients | None) -> None:
        """Run Dynamo's graph as it was handed to AOTAutograd."""
        assert self._origin.traced is not None
        last = self._origin.dynamo[-1].module
        self._state.restore()
        run(last, places(self._origin.traced, last), copies(args), self._origin.surroundings, seen, gradients)


def _wrong(rows: Sequence[Checked]) -> list[Checked]:
    return [row for row in rows if verdict(row) == WRONG and row.level == AOT]
