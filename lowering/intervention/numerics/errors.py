"""How far a compiled value, and eager's, are from the exact one: the numbers that a verdict is made of."""

import math
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.numerics.elements import (
    as_real,
    count_unlike,
    in_order,
    in_parts,
    index_in,
    is_same,
    norm,
    numbers,
    sum_of_squares,
    values_at,
)
from inspect_compile.lowering.intervention.numerics.graphs.noise import QUIET
from inspect_compile.lowering.intervention.numerics.graphs.shared import index_at

_TRIES: Final = 32
"""How often the reference is computed with noise where discrete values differ, or elements may lie on the edge of a
comparison: one that does changes in one of them.
"""
_STALE: Final = 3
"""After so many of these that change nothing about what is open, the rest is not tried, unless that is little."""
_LITTLE: Final = 0.01
"""The share of elements that may all lie on an edge which noise seldom moves them over: one value at the edge of a
`relu`, say, is a row of a gradient.
"""
_SUSPECTS: Final = 1 << 12
"""Maximum number of elements that are looked at one by one: those with the largest errors."""
_MOST: Final = 0.99
"""The share of elements whose error is usual."""
_NINE_OF_TEN: Final = 0.9
"""The share of elements that are not further off than the typical one."""
_ONCE: Final = 0.55
"""Units in the last place that rounding once makes at most, and a little for what was rounded to float32 before."""
_FLUSHED: Final = torch.finfo(torch.float32).tiny
"""What is smaller in float32 is 0 on some devices."""
_SPREADS: Final = 32.0
"""How much more than some runs with noise show rounding to float32 may make of an element."""
_AS_FAR: Final = 1.5
"""An element that noise moves as far as its error, times this, lies on an edge."""
_AT_THE_END: Final = 8
"""So many units in the last place from the largest number of a dtype, a value may overflow or not."""
_SAMPLE: Final = 1 << 13
"""Maximum number of elements, evenly spaced, that percentiles are taken of."""
_EXPONENT: Final = 0x7FF0_0000_0000_0000
"""The exponent's bits of a float64: with all others cleared it is the power of two at or below the number."""

Noisy = Callable[[int], torch.Tensor]
"""Seed → the exact value again, with noise of one rounding wherever something is rounded."""


def measured(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, noisy: Noisy) -> dict[str, Any]:
    """The fields of a `Checked` that tell how near `compiled` and `eager` are to `exact`, which is in fp64; without
    those of noise, which only `shifted` needs.

    All have one shape, and are not equal.
    """
    if compiled.is_complex() or compiled.is_floating_point():
        return _floating(*as_real(compiled, eager, exact), is_complex=compiled.is_complex())
    return _discrete(compiled, eager, exact, noisy)


def apart(compiled: torch.Tensor, eager: torch.Tensor) -> tuple[float, float, dict[str, Any]] | None:
    """The largest difference of two values that have one shape and are not equal, the root mean square of `eager`, and
    the fields of a `Checked` that tell of the element with this difference. None if an element is not finite, or they
    are of no real floating type.
    """
    if not compiled.is_floating_point():
        return None
    worst, at, differing = 0.0, 0, 0
    norms = []
    (first, second), order = in_order(compiled, eager)
    for start, (one, other) in in_parts(first, second):
        difference = (one - other).abs_()
        most, largest, unlike = numbers(difference.amax(), other.abs().amax(), count_unlike(one, other))
        if not math.isfinite(most + largest):
            return None
        place = [difference.argmax().double()] if most > worst else []
        square, *places = numbers(sum_of_squares(other, largest), *place)
        if places:
            worst, at = most, start + int(places[0])
        differing += int(unlike)
        norms.append(norm(square, largest))
    index = index_in(at, first, order)
    found = {"worst": index, "differing": differing} | values_at(index, compiled=compiled, eager=eager)
    return worst, math.hypot(*norms) / math.sqrt(compiled.numel()), found


