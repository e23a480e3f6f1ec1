"""Rows of results that are compared with a level above, and the graphs that they come from, run again."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.elements import is_equal
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.nodes import results_of, written_arguments
from inspect_compile.lowering.intervention.numerics.judges import (
    by_exact,
    described,
    near,
    of_another_kind,
    of_numbers,
)
from inspect_compile.lowering.intervention.numerics.upstream.shadow import RANDOM, Shadowed


def beside(
    row: Checked,
    value: Any,
    eager: Any,
    shadow: Callable[[torch.Tensor], Shadowed],
    *,
    always_exact: bool = True,
    is_random: bool = False,
) -> Checked:
    """`row` with how near `value` is to `eager`, whose value in fp64 `shadow` gives. It is asked for that where that
    can matter, or `always_exact`. `is_random`: `value` depends on random numbers.
    """
    if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
        return of_numbers(row, value, eager)
    value, eager = value.detach(), eager.detach()
    row = described(row, value)
    if other := of_another_kind(row, value, eager, lambda: shadow(eager).has_sizes_of_values):
        return other
    if is_equal(value, eager):
        return with_fields(row, is_equal=True)
    if not always_exact and (found := near(row, value, eager)):
        return found
    if is_random:
        return with_fields(row, reason=RANDOM)
    exact = shadow(eager)
    if exact.is_random:
        return with_fields(row, reason=RANDOM)
    if exact.reason:
        row = with_fields(row, no_exact=exact.reason)
    return by_exact(row, value, eager, exact.exact, exact.noisy, has_seeds=exact.has_seeds)


def reproduced(row: Checked, plain: Checked, again: Callable[[], Checked] | None, reference: str) -> Checked:
    """`row`; if it accuses, and the `reference` that it was compared with is another one in another run, `plain` with
    that reason. `again` compares two runs; None if there can be no other one, as ranks would have to run alike.
    """
    if verdict(row) != WRONG or again is None:
        return row
    if verdict(again()) not in (WRONG, NOT_COMPARABLE):
        return row
    return not_valid(plain, f"{reference} gives another result each time it runs")


def not_valid(plain: Checked, why: str) -> Checked:
    """`plain`, not compared, because the reference is not what the program computes."""
    return with_fields(plain, reason=f"the reference is not valid for {plain.buffer}: {why}")


def forward_part(module: GraphModule, inputs: Sequence[str]) -> GraphModule:
    """What a joint graph computes from `inputs` alone: its results are as many as that gives, from the first one on.
    The last ones are a gradient of each input, or None.
    """
    known: set[Node] = set()
    for node in module.graph.nodes:
        if node.op == "placeholder":
            if node.name in inputs:
                known.add(node)
        elif node.op != "output" and all(each in known for each in node.all_input_nodes):
            known.add(node)
    results = []
    for one in results_of(module)[: max(1, len(results_of(module)) - len(inputs))]:
        if isinstance(one, Node) and one not in known:
            break
        results.append(one)
    needed: set[Node] = set()
    waiting = [
        node
        for node in known
        if node.op == "placeholder" or (node.op == "call_function" and written_arguments(node.target))
    ]
    waiting += [one for one in results if isinstance(one, Node)]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += node.all_input_nodes
    graph, copies = Graph(), dict[Node, Node]()
    for node in module.graph.nodes:
        if node in needed:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    output = graph.output([copies[one] if isinstance(one, Node) else one for one in results])
    output.meta = dict(module.graph.output_node().meta)
    return GraphModule(module, graph)
