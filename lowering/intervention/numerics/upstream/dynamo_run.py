"""Dynamo's graph on the inputs of AOTAutograd's: as the program would run it, and beside it in fp64."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.func import functional_call
from torch.fx import GraphModule, Interpreter, Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import inputs_of
from inspect_compile.lowering.intervention.numerics.inputs import unseen
from inspect_compile.lowering.intervention.numerics.upstream.origins import Surroundings
from inspect_compile.lowering.intervention.numerics.upstream.shadow import BOTH, Shadow
from inspect_compile.torch_compat import runtime as names

Seen = Callable[[Node, Any, Shadow], bool]
"""A node has the value; False ends the run."""


class NotMappedError(Exception):
    """An input of AOTAutograd's graph is none of Dynamo's: the message says which."""


class InputMapping(NamedTuple):
    """Where Dynamo's graph takes the inputs of AOTAutograd's graph."""

    positions: tuple[int | None, ...]
    """Input of Dynamo's graph → the input of AOTAutograd's; None if it is not used there."""
    owned: dict[str, int]
    """Parameter or buffer of Dynamo's module → the input of AOTAutograd's."""

    def place_of(self, description: Any) -> int | None:
        """The input of AOTAutograd's graph that a description of torch's is of."""
        kind = type(description).__name__
        if kind == "PlainAOTInput":
            return dict(enumerate(self.positions)).get(description.idx)
        return self.owned.get(getattr(description, "target", ""))


def places(traced: GraphModule, dynamo: GraphModule) -> InputMapping:
    """By the descriptions that AOTAutograd gives its inputs. Raises NotMappedError."""
    positions: list[int | None] = [None] * len(inputs_of(dynamo))
    owned: dict[str, int] = {}
    nodes = [node for node in traced.graph.find_nodes(op="placeholder") if not is_tangent(node)]
    for at, node in enumerate(nodes):
        found = node.meta.get("desc")
        kind = type(found).__name__
        if kind == "PlainAOTInput" and found.idx < len(positions):
            positions[found.idx] = at
        elif kind in ("ParamAOTInput", "BufferAOTInput"):
            owned[found.target] = at
        else:
            msg = f"AOTAutograd made an input of its graph ({kind})"
            raise NotMappedError(msg)
    return InputMapping(tuple(positions), owned)


def is_tangent(node: Node) -> bool:
    """True for an input of a joint graph that is a gradient of a result."""
    return type(node.meta.get("desc")).__name__ == "TangentAOTInput"


class Ran(NamedTuple):
    """What a run of Dynamo's graph left."""

    results: list[Any]
    inputs: list[Any]
    """Those of AOTAutograd's graph, as they are afterwards."""
    gradients: list[Any]
    shadow: Shadow | None
    """The values in fp64, if they were computed."""


def run(
    module: GraphModule,
    where: InputMapping,
    given: list[Any],
    surroundings: Surroundings,
    seen: Seen | None = None,
    gradients: "Gradients | None" = None,
    seeds: tuple[int | None, ...] = BOTH,
) -> Ran:
    """Run it on `given`, which are changed in place if the graph does that; in fp64, too, with these `seeds` of noise,
    as it must be with BOTH if something is to be `seen`. Raises what the graph raises.
    """
    shadow = Shadow(seeds) if seeds else None
    found: list[Any] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(transforms_ended())
        stack.enter_context(surroundings.again())
        stack.enter_context(torch.set_grad_enabled(surroundings.has_gradients or gradients is not None))
        leaves = gradients.leaves(given) if gradients is not None else {}
        if shadow is not None:
            stack.enter_context(shadow)
        inputs = [leaves[at].clone() if at in leaves else one for at, one in enumerate(given)]
        taken = [None if at is None else inputs[at] for at in where.positions]
        if where.owned:
            owned = {name: inputs[at] for name, at in where.owned.items()}
            results = functional_call(module, owned, tuple(taken))
        else:
            results = _Seeing(module, seen, shadow).run(*taken) if shadow is not None else module(*taken)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        if gradients is not None:
            stack.enter_context((gradients.surroundings or surroundings).again())
            found = gradients.of(results, leaves)
    if shadow is not None:
        shadow.sweep()
    return Ran(results, inputs, found, shadow)


class Gradients(NamedTuple):
    """The gradients that a backward graph returns."""

    inputs: tuple[int, ...]
    """Inputs of AOTAutograd's graph that they are of."""
    outputs: tuple[int, ...]
    """Results of Dynamo's graph that tangents are given for."""
    tangents: Sequence[Any]
    surroundings: Surroundings | None = None
    """Those of the program's backward, in which autocast seldom is as in the forward; None if they are the forward's.
    """

    def leaves(self, given: Sequence[Any]) -> dict[int, torch.Tensor]:
        """Those inputs, with gradients."""
        return {at: given[at].detach().requires_grad_() for at in self.inputs}

    def of(self, results: Sequence[Any], leaves: dict[int, torch.Tensor]) -> list[Any]:
        """One for each input; None for one that no result depends on."""
        pairs = [(results[at], one) for at, one in zip(self.outputs, self.tangents, strict=True)]
        pairs = [(result, one) for result, one in pairs if isinstance(result, torch.Tensor) and result.requires_grad]
        if not pairs:
            return [None] * len(self.inputs)
        outputs, tangents = zip(*pairs, strict=True)
        return list(torch.autograd.grad(outputs, [leaves[at] for at in self.inputs], tangents, allow_unused=True))


@contextlib.contextmanager
def transforms_ended() -> Iterator[None]:
    """Transforms of torch.func (grad, vmap, jvp) that a run which fails leaves begun end with this block."""
    transforms = names.TRANSFORMS.load()
    depth, forbidden = transforms.get_dynamic_layer_stack_depth(), names.WHY_NO_HOOKS.load()()
    try:
        yield
    except BaseException:
        transforms.pop_dynamic_layer_stack_and_undo_to_depth(depth)
        if forbidden is None:
            names.ALLOW_HOOKS.load()()
        raise


def _unwrapped(value: Any) -> Any:
    """The tensor with the elements of one that a transform of torch.func has wrapped."""
    transforms = names.TRANSFORMS.load()
    while isinstance(value, torch.Tensor) and transforms.is_functorch_wrapped_tensor(value):
        value = transforms.get_unwrapped(value)
    return value


class _Seeing(Interpreter):
    """Shows each value as it is computed."""

    def __init__(self, module: GraphModule, seen: Seen | None, shadow: Shadow) -> None:
        super().__init__(module)
        self._seen = seen
        self._shadow = shadow
        self._ended = False

    def run_node(self, n: Node) -> Any:
        """The value of one node. All nodes run, also after the last one that is looked at: what one begins, a transform
        or autocast, a later one ends.
        """
        value = super().run_node(n)
        if self._seen is not None and not self._ended and n.op not in ("placeholder", "output"):
            with unseen(), names.NO_TRANSFORMS.load()():
                self._ended = not self._seen(n, _unwrapped(value), self._shadow)
        return value
