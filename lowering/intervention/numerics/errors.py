"""How far a compiled value, and eager's, are from the exact one: the numbers that a verdict is made of."""

from collections.abc import Callable
from typing import Any, Final

import torch

_TRIES: Final = 16
"""How often the reference is computed with noise where discrete values differ: one that is tied changes in one of them.
"""
_SAMPLE: Final = 1 << 18
"""Maximum number of elements, evenly spaced, that percentiles are taken of."""


def measured(
    compiled: torch.Tensor,
    eager: torch.Tensor,
    exact: torch.Tensor,
    noisy: Callable[[int], torch.Tensor],
) -> dict[str, Any]:
    """The fields of a `Checked` that tell how near `compiled` and `eager` are to `exact`, which is in fp64.

    All have one shape; `noisy(n)` gives `exact` again, with noise of one rounding wherever something is rounded.
    """
    found: dict[str, Any] = {"elements": compiled.numel()}
    if _equal(compiled, eager):
        found["is_equal"] = True
    if not compiled.numel():
        return found
    if compiled.is_complex():
        compiled, eager, exact = (torch.view_as_real(one.resolve_conj()) for one in (compiled, eager, exact))
        plain = noisy
        noisy = lambda seed: torch.view_as_real(plain(seed).resolve_conj())  # noqa: E731 - the same, in two parts
    if compiled.is_floating_point():
        return found | _floating(compiled, eager, exact, noisy)
    return found | _discrete(compiled, eager, exact, noisy)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_floating_point() or one.is_complex():
        return bool(((one == other) | (one.isnan() & other.isnan())).all())
    return bool(torch.equal(one, other))


def _floating(
    compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, noisy: Callable[[int], torch.Tensor]
) -> dict[str, Any]:
    dtype = compiled.dtype
    wide, plain = compiled.double(), eager.double()
    limit = torch.finfo(dtype).max
    reachable = exact.isfinite() & (exact.abs() <= limit)
    """Where the exact value is a number of the dtype."""
    finite, plain_finite = wide.isfinite(), plain.isfinite()
    same = (wide == plain) | (wide.isnan() & plain.isnan())
    both = finite & plain_finite & exact.isfinite()
    made = ~finite & plain_finite & reachable
    missing = finite & ~plain_finite & ~reachable  # where eager alone overflows, the compiled code is the better one
    found: dict[str, Any] = {
        "compiled_nonfinite": int((~finite).sum()),
        "eager_nonfinite": int((~plain_finite).sum()),
        "exact_nonfinite": int((~reachable).sum()),
        "nonfinite_wrong": int((made | missing).sum()),
        "differing": int((~same).sum()),
    }
    if not bool(both.any()):
        return found
    zero = torch.zeros((), dtype=torch.float64, device=exact.device)
    error = torch.where(both, (wide - exact).abs(), zero)
    eager_error = torch.where(both, (plain - exact).abs(), zero)
    moved = exact if bool(same.all()) else noisy(0)  # what is that of eager needs no explanation
    shift = torch.where(both & moved.isfinite(), (moved - exact).abs(), zero)
    known = torch.where(both, exact, zero)
    ulps = error / _ulp(known, dtype)
    worst = int(error.argmax())
    count = int(both.sum())
    place = torch.unravel_index(torch.tensor(worst), error.shape) if error.dim() else ()
    half, most = _percentiles(ulps[both])
    return found | {
        "rmse": _rms(error, count),
        "eager_rmse": _rms(eager_error, count),
        "noise_rmse": _rms(shift, count),
        "exact_rms": _rms(known, count),
        "worst_error": float(error.max()),
        "eager_worst_error": float(eager_error.max()),
        "noise_worst": float(shift.max()),
        "ulp_median": half,
        "ulp_99": most,
        "ulp_worst": float(ulps.max()),
        "worst": tuple(int(one) for one in place),
        "compiled": float(wide.flatten()[worst]),
        "eager": float(plain.flatten()[worst]),
        "exact": float(exact.flatten()[worst]),
    }


def _discrete(
    compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, noisy: Callable[[int], torch.Tensor]
) -> dict[str, Any]:
    """Integers and truth values: those that differ from eager's, and those of them that no rounding explains."""
    differs = compiled != eager
    found: dict[str, Any] = {"differing": int(differs.sum())}
    if not found["differing"]:
        return found
    open_ = differs & (compiled != exact)
    for seed in range(_TRIES):
        if not bool(open_.any()):
            break
        open_ &= compiled != noisy(seed)
    at = int((open_ if bool(open_.any()) else differs).flatten().int().argmax())
    place = torch.unravel_index(torch.tensor(at), compiled.shape) if compiled.dim() else ()
    return found | {
        "untied": int(open_.sum()),
        "worst": tuple(int(one) for one in place),
        "compiled": float(compiled.flatten()[at]),
        "eager": float(eager.flatten()[at]),
        "exact": float(exact.flatten()[at]),
    }


def _ulp(exact: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance of neighbouring numbers of `dtype` at each of these."""
    info = torch.finfo(dtype)
    _, exponent = torch.frexp(exact.abs().clamp_min(info.tiny))
    return torch.ldexp(torch.full_like(exact, info.eps / 2), exponent)


def _rms(values: torch.Tensor, count: int) -> float:
    most = values.abs().max()
    return float(most * ((values / most).square().sum() / count).sqrt()) if bool(most) else 0.0


def _percentiles(values: torch.Tensor) -> tuple[float, float]:
    """The median and the 99th percentile."""
    step = -(-values.numel() // _SAMPLE)
    ordered = values[::step].sort().values
    last = ordered.numel() - 1
    return float(ordered[last // 2]), float(ordered[round(last * 0.99)])
