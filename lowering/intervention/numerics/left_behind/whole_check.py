"""What a call of the compiled code leaves behind in which nothing is forced, beside the graph run node by node.

The launches are judged one by one, each with the reference's values. That leaves out the code between them (views,
memory that is reused, the order of the results), and launches that could not be compared. Here all of the code
runs as it was loaded, and what comes out is compared: results, and inputs that the graph changes.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import COMPILED, LOWERED_GRAPH
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.elements import is_equal
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import results_of
from inspect_compile.lowering.intervention.numerics.graphs.on_demand import OnDemand, Whole
from inspect_compile.lowering.intervention.numerics.graphs.shared import changed_inputs
from inspect_compile.lowering.intervention.numerics.judges import NUMBERS, compared_graphs, described, near
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.values import Plan

_ROUNDED: Final = "it includes the rounding of earlier launches, whose size is not known"
_NO_NODE: Final = "no single node of the graph has the new value of this input"


def whole_rows(
    plan: Plan,
    run: "OnDemand | Whole",
    found: Left,
    args: Sequence[Any],
    number: int,
    *,
    always_exact: bool,
) -> list[Checked]:
    """A row for each result of the graph that is a tensor, and for each input that it changes. `run` is the graph that
    is lowered, which has run to its end; `args` are its inputs.
    """
    pairs = list(_pairs(plan, run, found, args, number))
    exact = Exacts(plan.module, run.whole, (), {}, {pair.node for pair in pairs} - {""})
    rows = []
    for row, value, eager, node in pairs:
        if node and node in run.reference.unknown:
            row = with_fields(row, reason=run.reference.unknown[node])
        elif node:
            compared = compared_graphs(row, value, eager, node, exact, always_exact=always_exact)
            is_off = verdict(compared) in (WRONG, WORSE) and not compared.mismatch
            row = with_fields(row, reason=_ROUNDED) if is_off and exact.of().misses_rounding(node) else compared
            exact.passed(node)
        else:
            row = _without_node(row, value, eager)
        rows.append(row)
    return rows


class _Pair(NamedTuple):
    row: Checked
    value: Any
    """The compiled code's."""
    eager: Any
    """The reference's."""
    node: str
    """The node that has it; empty if none has."""


def _pairs(plan: Plan, run: "OnDemand | Whole", found: Left, args: Sequence[Any], number: int) -> Iterator[_Pair]:
    """What is compared."""
    row = Checked(graph=plan.graph, call=number, index=-1, level=COMPILED, against=LOWERED_GRAPH)
    for at, node in enumerate(results_of(plan.module)):
        if isinstance(node, Node) and isinstance(run.reference.results[at], (torch.Tensor, *NUMBERS)):
            value = found.results[at] if at < len(found.results) else None
            named = with_fields(row, buffer=f"result {at}", node=node.name)
            yield _Pair(named, value, run.reference.results[at], node.name)
    inputs = plan.module.graph.find_nodes(op="placeholder")
    changed = changed_inputs(plan.module)
    for at, (before, after) in enumerate(zip(args, run.inputs, strict=False)):
        if isinstance(after, torch.Tensor) and _is_changed(at, changed, before, after):
            named = with_fields(row, buffer=inputs[at].name)
            yield _Pair(named, found.inputs[at], after, _changed_to(inputs[at]))


def _is_changed(at: int, changed: set[int] | None, before: torch.Tensor, after: torch.Tensor) -> bool:
    """`changed`: see `changed_inputs`."""
    return not is_equal(before, after) if changed is None else at in changed


def _changed_to(node: Node) -> str:
    """The node whose value an input has at the end; empty if it is changed in another way than by one copy to it."""
    last = [user for user in node.users if user.op == "call_function" and str(user.target) == "aten.copy_.default"]
    of_it = [user for user in last if user.args[0] is node]
    return of_it[0].name if len(of_it) == 1 else ""


def _without_node(row: Checked, value: Any, eager: torch.Tensor) -> Checked:
    if not isinstance(value, torch.Tensor) or value.shape != eager.shape or value.dtype != eager.dtype:
        return with_fields(row, mismatch="another shape or dtype than that of the graph's input")
    row = described(row, value)
    if is_equal(value, eager):
        return with_fields(row, is_equal=True)
    return near(row, value, eager) or with_fields(row, reason=_NO_NODE)
