"""Graphs that are run node by node: what they have in common runs once, and what nothing needs any more is freed."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import BEYOND_ROUNDING, HALF_BEYOND_ROUNDING, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.errors import apart, measured
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared, changes_nothing
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, given
from inspect_compile.lowering.intervention.numerics.judges import near
from inspect_compile.lowering.intervention.numerics.results import Results

X = torch.linspace(-2, 2, 64)


class Operators(TorchDispatchMode):
    """Notes the operators that run."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def traced(function: Callable[..., Any], *args: Any) -> torch.fx.GraphModule:
    """Its graph of ATen operators, whose results are in a tuple."""
    return make_fx(lambda *given: (function(*given),))(*args)


def test_what_two_graphs_have_in_common_runs_once() -> None:
    one, other = traced(lambda x: x.sin().exp() + 1, X), traced(lambda x: x.sin().exp() + 2, X)
    shared = Shared()
    first = reference(one, [X], shared=shared)

    with Operators() as ran:
        second = reference(other, [X], shared=shared)

    assert ran.names == ["aten.add.Tensor"]
    assert second.values["exp"] is first.values["exp"]
    assert torch.equal(second.results[0], X.sin().exp() + 2)


def test_a_graph_of_known_results_runs_nothing() -> None:
    module, shared = traced(lambda x: x.sin().exp() + 1, X), Shared()
    reference(module, [X], shared=shared, only={"add"})

    with Operators() as ran:
        found = reference(module, [X], shared=shared, only={"add"})

    assert ran.names == []
    assert torch.equal(found.values["add"], X.sin().exp() + 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x.clone().sin(), lambda x: x.sin()),
        (lambda x: x.reshape(8, 8).reshape(4, 16).sin(), lambda x: x.reshape(4, 16).sin()),
        (lambda x: x.reshape(8, 8).reshape(64).sin(), lambda x: x.sin()),
        (
            lambda x: x.reshape(4, 8, 2).permute(2, 0, 1).permute(2, 0, 1).sin(),
            lambda x: x.reshape(4, 8, 2).permute(1, 2, 0).sin(),
        ),
        (lambda x: x.reshape(8, 8).expand(8, 8).sin(), lambda x: x.reshape(8, 8).sin()),
        (lambda x: x + torch.scalar_tensor(3.0), lambda x: x + torch.full((), 3.0)),
        (lambda x: x + torch.scalar_tensor(0, dtype=X.dtype), lambda x: x + torch.full((), 0.0)),
    ],
)
def test_views_and_copies_are_not_another_value(one: Callable[..., Any], other: Callable[..., Any]) -> None:
    shared = Shared()
    known = reference(traced(one, X), [X], shared=shared)
    module = traced(other, X)

    with Operators() as ran:
        found = reference(module, [X], shared=shared, only={node.name for node in results_of(module)})

    assert ran.names == []
    assert found.results[0] is known.results[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x.reshape(8, 8).permute(1, 0).sin(), lambda x: x.reshape(8, 8).sin()),
        (lambda x: x.reshape(8, 8).permute(1, 0).reshape(64).sin(), lambda x: x.sin()),
        (lambda x: x.reshape(8, 8).permute(1, 0).clone().reshape(4, 16).sin(), lambda x: x.reshape(4, 16).sin()),
        (lambda x: x.reshape(1, 64).expand(2, 64).sin(), lambda x: x.reshape(1, 64).sin()),
        (lambda x: x + torch.full((), 3.0, dtype=torch.float64), lambda x: x + torch.full((), 3.0)),
        (lambda x: x.to(torch.float16).sin(), lambda x: x.sin()),
    ],
)
def test_views_that_move_elements_are_another_value(one: Callable[..., Any], other: Callable[..., Any]) -> None:
    shared = Shared()
    known = reference(traced(one, X), [X], shared=shared)

    found = reference(traced(other, X), [X], shared=shared)

    assert found.results[0] is not known.results[0]
    assert torch.equal(found.results[0], other(X))


def test_a_graph_that_looks_at_strides_shares_nothing() -> None:
    shared = Shared()
    moved = X.reshape(8, 8).t()
    reference(traced(lambda x: x.sin(), moved), [moved], shared=shared)

    found = reference(
        traced(lambda x: x.sin().contiguous().as_strided((8,), (1,)), moved),
        [moved],
        shared=shared,
        only={"as_strided"},
    )

    assert torch.equal(found.results[0], moved.sin()[0])