def shifted(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, moved: torch.Tensor) -> dict[str, Any]:
    """The fields that tell how far rounding moves a result: `moved` is the exact value again, with noise. All are of a
    floating type and have one shape.
    """
    ordered, _ = in_order(*as_real(compiled, eager, exact, moved))
    norms, worst = [0.0], 0.0
    compared = 0
    for _, (one, other, known, there) in in_parts(*ordered):
        shift = (there - known).abs_()
        most, apart_by = numbers(shift.amax(), (one - other).sum())
        if math.isfinite(most + apart_by):
            compared += shift.numel()
        else:
            kept = one.isfinite() & known.isfinite()
            compared += int(kept.sum())
            shift = torch.where(kept & shift.isfinite(), shift, torch.zeros_like(shift))
            most = float(shift.amax())
        norms.append(norm(float(sum_of_squares(shift, most)), most))
        worst = max(worst, most)
    return {"noise_rmse": math.hypot(*norms) / math.sqrt(compared) if compared else None, "noise_worst": worst}


def unexplained(
    compiled: torch.Tensor,
    eager: torch.Tensor,
    exact: torch.Tensor,
    noisy: Noisy,
    *,
    beyond: float,
    tolerance: float,
    scale: float,
) -> dict[str, Any]:
    """The fields that tell of the elements which are wrong: their error is more than the `tolerance`, relative to the
    exact value or to `scale`; and more than `beyond` times what rounding makes of them, which is eager's error there,
    what noise moves them by, and the error or noise that all but one of a hundred elements have.

    Where rounding moves a value over the edge of a comparison the element is another one, in the compiled code, in
    eager, or with noise: this tells nothing of the other elements, and noise is tried until it moves this one, too. The
    root mean square error is then that of the other elements.
    """
    compiled, eager, exact = as_real(compiled, eager, exact)
    (first, second, third), order = in_order(compiled, eager, exact)
    one, other, known = (each.reshape(-1) for each in (first, second, third))
    usual = _usual(other, known)
    parts = []
    for start, (values, of_eager, exactly) in in_parts(one, other, known):
        bound = (of_eager - exactly).abs_().nan_to_num_(0.0, 0.0).clamp_min_(usual).mul_(beyond)
        bound = torch.maximum(bound, exactly.abs().clamp_min_(scale).mul_(tolerance))
        suspect = ((values - exactly).abs_() > bound) & values.isfinite()
        parts.append(suspect.nonzero().view(-1) + start)
    at = torch.cat(parts)
    if not at.numel():
        return {}
    errors = (one[at].double() - known[at]).abs_()
    if at.numel() > _SUSPECTS:
        errors, largest = errors.topk(_SUSPECTS)
        at = at[largest]
    noise = 0.0
    moves, is_open = torch.zeros_like(errors), torch.ones_like(errors, dtype=torch.bool)
    stale, left = 0, at.numel()
    few = max(1, math.floor(_LITTLE * known.numel()))
    for seed in range(_TRIES):
        (moved,) = as_real(noisy(seed))
        moved = moved.permute(order).reshape(-1)
        moves = torch.maximum(moves, (moved[at] - known[at]).abs_().nan_to_num_(0.0))
        noise = _usual(moved, known) if not seed else noise
        is_open &= errors > moves.clamp_min(noise) * (beyond if seed < QUIET else _AS_FAR)
        before, left = left, int(is_open.sum())
        stale = stale + 1 if left == before else 0
        if not left or (stale >= _STALE and left > few):
            break
    if not left:
        on_edge = at[(errors > beyond * noise) & (errors <= moves * _AS_FAR)]
        return {"noise_99": noise} | (_without(one, known, on_edge) if on_edge.numel() else {})
    worst = int(errors.masked_fill(~is_open, 0.0).argmax())
    index = index_in(int(at[worst]), first, order)
    explains = float(torch.maximum((other[at[worst]].double() - known[at[worst]]).abs(), moves[worst]).nan_to_num(0.0))
    explains = max(explains, usual, noise, torch.finfo(compiled.dtype).eps / 2 * scale)
    times = float(errors[worst]) / explains if explains else None
    found = {"noise_99": noise, "unexplained": left, "unexplained_times": times, "worst": index}
    return found | values_at(index, compiled=compiled, eager=eager, exact=exact)


