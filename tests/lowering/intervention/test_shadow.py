"""Code that calls torch, and beside it the same in fp64."""

import gc
import weakref

import pytest
import torch

from inspect_compile.lowering.intervention.numerics.graphs.in_fp64 import widened
from inspect_compile.lowering.intervention.numerics.upstream import shadow
from inspect_compile.lowering.intervention.numerics.upstream.shadow import EXACT, NOISY, Shadow

_ELEMENTS = 1 << 22
"""Of a value whose two shadows take 64 MiB."""


def test_shadows_of_memory_that_is_gone_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model without training holds two values at a time, and so do their shadows."""
    held: list[int] = []
    alive: list[weakref.ref[torch.Tensor]] = []

    def counted(value: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = widened(value)
        alive.append(weakref.ref(made))
        held.append(sum(1 for one in alive if one() is not None))
        return made

    monkeypatch.setattr(shadow, "widened", counted)
    x = torch.ones(_ELEMENTS)
    with Shadow() as found:
        for _ in range(12):
            x = x * 1.5
    gc.collect()
    assert len(held) == 13
    assert max(held) <= 6
    assert torch.equal(found.value(x).exact, torch.full((_ELEMENTS,), 1.5**12, dtype=torch.float64))


def test_memory_that_was_there_has_one_shadow_until_it_is_changed() -> None:
    """A model's weights are in memory once more in fp64, not twice."""
    weight, state = torch.ones(64), torch.ones(64)
    with Shadow() as found:
        state.add_(weight / 3)
    kept, changed = found.value(weight), found.value(state)
    assert kept.exact.data_ptr() == kept.noisy(0).data_ptr()
    assert changed.exact.data_ptr() != changed.noisy(0).data_ptr()
    assert torch.equal(changed.exact, torch.full((64,), 1 + 1 / 3, dtype=torch.float64))
    assert 0 < float((changed.noisy(0) - changed.exact).abs().max()) < 1e-6
    found.undo()
    assert torch.equal(state, torch.ones(64))


def test_one_shadow_at_a_time_is_what_both_are_at_once() -> None:
    def ran(shadow: Shadow) -> torch.Tensor:
        torch.manual_seed(0)
        weight = torch.randn(16, 16, requires_grad=True)
        with shadow:
            return torch.autograd.grad((torch.randn(4, 16) @ weight).tanh().square().sum(), weight)[0]

    both, exact, noisy = Shadow(), Shadow(EXACT), Shadow(NOISY)
    found = both.value(ran(both))

    assert torch.equal(exact.value(ran(exact)).exact, found.exact)
    assert torch.equal(noisy.noisy(ran(noisy)), found.noisy(0))
    assert not torch.equal(found.exact, found.noisy(0))


def test_derivatives_of_constants() -> None:
    """Their zeros are in no memory, and the sizes of products with them are asked for by tensors without elements."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x * 1.5).sin() * x.exp()

    x, t = torch.linspace(-1, 1, 12).reshape(3, 4), torch.ones(3, 4)
    with Shadow() as found:
        both = torch.func.jvp(function, (x,), (t,))

    assert not found.broken
    right = torch.func.jvp(function, (x.double(),), (t.double(),))
    for one, exact in zip(both, right, strict=True):
        assert torch.allclose(found.value(one).exact, exact, rtol=1e-12, atol=0)
        assert not torch.equal(found.noisy(one, 0), exact)