def test_random_numbers_are_drawn_in_their_order_or_not_at_all() -> None:
    module = traced(lambda x: (x + torch.rand(64), x * 2, x + torch.rand(64)), X)
    _, twice, second = (node.name for node in results_of(module)[0])
    torch.manual_seed(5)
    wanted = X + torch.rand(64), X + torch.rand(64)
    torch.manual_seed(5)

    with Operators() as ran:
        reference(module, [X], shared=Shared(), only={twice})
    found = reference(module, [X], shared=Shared(), only={second})

    assert ran.names == ["aten.mul.Tensor"]
    assert torch.equal(found.values[second], wanted[1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: torch.full_like(x, 1).add(x), lambda x: torch.full_like(x, 1.5).add(x)),
        (lambda x: (x > 0).sum(0), lambda x: (x > 0).sum(0, keepdim=True)),
        (lambda x: x[2:9], lambda x: x[2:8]),
        (lambda x: x.to(torch.float64), lambda x: x.to(torch.float16)),
        (lambda x: x - x.sin(), lambda x: x.sin() - x),
    ],
)
def test_other_arguments_are_another_value(one: Callable[..., Any], other: Callable[..., Any]) -> None:
    shared = Shared()
    reference(traced(one, X), [X], shared=shared)

    found = reference(traced(other, X), [X], shared=shared)

    assert torch.equal(found.results[0], other(X))


def test_what_is_read_after_a_change_is_another_value() -> None:
    def changing(x: torch.Tensor) -> torch.Tensor:
        before = x.sin()
        x.copy_(before)
        return x.sin()

    module, shared = traced(changing, X.clone()), Shared()
    assert not changes_nothing(module)
    reference(traced(torch.sin, X), [X.clone()], shared=shared)

    for _ in range(2):
        given = X.clone()
        found = reference(module, [given], shared=shared)

        assert torch.equal(found.results[0], X.sin().sin())
        assert torch.equal(given, X.sin())


def test_ties_of_known_values_are_told() -> None:
    given = torch.tensor([3.0, 1.0, 3.0])
    module, shared = traced(lambda x: x.sort()[1], given), Shared()
    reference(module, [given], shared=shared)

    found = reference(module, [given], shared=shared, only={"getitem_1"})

    assert found.tied == {"getitem_1": "some of the elements that it sorts are equal"}


def test_random_numbers_are_drawn_by_each_graph() -> None:
    module, shared = traced(lambda x: torch.rand_like(x) + x.sin(), X), Shared()

    one, other = (reference(module, [X], shared=shared, only={"add"}).results[0] for _ in range(2))

    assert not torch.equal(one, other)


def test_values_of_levels_are_kept_once_they_are_needed() -> None:
    module = traced(lambda x: x.sin().exp() + 1, X)

    results = Results(module, [X], RandomState([X]), Shared())
    exacts = Exacts(module, lambda: results.whole, (), {}, {"add"})

    assert results.value("add") is not None
    assert results.value("exp") is None
    exact = exacts.of()
    assert torch.equal(exact.value("add"), X.double().sin().exp() + 1)
    assert [node.name for node in exact.env] == ["add"]
    assert set(results.whole.values) >= {"sin", "exp", "add"}


def _same(value: torch.Tensor, seed: int) -> torch.Tensor:
    return value


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("luck", [0.0, 1e-3, 1.0, 30.0])
def test_near_is_never_wrong(dtype: torch.dtype, luck: float) -> None:
    """Whatever the exact value is: eager's itself, or off by `luck` times what the verdict allows as a multiple."""
    torch.manual_seed(0)
    eager = torch.randn(4096).to(dtype)
    eager[7] = 0.01  # its neighbours are nearer to it than the tolerance is
    scale = float(eager.double().square().mean().sqrt())
    beyond = HALF_BEYOND_ROUNDING if dtype in (torch.bfloat16, torch.float16) else BEYOND_ROUNDING
    were_near = 0
    for share in torch.logspace(-8, -1, 60, dtype=torch.float64):
        compiled = eager.clone()
        compiled[7] = float(eager[7]) + float(share) * scale
        row = Checked(graph="g", call=1, index=-1, dtype=str(dtype).removeprefix("torch."), elements=4096)
        found = near(row, compiled, eager)
        if found is None or torch.equal(compiled, eager):
            continue
        were_near += 1
        difference = float(compiled[7].double() - eager[7].double())
        exact = eager.double().clone()
        exact[7] -= luck * difference / beyond
        noisy: Any = functools.partial(_same, exact)
        judged = with_fields(row, **measured(compiled, eager, exact, noisy))
        assert verdict(judged) != WRONG
        assert found.apart == pytest.approx(abs(difference))
        assert found.worst == (7,)
    assert were_near