def typical(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, noisy: Noisy) -> dict[str, Any]:
    """The field that tells how far off the typical element is: what nine of ten elements are off by at most, as a
    multiple of the same of eager's and of the noise of several seeds, at least of half a unit in the last place.

    A few elements on the edge of a comparison do not move it, and one seed of noise that is small by luck does not.
    """
    rounding = torch.finfo(compiled.dtype).eps / 2
    one, other, known = (each.reshape(-1) for each in as_real(compiled, eager, exact))
    step = _step(known.numel())
    known = known[::step]
    moved = [(as_real(noisy(seed))[0].reshape(-1)[::step] - known).abs_() for seed in range(QUIET)]
    explained = max(
        _nine_of_ten((other[::step].double() - known).abs_()),
        _nine_of_ten(torch.cat(moved)),
        rounding * _nine_of_ten(known.abs()),
    )
    found = _nine_of_ten((one[::step].double() - known).abs_())
    return {"typical": found / explained if explained else None}


def not_rounded_once(compiled: torch.Tensor, exact: torch.Tensor, spread: torch.Tensor | None = None) -> float:
    """The share of elements that are not the exact value, rounded once to the dtype: further off than half a unit in
    the last place and what rounding in float32 makes of each, `spread`.
    """
    form = torch.finfo(compiled.dtype)
    unit = torch.exp2(exact.abs().clamp_min(form.tiny).log2().floor_()) * form.eps
    most = _ONCE * unit + _FLUSHED if spread is None else _ONCE * unit + _FLUSHED + _SPREADS * spread
    is_known = compiled.isfinite() & exact.isfinite()
    off = ((compiled.double() - exact).abs() > most) & is_known
    return float(off.double().mean())


