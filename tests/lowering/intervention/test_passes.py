"""What a pass makes wrong is found by running the graph before the passes, and after each, on the same inputs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.graphs.nodes import names_of
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared
from inspect_compile.lowering.intervention.numerics.inputs import RandomState
from inspect_compile.lowering.intervention.numerics.left_behind.left import OwnResults
from inspect_compile.lowering.intervention.numerics.left_behind.passes import Passes, PassesCheck
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.results import Left, Results

Function = Callable[[Tensor], Any]
LAST, RANDOM = "what follows", "random numbers"


def checked(
    x: Tensor, before: Function, *after: Function, own: Function | None = None, first: int = 0
) -> tuple[PassesCheck, Left, list[str]]:
    """A check of `before`, which passes called 1, 2, … turn into those `after` it, and what the last leaves behind."""
    modules = [one if isinstance(one, GraphModule) else make_fx(one)(x.clone()) for one in (before, *after)]
    levels = [Level(str(at), module) for at, module in enumerate(modules)]
    with RandomState([x]) as state:

        def run(module: GraphModule) -> Results:
            return Results(module, [x], state, Shared(None))

        ran = run(levels[-1].module)
        compiled = OwnResults(None if own is None else lambda: Left(_listed(own(x.clone())), [x]))
        row = Checked(graph="g", call=1, index=-1, level="", against="")
        check = PassesCheck(
            row, run(levels[0].module), Passes(levels, run, LAST), compiled, RANDOM, always_exact=False, first=first
        )
    return check, Left(list(ran.last)[first:], ran.inputs), names_of(levels[-1].module)[first:]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def double(x: Tensor) -> Tensor:
    return x.sin() * 2


def triple(x: Tensor) -> Tensor:
    return x.sin() * 3


def sum_twice(x: Tensor) -> Tensor:
    return x.sin() + x.sin()


def test_the_first_pass_after_which_a_result_is_wrong() -> None:
    check, after, names = checked(torch.randn(64), double, sum_twice, triple, triple)

    (row,) = check.results(after, names)

    assert (row.level, verdict(row), row.buffer, row.node, row.operator) == (
        "2",
        WRONG,
        "result 0",
        "mul",
        "aten.add.Tensor",
    )


def test_what_is_right_after_each_pass_is_the_matter_of_what_follows() -> None:
    x = torch.randn(64)
    check, _, names = checked(x, double, sum_twice)

    (row,) = check.results(Left([triple(x)], [x]), names)

    assert (row.level, verdict(row)) == (LAST, WRONG)


def test_what_the_compiled_code_gives_right_all_the_same() -> None:
    check, after, names = checked(torch.randn(64), double, triple, own=sum_twice)

    (row,) = check.results(after, names)

    assert (row.level, verdict(row)) == ("1", WORSE)


def test_a_graph_that_cannot_run_any_more() -> None:
    x = torch.randn(64)
    broken = make_fx(lambda x: x.sin().view(8, 8))(x)
    (view,) = broken.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default)
    view.args = (view.args[0], [7, 7])
    check, after, names = checked(x, double, broken, triple)

    (row,) = check.results(after, names)

    assert (row.level, verdict(row)) == ("1", WRONG)


def test_results_behind_those_of_another_graph() -> None:
    check, after, names = checked(
        torch.randn(64), lambda x: (x.cos(), double(x)), lambda x: (x.cos(), triple(x)), first=1
    )

    (row,) = check.results(after, names)

    assert (row.level, row.buffer, verdict(row)) == ("1", "result 0", WRONG)


def test_what_rounding_to_a_half_type_hides() -> None:
    x = torch.randn(4096).to(torch.bfloat16)

    (same,) = _rows(checked(x, lambda x: x.sin() * 2 * 0.5, lambda x: x.sin()))
    (other,) = _rows(checked(x, lambda x: x.sin() * 1.0, lambda x: x.sin() * 1.002))

    assert verdict(same) != WRONG
    assert (other.level, verdict(other)) == ("1", WRONG)
    assert other.exact_apart == pytest.approx(0.002, rel=0.01)


def test_inputs_that_are_changed() -> None:
    x = torch.randn(64)
    check, after, _ = checked(x, lambda x: x.copy_(double(x)), lambda x: x.copy_(triple(x)))

    (row,) = check.inputs({0: after.inputs[0]}, {"x_1": "copy_"})

    assert (row.level, row.buffer, row.node, verdict(row)) == ("1", "x_1", "copy_", WRONG)


def test_what_depends_on_random_numbers() -> None:
    (row,) = _rows(checked(torch.randn(64), lambda x: x * torch.rand_like(x), triple))

    assert row.reason == RANDOM


def _rows(found: tuple[PassesCheck, Left, list[str]]) -> list[Checked]:
    check, after, names = found
    return check.results(after, names)
