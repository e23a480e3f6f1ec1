"""The numbers that a verdict is made of, against a plain computation of each."""

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from inspect_compile.lowering.intervention.numerics.elements import differing_bits, is_equal
from inspect_compile.lowering.intervention.numerics.errors import (
    measured,
    not_rounded_once,
    shifted,
    typical,
    unexplained,
)
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.noise import Noise
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference

MANY = (1 << 16) + 12_345
"""More elements than are compared at once."""


def values(dtype: torch.dtype, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compiled, eager's, exact."""
    torch.manual_seed(0)
    exact = torch.randn(count, dtype=torch.float64) * 10
    return (exact * (1 + 1e-2 * torch.randn(count))).to(dtype), exact.to(dtype), exact


def of(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> dict[str, Any]:
    """What is measured, with noise of a tenth."""
    found = measured(compiled, eager, exact, lambda seed: exact * 1.1)
    return found | shifted(compiled, eager, exact, exact * 1.1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("count", [7, MANY])
def test_finite_values(dtype: torch.dtype, count: int) -> None:
    compiled, eager, exact = values(dtype, count)
    error = (compiled.double() - exact).abs()
    _, exponent = torch.frexp(exact.abs())
    ulps = error / (2.0 ** (exponent - 1) * torch.finfo(dtype).eps)

    found = of(compiled, eager, exact)

    assert found["rmse"] == pytest.approx(float(error.square().mean().sqrt()))
    assert found["eager_rmse"] == pytest.approx(float((eager.double() - exact).square().mean().sqrt()))
    assert found["noise_worst"] == pytest.approx(float((exact * 0.1).abs().max()))
    assert found["exact_rms"] == pytest.approx(float(exact.square().mean().sqrt()))
    assert found["worst"] == (int(error.argmax()),)
    assert found["compiled"] == float(compiled[error.argmax()])
    assert found["differing"] == int((compiled != eager).sum())
    assert found["ulp_worst"] == pytest.approx(float(ulps.max()))
    assert found["ulp_median"] == pytest.approx(float(ulps.median()), rel=0.05)
    assert found["nonfinite_wrong"] == 0


def test_values_that_are_not_finite() -> None:
    compiled, eager, exact = values(torch.float16, MANY)
    nan, inf = float("nan"), float("inf")
    last = MANY - 1
    for at, three in {
        3: (nan, 1.0, 1.0),  # made by the compiled code alone
        4: (inf, inf, 1e6),  # no number of the dtype: both are right
        5: (nan, nan, nan),
        6: (2.0, inf, 1e6),  # eager alone overflows
        last: (inf, 1.0, 1.0),
    }.items():
        compiled[at], eager[at], exact[at] = three
    kept = torch.ones(MANY, dtype=torch.bool)
    kept[[3, 4, 5, 6, last]] = False
    error = (compiled[kept].double() - exact[kept]).abs()

    found = of(compiled, eager, exact)

    assert found["nonfinite_wrong"] == 3
    assert (found["compiled_nonfinite"], found["eager_nonfinite"], found["exact_nonfinite"]) == (4, 3, 3)
    assert found["differing"] == int((compiled[kept] != eager[kept]).sum()) + 3
    assert found["rmse"] == pytest.approx(float(error.square().mean().sqrt()))
    assert found["worst_error"] == pytest.approx(float(error.max()))


def test_nothing_is_finite() -> None:
    nothing = torch.full((3,), float("nan"))

    found = of(nothing, torch.ones(3), torch.ones(3, dtype=torch.float64))

    assert found["nonfinite_wrong"] == 3
    assert "rmse" not in found


def test_eager_alone_leaves_the_finite_numbers() -> None:
    """The compiled value is judged by the exact one, and its errors are those of the other elements, too."""
    exact = torch.tensor([0.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    eager = torch.tensor([float("nan"), float("inf"), 3.0, 4.5]).half()

    found = of(exact.half(), eager, exact)

    assert (found["eager_alone"], found["nonfinite_wrong"], found["rmse"]) == (2, 0, 0.0)
    assert found["eager_rmse"] == pytest.approx(0.5 / 2**0.5)
    assert (found["worst"], found["compiled"], found["exact"]) == ((0,), 0.0, 0.0)
    compiled, eager[-1] = exact.half() + torch.tensor([0.5, 0.0, 0.0, 0.0]).half(), 4.0
    rule = {"beyond": 8.0, "tolerance": 1e-3, "scale": 3.0}
    found = unexplained(compiled, eager, exact, lambda seed: Noise(seed).on(exact + 1e-9, torch.float16), **rule)
    assert (found["unexplained"], found["worst"]) == (1, (0,))


@pytest.mark.parametrize(
    ("compiled", "eager", "exact", "is_wrong"),
    [
        (float("-inf"), float("inf"), float("inf"), True),
        (float("nan"), float("inf"), 1e6, True),  # no number of the dtype: it is infinite there
        (float("nan"), float("nan"), 1.0, False),  # both leave the finite numbers
        (float("inf"), float("nan"), 1.0, False),
        # At the end of the range rounding decides.
        (65504.0, float("inf"), 65530.0, False),
        (float("inf"), 65504.0, 65500.0, False),
        (float("-inf"), 65504.0, 65500.0, True),
        (float("inf"), 60000.0, 60000.0, True),
    ],
)
def test_what_is_infinite_in_another_way(compiled: float, eager: float, exact: float, is_wrong: bool) -> None:
    one, other = (torch.tensor([value, 1.0]).half() for value in (compiled, eager))

    found = of(one, other, torch.tensor([exact, 1.0], dtype=torch.float64))

    assert found["nonfinite_wrong"] == is_wrong


def test_truth_values_at_a_tie() -> None:
    exact = torch.tensor([True, False, True])
    compiled, eager = torch.tensor([True, True, False]), torch.tensor([True, False, True])

    found = measured(compiled, eager, exact, lambda seed: torch.tensor([True, seed == 3, True]))

    assert (found["differing"], found["untied"], found["worst"]) == (2, 1, (2,))


def test_equal_to_the_bit() -> None:
    one = torch.tensor([0.0, float("nan"), 1.0])

    assert is_equal(one, one.clone())
    assert is_equal(one, torch.tensor([-0.0, float("nan"), 1.0]))
    assert differing_bits(one, one.clone()) == 0
    assert differing_bits(one, torch.tensor([-0.0, float("nan"), 1.0])) == 1
    assert not is_equal(one, torch.tensor([0.0, float("nan"), 2.0]))


@pytest.mark.parametrize("place", [0, 5_000, MANY - 1])
def test_one_element_differs(place: int) -> None:
    one = torch.ones(MANY)
    other = one.clone()
    other[place] = 2

    assert not is_equal(one, other)
    assert not is_equal(torch.stack([one, one], 1)[:, 0], other)
    assert is_equal(torch.stack([one, one], 1)[:, 0], one)


@pytest.mark.parametrize("shape", [(70, 3), (3 * 65_521 + 5,), (7, 1000, 31)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_noise(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    value = torch.full(shape, 3.5, dtype=torch.float64).transpose(0, -1)
    for seed, roundings in {0: 1.0, 31: 32.0 if dtype is torch.float32 else 8.0}.items():
        noise = Noise(seed)
        moved = noise.on(value, dtype)

        steps = (moved / value - 1) / (torch.finfo(dtype).eps / 2) / roundings
        assert moved.shape == value.shape
        assert torch.allclose(steps.abs(), torch.ones_like(steps))
        assert abs(float(steps.mean())) < 0.3
        assert not torch.equal(noise.on(value, dtype), moved)


@pytest.mark.parametrize("exact_too", [True, False])
def test_the_order_in_memory_does_not_matter(exact_too: bool) -> None:
    size = (3, 5, 40, 150)
    compiled, eager, exact = (one.view(size) for one in values(torch.float32, 90_000))
    compiled[2, 3, 17, 140] += 1e3
    ordered = [one.to(memory_format=torch.channels_last) for one in (compiled, eager)]
    third = exact.to(memory_format=torch.channels_last) if exact_too else exact

    plain, found = of(compiled, eager, exact), of(ordered[0], ordered[1], third)

    assert found["worst"] == plain["worst"] == (2, 3, 17, 140)
    assert {name: found[name] for name in ("compiled", "eager", "exact", "differing", "ulp_worst")} == {
        name: plain[name] for name in ("compiled", "eager", "exact", "differing", "ulp_worst")
    }
    assert found["rmse"] == pytest.approx(plain["rmse"])
    assert found["noise_rmse"] == pytest.approx(plain["noise_rmse"])
    assert is_equal(ordered[0], compiled)
    assert not is_equal(ordered[0], eager)


def test_noise_in_place_is_the_same_noise() -> None:
    value = torch.randn(3, 5, 90, 150, dtype=torch.float64).to(memory_format=torch.channels_last)
    apart, kept = Noise(1).on(value, torch.float32), value.clone()

    moved = Noise(1).on(value, torch.float32, in_place=True)

    assert moved.data_ptr() == value.data_ptr()
    assert torch.equal(moved, apart)
    assert not torch.equal(apart, kept)
    assert torch.allclose(apart, kept, rtol=2 * torch.finfo(torch.float32).eps)


EDGE, KEPT = (3, 1_234, MANY - 7), 0.3
"""Elements on the edge of a comparison, and what one is if it is kept; others are far from it."""


def kept(value: torch.Tensor, edge: torch.Tensor) -> torch.Tensor:
    """The value, if it is not less than its limit, as a dropout does it."""
    return torch.where(value >= edge, value, torch.zeros_like(value))


def at_edges(changes: dict[int, float], eager_changes: dict[int, float]) -> dict[str, Any]:
    """What is said of values that differ in these elements, each a part of the exact value."""
    torch.manual_seed(0)
    value = torch.rand(MANY, dtype=torch.float64) + 1
    edge = torch.full_like(value, 0.5)
    value[list(EDGE)] = edge[list(EDGE)] = KEPT
    exact = kept(value, edge)
    compiled, eager = exact.float(), exact.float()
    for at, part in changes.items():
        compiled[at] *= part
    for at, part in eager_changes.items():
        eager[at] *= part

    def noisy(seed: int) -> torch.Tensor:
        return kept(Noise(seed).on(value, torch.float32), edge)

    return unexplained(compiled, eager, exact, noisy, beyond=32.0, tolerance=1.3e-5, scale=1.5)


@pytest.mark.parametrize("count", [1, len(EDGE)])
def test_an_element_that_noise_moves_is_no_mistake(count: int) -> None:
    found = at_edges(dict.fromkeys(EDGE[:count], 0.0), {})

    assert "unexplained" not in found
    assert found["on_edge"] == count
    assert found["rmse"] == pytest.approx(3e-8, rel=0.5)  # of the other elements, which are rounded to float32


def test_an_error_of_a_few_roundings_is_on_no_edge() -> None:
    """Each element is off by a little: that stays in the root mean square error."""
    exact = torch.rand(64, dtype=torch.float64) + 1

    def noisy(seed: int) -> torch.Tensor:
        return exact * (1.006 if seed else 1.002)

    found = unexplained(exact * 1.03, exact * 1.0001, exact, noisy, beyond=8.0, tolerance=1.6e-2, scale=1.5)

    assert found == {"noise_99": pytest.approx(0.002 * float(exact.sort().values[-2]), rel=0.02)}


def test_one_on_an_edge_excuses_no_other() -> None:
    found = at_edges({EDGE[0]: 0.0, 5_000: 1.01}, dict.fromkeys(EDGE[1:], 0.0))

    assert (found["unexplained"], found["worst"]) == (1, (5_000,))
    assert found["compiled"] == pytest.approx(1.01 * found["exact"], rel=1e-6)


def test_all_elements_are_wrong_beside_one_on_an_edge() -> None:
    found = at_edges(dict.fromkeys(range(0, MANY, 3), 1.1), dict.fromkeys(EDGE, 0.0))

    assert found["unexplained"] > 1_000
    assert found["worst"] not in [(at,) for at in EDGE]


def test_nothing_is_looked_at_within_the_tolerance() -> None:
    assert at_edges({7: 1 + 1e-6}, {}) == {}


def test_the_typical_element() -> None:
    """A tenth of a percent of all elements is no rounding to bfloat16; a few elements of any size are not typical."""
    torch.manual_seed(0)
    exact = torch.rand(4096, dtype=torch.float64) + 1

    def noisy(seed: int) -> torch.Tensor:
        return Noise(seed).on(exact, torch.bfloat16)

    def times(compiled: torch.Tensor) -> float:
        return float(typical(compiled, exact.bfloat16(), exact, noisy)["typical"])

    some = exact.bfloat16()
    some[::100] = 7

    assert times((exact * 1.05).bfloat16()) > 10
    assert times(exact.bfloat16()) <= 1
    assert times(some) <= 1


def rounded(function: Any, *args: torch.Tensor) -> tuple[float, bool]:
    """How far noise moves a function's value, relative to it, and whether that is rounded to a half type."""
    module = make_fx(function)(*args)
    plain = reference(module, args)
    exacts = Exacts(module, lambda: plain, (), {})
    name = str(module.graph.output_node().args[0])
    exact, moved = exacts.of().value(name), exacts.of(0).value(name)
    return float(((moved - exact) / exact).abs().max()), exacts.of().rounds_to_half(name)


def test_given_values_of_a_half_type_are_moved_as_what_is_computed_with_them() -> None:
    torch.manual_seed(0)
    x = torch.rand(8, 32).bfloat16() + 1

    wide, is_half = rounded(lambda x: x.float().square().mean(-1).rsqrt(), x)
    assert wide < 1e-6
    assert not is_half
    wide, is_half = rounded(lambda x: torch.cat([x, x.relu()])[3:].float().sum(-1), x)
    assert wide < 1e-6
    assert not is_half
    wide, is_half = rounded(lambda x: (x + 1.001).float().square().mean(-1), x)
    assert 1e-4 < wide < 1e-2
    assert is_half
    product, _ = rounded(lambda x: x.t().mm(x).sum().float(), x)  # a library may round parts of the sum
    assert product > 1e-3


def test_numbers_of_comparisons_are_tried_as_they_are_written() -> None:
    """bfloat16 has no -0.2: eager compares with the number next to it, and kernels with that in float32."""
    x = torch.tensor([-0.2, 0.5]).bfloat16()
    module = make_fx(lambda x: x >= -0.2)(x)
    plain = reference(module, [x])
    exacts = Exacts(module, lambda: plain, (), {})

    assert bool(plain.values["ge"][0])
    assert [bool(exacts.of(seed).value("ge")[0]) for seed in (None, 0, 1)] == [True, True, False]


def test_whole_numbers_are_not_moved() -> None:
    whole = torch.tensor([3.0, -2.0, 0.0, 127.0], dtype=torch.float64)

    assert torch.equal(Noise(0).on(whole, torch.float32), whole)
    assert not torch.equal(Noise(0).on(whole + 0.5, torch.float32), whole + 0.5)
    assert not torch.equal(Noise(0).on(whole * 4, torch.bfloat16), whole * 4)  # 508 is rounded there


def test_noise_of_a_half_type_does_not_come_through_memory_that_is_written_to() -> None:
    def written(x: torch.Tensor, factor: torch.Tensor) -> tuple[torch.Tensor, ...]:
        memory = torch.zeros(8)
        memory.as_strided((4,), (1,)).copy_((x * 3).float())
        return memory.as_strided((4,), (1,)) * factor, factor * 2

    def given() -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ones(4, dtype=torch.bfloat16), torch.ones(4)

    module = make_fx(written)(*given())
    exact = Exacts(module, lambda: reference(module, given()), (), {}).of()
    from_memory, other = (node.name for node in module.graph.output_node().all_input_nodes)

    assert exact.misses_rounding(from_memory)
    assert not exact.misses_rounding(other)


def test_noise_comes_through_an_attention() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 2, 8, 16)
    attention = torch.nn.functional.scaled_dot_product_attention

    moved, _ = rounded(lambda x: attention(x * 3, x.sin(), x.cos()), x)
    assert 1e-8 < moved < 1e-3


def test_noise_does_not_come_through_a_dropout() -> None:
    def dropped(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.native_dropout(x.sin(), 0.5, True)[0], torch.rand_like(x) * 2

    module = make_fx(dropped, tracing_mode="fake")(torch.ones(4))
    exact = Exacts(module, lambda: reference(module, [torch.ones(4)]), (), {}).of()
    names = [node.name for node in module.graph.output_node().all_input_nodes]
    for name in names:
        exact.value(name)

    assert [bool(exact.taken.get(name)) for name in names] == [True, False]


def test_what_is_not_the_exact_value_rounded_once() -> None:
    exact = torch.rand(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.5
    once = exact.to(torch.bfloat16)

    assert not_rounded_once(once, exact) == 0
    assert not_rounded_once((exact * 1.004).to(torch.bfloat16), exact) > 0.3
    assert not_rounded_once((exact * 1.004).to(torch.bfloat16), exact, exact * 1e-3) == 0
    twice = exact.to(torch.bfloat16).double() * 1.1
    assert not_rounded_once(twice.to(torch.bfloat16), exact * 1.1) > 0.1