def exactly_apart(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference of nine of ten elements of two exact values, relative to the largest of as many."""
    step = _step(other.numel())
    (first, second) = (each.reshape(-1)[::step] for each in as_real(one, other))
    size = _nine_of_ten(second.abs())
    return _nine_of_ten((first - second).abs_()) / size if size else 0.0


def _nine_of_ten(values: torch.Tensor) -> float:
    """The largest of all but a tenth of a vector's finite elements."""
    ordered = values[values.isfinite()].sort().values
    return float(ordered[round((ordered.numel() - 1) * _NINE_OF_TEN)]) if ordered.numel() else 0.0


def _without(compiled: torch.Tensor, exact: torch.Tensor, at: torch.Tensor) -> dict[str, Any]:
    """The number of elements `at` these positions of the vectors, and the error of all others."""
    kept = compiled.isfinite() & exact.isfinite()
    others = (compiled.double() - exact).abs_().masked_fill_(~kept, 0.0)
    others[at] = 0.0
    most = float(others.amax())
    return {"on_edge": at.numel(), "rmse": norm(float(sum_of_squares(others, most)), most) / math.sqrt(int(kept.sum()))}


def _usual(one: torch.Tensor, exact: torch.Tensor) -> float:
    """The difference of two vectors that all but one of a hundred elements have at most."""
    step = _step(one.numel())
    apart = (one[::step].double() - exact[::step]).abs_()
    apart = apart[apart.isfinite()].sort().values
    return float(apart[round((apart.numel() - 1) * _MOST)]) if apart.numel() else 0.0


def _step(count: int) -> int:
    """Every how manieth of so many elements is taken into a sample."""
    return -(-count // _SAMPLE)


def _floating(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, *, is_complex: bool) -> dict[str, Any]:
    sums = _Sums(compiled.dtype, step=_step(compiled.numel()), is_complex=is_complex)
    ordered, order = in_order(compiled, eager, exact)
    for start, values in in_parts(*ordered):
        sums.add(start, *values)
    found = sums.counts() | (sums.errors() if sums.compared else {})
    odd = sums.nonfinite_at if sums.nonfinite_at is not None else sums.alone_at
    if not sums.compared and odd is None:
        return found
    index = index_in(sums.worst_at if odd is None else odd, ordered[0], order)
    return found | {"worst": index} | values_at(index, compiled=compiled, eager=eager, exact=exact)


class _Sums:
    """Errors of one result, added up part by part."""

    def __init__(self, dtype: torch.dtype, step: int, *, is_complex: bool) -> None:
        """Every `step`-th element is kept for percentiles."""
        self._info = torch.finfo(dtype)
        self._step = step
        self._is_complex = is_complex
        self._counts = dict.fromkeys(
            ("compiled_nonfinite", "eager_nonfinite", "exact_nonfinite", "nonfinite_wrong", "eager_alone", "differing"),
            0,
        )
        self._norms: dict[str, list[float]] = {"": [], "eager_": [], "exact": []}
        self._worst = {"": 0.0, "eager_": 0.0}
        self._ulps: list[torch.Tensor] = []
        self._ulp_worst = 0.0
        self.worst_at = 0
        """Position of the element with the largest error."""
        self.nonfinite_at: int | None = None
        """Position of the first element that is NaN or Inf and should not be, or vice versa."""
        self.alone_at: int | None = None
        """Position of the first element that eager alone has NaN or Inf in."""
        self.compared = 0
        """Number of elements that are finite in the compiled and the exact value."""
        self._compared_eager = 0
        """Number of those that are in eager's, too."""

    def add(self, start: int, compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> None:
        """One part, in fp64, which begins at the element `start`."""
        error, eager_error = (compiled - exact).abs_(), (eager - exact).abs_()
        known = exact.abs()
        is_kept = None
        unlike, *sizes = numbers(count_unlike(compiled, eager), error.amax(), eager_error.amax(), known.amax())
        self._counts["differing"] += int(unlike)
        most, eager_most, largest = sizes
        # Nothing is left out where all is finite: a NaN or Inf anywhere makes one of the maxima NaN or Inf.
        if not math.isfinite(most + eager_most) or not largest <= self._info.max:
            is_kept = self._kept(start, compiled, eager, exact)
            if not bool(is_kept.any()):
                return
            zero = torch.zeros((), dtype=torch.float64, device=exact.device)
            error, known = (torch.where(is_kept, one, zero) for one in (error, known))
            is_known = is_kept & eager.isfinite()
            eager_error = torch.where(is_known, eager_error, zero)
            sizes = most, eager_most, largest = numbers(error.amax(), eager_error.amax(), known.amax())
        self.compared += exact.numel() if is_kept is None else int(is_kept.sum())
        self._compared_eager += exact.numel() if is_kept is None else int(is_known.sum())
        place = [error.argmax().double()] if most > self._worst[""] else []
        squares = [sum_of_squares(one, size) for one, size in zip((error, eager_error, known), sizes, strict=True)]
        ulps = error.div_(_ulp(known, self._info))
        ulp_worst, *found = numbers(ulps.amax(), *squares, *place)
        if place:
            self.worst_at = start + int(found.pop())
        for name, size, square in zip(self._norms, sizes, found, strict=True):
            self._norms[name].append(norm(square, size))
            if name in self._worst:
                self._worst[name] = max(self._worst[name], size)
        self._ulp_worst = max(self._ulp_worst, ulp_worst)
        sampled = slice(-start % self._step, None, self._step)
        self._ulps.append(ulps[sampled] if is_kept is None else ulps[sampled][is_kept[sampled]])

    def _kept(self, start: int, compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
        """Where the compiled and the exact value are finite; what is not is counted.

        Where eager alone leaves the finite numbers, the compiled value is judged by the exact one. At the end of the
        dtype's range rounding decides whether a value overflows.
        """
        finite, eager_finite, is_number = compiled.isfinite(), eager.isfinite(), exact.isfinite()
        most, slack = self._info.max, 1 + _AT_THE_END * self._info.eps
        reachable = is_number & (exact.abs() <= most)
        """Where the exact value is a number of the dtype."""
        overflows = compiled.isinf() & (exact.abs() * slack > most) & (compiled.sign() == exact.sign())
        made = ~finite & eager_finite & reachable & ~overflows
        missing = finite & ~eager_finite & ~reachable & ~(is_number & (exact.abs() <= most * slack))
        self._counts["compiled_nonfinite"] += int((~finite).sum())
        self._counts["eager_nonfinite"] += int((~eager_finite).sum())
        self._counts["exact_nonfinite"] += int((~reachable).sum())
        wrong = made | missing
        if not self._is_complex:  # what stands beside an infinite part is not specified
            ends = torch.where(reachable | exact.isnan(), exact, exact.sign() * math.inf)
            both = ~finite & ~eager_finite
            wrong |= both & is_same(eager, ends) & ~is_same(compiled, ends)
        alone = finite & is_number & ~eager_finite & ~wrong
        self._counts["nonfinite_wrong"] += int(wrong.sum())
        self._counts["eager_alone"] += int(alone.sum())
        if self.nonfinite_at is None and bool(wrong.any()):
            self.nonfinite_at = start + int(wrong.int().argmax())
        if self.alone_at is None and bool(alone.any()):
            self.alone_at = start + int(alone.int().argmax())
        self._counts["differing"] -= int((compiled.isnan() & eager.isnan()).sum())
        return finite & is_number & ~wrong

    def counts(self) -> dict[str, Any]:
        """How many elements are what."""
        return dict(self._counts)

    def errors(self) -> dict[str, Any]:
        """Errors over the elements that are finite in the compiled and the exact value, of which there is one; eager's
        over those that are finite there, too.
        """
        counts = {"": self.compared, "eager_": self._compared_eager, "exact": self.compared}
        rms = {
            name: math.hypot(*norms) / math.sqrt(counts[name]) if counts[name] else None
            for name, norms in self._norms.items()
        }
        sampled = torch.cat(self._ulps)
        ordered = sampled.sort().values
        last = ordered.numel() - 1
        median, high = numbers(ordered[last // 2], ordered[round(last * _MOST)]) if last >= 0 else (None, None)
        return {
            "rmse": rms[""],
            "eager_rmse": rms["eager_"],
            "exact_rms": rms["exact"],
            "worst_error": self._worst[""],
            "eager_worst_error": self._worst["eager_"] if self._compared_eager else None,
            "ulp_median": median,
            "ulp_99": high,
            "ulp_worst": self._ulp_worst,
        }


def _discrete(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, noisy: Noisy) -> dict[str, Any]:
    """Integers and truth values: those that differ from eager's, and those of them that no rounding explains."""
    differs = compiled != eager
    open_ = differs & (compiled != exact)
    for seed in range(_TRIES):
        if not bool(open_.any()):
            break
        open_ &= compiled != noisy(seed)
    at = int((open_ if bool(open_.any()) else differs).flatten().int().argmax())
    index = index_at(at, compiled)
    found = {"differing": int(differs.sum()), "untied": int(open_.sum()), "worst": index}
    return found | values_at(index, compiled=compiled, eager=eager, exact=exact)


def steady(compiled: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, noisy: Noisy) -> dict[str, Any]:
    """The fields of a `Checked` that tell of integers and truth values which differ from eager's though no noise moves
    the exact value there, which eager has; none if there is none.
    """
    found = (compiled != eager) & (eager == exact)
    for seed in range(_TRIES):
        if not bool(found.any()):
            return {}
        found &= noisy(seed) == exact
    if not bool(found.any()):
        return {}
    index = index_at(int(found.flatten().int().argmax()), compiled)
    return {"untied": int(found.sum()), "worst": index} | values_at(index, compiled=compiled, eager=eager, exact=exact)


def _ulp(sizes: torch.Tensor, info: torch.finfo) -> torch.Tensor:
    """The distance of neighbouring numbers of a dtype at each of these, which are positive, in fp64 and overwritten."""
    sizes.clamp_min_(info.tiny).view(torch.int64).bitwise_and_(_EXPONENT)
    return sizes.mul_(info.eps)