def test_what_is_not_finite_is_not_near() -> None:
    eager = torch.ones(8)
    for bad in (float("nan"), float("inf")):
        compiled = eager.clone()
        compiled[3] = bad
        assert apart(compiled, eager) is None
        assert apart(eager, compiled) is None


def test_an_input_that_is_changed_has_no_say_in_other_values() -> None:
    """Running statistics of a batch norm, between the operators of a training step."""

    def changing(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        state.copy_(x.mean())
        return x.sin().exp()

    one, other = traced(changing, X, torch.zeros(())), traced(lambda x, state: x.sin().exp() + 1, X, torch.zeros(()))
    shared, inputs = Shared(), [X, torch.zeros(())]
    first = reference(one, inputs, shared=shared)

    with Operators() as ran:
        second = reference(other, inputs, shared=shared)

    assert ran.names == ["aten.add.Tensor"]
    assert second.values["exp"] is first.values["exp"]


@pytest.mark.parametrize("seen", [lambda x: x, lambda x: x.reshape(8, 8), lambda x: x[3:]])
def test_what_is_seen_in_changed_memory_is_another_value(seen: Callable[[torch.Tensor], torch.Tensor]) -> None:
    def changing(x: torch.Tensor) -> torch.Tensor:
        view = seen(x)
        x.copy_(x + 1)
        return view.sin()

    shared = Shared()
    reference(traced(lambda x: seen(x).sin(), X), [X], shared=shared)

    found = reference(traced(changing, X.clone()), [X.clone()], shared=shared)

    assert torch.equal(found.results[0], (seen(X) + 1).sin())


def test_inputs_in_one_memory_change_together() -> None:
    def changing(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.copy_(x + 1)
        return y.sin()

    shared = Shared()
    reference(traced(lambda x, y: y.sin(), X, X), [X, X], shared=shared)
    both = X.clone()

    found = reference(traced(changing, X.clone(), X.clone()), [both, both], shared=shared)

    assert torch.equal(found.results[0], (X + 1).sin())


def test_what_runs_always_takes_what_another_graph_has_computed() -> None:
    def changing(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        state.copy_(x.sin().mean())
        return x + 1

    module, shared, inputs = traced(changing, X, torch.zeros(())), Shared(), [X, torch.zeros(())]
    reference(module, inputs, shared=shared, only={"add"})

    with Operators() as ran:
        reference(module, inputs, shared=shared, only={"add"})

    assert "aten.copy_.default" in ran.names
    assert not {"aten.sin.default", "aten.mean.default"}.intersection(ran.names)


def test_only_inputs_that_a_graph_changes_are_copied() -> None:
    module = traced(lambda x, y, z: x.copy_(y.sin() + z), X.clone(), X, X)
    x, y = X.clone(), X.clone()

    copy, same, view = given(module, [x, y, x[1:]])

    assert copy.data_ptr() != x.data_ptr()
    assert same.data_ptr() == y.data_ptr()
    assert view.data_ptr() == copy.data_ptr() + x.element_size()


def test_copies_are_seen_as_conjugates_and_negatives_where_the_inputs_are() -> None:
    x = torch.randn(4, 3, dtype=torch.complex64)

    for seen in (x.conj(), x.conj().imag, x.t().conj()):
        (copied,), (same,) = copies([seen]), copies([seen], ())
        assert torch.equal(copied, seen)
        assert torch.equal(same, seen)
        assert copied.data_ptr() != seen.data_ptr() == same.data_ptr()


def test_a_value_in_fp64_is_let_go_with_what_it_alone_needs_once_it_was_compared() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first, second = x.sin(), x.cos()
        return first.exp(), (first + second).tanh(), second.sqrt()

    module = make_fx(function)(X)
    plain = reference(module, [X])
    exacts = Exacts(module, lambda: plain, (), {}, {"exp", "tanh", "sqrt"})
    exact = exacts.of()

    def held() -> set[str]:
        return {node.name for node in exact.env}

    assert torch.equal(exact.value("exp"), X.double().sin().exp())
    assert held() == {"x_1", "sin", "exp"}
    exacts.passed("tanh")
    assert held() == {"x_1", "exp"}
    exacts.passed("exp")
    assert held() == {"x_1"}
    assert torch.equal(exact.value("sqrt").nan_to_num(), X.double().cos().sqrt().nan_to_num())
    exacts.passed("sqrt")
    assert held() == set()
    assert torch.equal(exact.value("exp"), X.double().sin().exp())
