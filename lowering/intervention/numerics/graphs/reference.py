"""An FX graph run node by node in its dtypes."""

import warnings
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule, Interpreter, Node

from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    RANDINT,
    RANDOM,
    changed_arguments,
    has_equal,
    is_order,
)

_SEEDS: Final = ("prims.inductor_seeds.default", "prims.inductor_seed.default")


class Reference(NamedTuple):
    """An FX graph's values in their dtypes."""

    values: dict[str, Any]
    """Node → its value when it was computed."""
    unknown: dict[str, str]
    """Nodes whose random numbers are not those of the compiled code, and those that depend on them: why."""
    late: dict[tuple[str, str], Any]
    """Node, and one of its inputs that was changed in place before the node ran → the input's value then."""
    after: dict[tuple[str, str], Any]
    """Node that changes memory in place, and a node whose value is in that memory → that value afterwards."""
    tied: dict[str, str]
    """Nodes that tell the order of elements of which some are equal: why another order is as right."""
    results: tuple[Any, ...]
    """Of the graph, in the state in which the last node left their memory."""
    draws: philox.Form | None
    """How the random numbers were drawn that a kernel draws."""


def reference(module: GraphModule, inputs: Sequence[Any], draws: philox.Form | None = None) -> Reference:
    """Run a graph node by node. The inputs are changed if the graph does that. `draws`: how the kernels of the graph
    draw random numbers; None if nothing is compared with what they drew on a GPU.
    """
    run = _Plain(module, draws)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = tuple(run.run(*inputs))
    return Reference(run.values, run.unknown, run.late, run.after, run.tied, results, draws)


class _Plain(Interpreter):
    """Keeps each value as it was before a later node changed it in place."""

    def __init__(self, module: GraphModule, draws: philox.Form | None) -> None:
        super().__init__(module, garbage_collect_values=False)
        self._draws = draws
        self.values: dict[str, Any] = {}
        self.unknown: dict[str, str] = {}
        self.late: dict[tuple[str, str], Any] = {}
        self.after: dict[tuple[str, str], Any] = {}
        self.tied: dict[str, str] = {}
        self._changed: set[str] = set()

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        reason = next((why for node in n.all_input_nodes if (why := self.unknown.get(node.name))), "")
        if reason:
            self.unknown[n.name] = reason
        args, _ = self.fetch_args_kwargs_from_env(n)
        if n.op != "output":
            for node in n.all_input_nodes:
                if node.name in self._changed:
                    self.late[n.name, node.name] = self.env[node].clone()
        shared = self._sharing([args[at] for at in changed_arguments(n) if at < len(args)])
        for node in shared:
            if self.values[node.name] is self.env[node]:
                self.values[node.name] = self.env[node].clone()
        made = _random(n, args, self._draws, self.unknown)
        found = made if made is not None else super().run_node(n)
        for node in shared:
            self._changed.add(node.name)
            self.after[n.name, node.name] = self.env[node].clone()
        self.values[n.name] = found
        if is_order(n) and has_equal(self.env[n.args[0]][0], n.args[0]):  # type: ignore[index, arg-type]
            self.tied[n.name] = "some of the elements that it orders are equal"
        return found

    def _sharing(self, changed: Sequence[Any]) -> list[Node]:
        """The nodes whose values have the memory of one of these."""
        memories = {one.untyped_storage().data_ptr() for one in changed if isinstance(one, torch.Tensor)} - {0}
        if not memories:
            return []
        return [
            node
            for node, value in self.env.items()
            if isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() in memories
        ]


def _random(node: Node, args: Any, draws: philox.Form | None, unknown: dict[str, str]) -> Any:
    """The value of a node that makes seeds or random numbers of its own kind; None for any other node."""
    kind = str(node.target)
    if kind in _SEEDS:
        limits = torch.iinfo(torch.int64)
        size = [int(args[0])] if kind == _SEEDS[0] else []
        out = torch.empty(size, dtype=torch.int64, device=args[-1])
        return torch.ops.aten.randint.low_out(limits.min, limits.max, size, out=out)
    if kind not in (RANDOM, RANDINT):
        return None
    seed = args[1] if kind == RANDOM else args[3]
    form = philox.IN_CPP if seed.device.type == "cpu" else draws
    if form is None or (form.mixed and kind == RANDOM):
        unknown[node.name] = f"random numbers of a {seed.device.type} kernel are not computed again"
        return None
    if kind == RANDOM:
        return philox.random([int(each) for each in args[0]], seed, args[2], form)
    return philox.randint(int(args[0]), int(args[1]), [int(each) for each in args[2]], seed, form)
