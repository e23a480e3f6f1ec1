"""Noise as rounding makes it, on values in fp64."""

from collections.abc import Sequence
from typing import Any, Final

import torch

from inspect_compile.knowledge.numerics.verdicts import beyond
from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves
from inspect_compile.lowering.intervention.numerics.graphs.roundings import at_least_single
from inspect_compile.lowering.intervention.numerics.graphs.shared import in_memory, index_at
from inspect_compile.lowering.intervention.numerics.graphs.sums import terms_of

_ROW: Final = 65_521
"""How many random numbers there are; prime, so that a row of no matrix begins in the same place each time."""
QUIET: Final = 8
"""How many seeds make noise of one rounding; those after them make more."""
_TURNS: Final = 4099
"""In how many places a row of random numbers can begin."""
_STEP: Final = 1511
"""By how many elements each use of it begins further on: prime to `_TURNS`, so that no place comes twice too soon."""
_TF32_EPSILON: Final = 2.0**-10
"""Distance of neighbouring numbers of TF32 at 1: it has ten bits after the point."""


class Noise:
    """Random numbers that move values up or down, by half a unit in the last place at 1; with large seeds by as much as
    may be rounding at all.
    """

    def __init__(self, seed: int, *, in_single: bool = False) -> None:
        """`in_single`: nothing is rounded to half types; what would be is to float32."""
        self._seed = seed
        self._finest = torch.finfo(torch.float32).eps if in_single else 1.0
        self._factors: dict[tuple[torch.device, float], torch.Tensor] = {}
        """Device and size → 1 ± size/2 in fp64. One row of them serves all values, from another place on each time:
        drawing them anew would cost more than what they are used for, and a longer row does not stay in a core's
        cache.
        """
        self._turn = 0

    @property
    def is_odd(self) -> bool:
        """True for every other seed."""
        return bool(self._seed % 2)

    def on(self, value: torch.Tensor, dtype: torch.dtype, *, in_place: bool = False) -> torch.Tensor:
        """`value`, which is in fp64, with noise as rounding to `dtype` makes; `in_place`: it is not needed without."""
        is_whole = _is_whole(value, self._epsilon(dtype))
        return value if is_whole else self._moved(value, self._size(dtype), in_place=in_place)

    def in_tf32(self, value: Any) -> Any:
        """An argument of a matmul or convolution that may be computed in TF32; what is no tensor in fp64 as it is."""
        if not isinstance(value, torch.Tensor) or value.dtype is not torch.float64 or _is_whole(value, _TF32_EPSILON):
            return value
        return self._moved(value, _TF32_EPSILON, in_place=False)

    def in_sums(self, target: Any, args: Sequence[Any], own: Any) -> Sequence[Any]:
        """The arguments of an operator; of one that adds up many terms these with noise as the roundings of partial
        sums make it, in float32 at least. `own`: what it gives in its dtypes.
        """
        given = terms_of(target, args)
        made = next((one for one in leaves([own]) if isinstance(one, torch.Tensor) and one.is_floating_point()), None)
        if given is None or made is None:
            return args
        dtype = at_least_single(made).dtype
        epsilon = torch.finfo(dtype).eps
        size = given.roundings * self._size(dtype)

        def moved(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.dtype is not torch.float64 or not value.numel():
                return value
            if (
                not given.divides
                and _is_whole(value, epsilon)
                and float(value.abs().amax()) * given.length * epsilon <= 1
            ):
                return value
            return self._moved(value, size, in_place=False)

        return [moved(one) if at in given.at else one for at, one in enumerate(args)]

    def _size(self, dtype: torch.dtype) -> float:
        """The distance of what is moved up to what is moved down, relative to it."""
        return self._epsilon(dtype) * (beyond(str(dtype).removeprefix("torch.")) if self._seed >= QUIET else 1.0)

    def _epsilon(self, dtype: torch.dtype) -> float:
        return min(torch.finfo(dtype).eps, self._finest)

    def _moved(self, value: torch.Tensor, size: float, *, in_place: bool) -> torch.Tensor:
        factors = self._factors.get((value.device, size))
        if factors is None:
            generator = torch.Generator(value.device).manual_seed(self._seed)
            up = torch.empty(_ROW + _TURNS, dtype=torch.int8, device=value.device).random_(0, 2, generator=generator)
            factors = self._factors[value.device, size] = (up.double() - 0.5) * size + 1
        self._turn = (self._turn + _STEP) % _TURNS
        row, count = factors[self._turn : self._turn + _ROW], value.numel()
        if count <= _ROW:
            return value * row[:count].view(value.shape)
        order = in_memory(value)
        moved, rows = value if order is None else value.permute(order), count // _ROW
        given = moved.contiguous().view(-1)
        made = given if in_place or order is None else torch.empty_like(given)
        torch.mul(given[: rows * _ROW].view(rows, _ROW), row, out=made[: rows * _ROW].view(rows, _ROW))
        torch.mul(given[rows * _ROW :], row[: count - rows * _ROW], out=made[rows * _ROW :])
        made = made.view(moved.shape)
        return made if order is None else made.permute([order.index(at) for at in range(len(order))])


def _is_whole(value: torch.Tensor, epsilon: float) -> bool:
    """True if all elements are whole numbers that a dtype with this epsilon has: nothing rounds what is rounded to
    integers, counted or chosen from them, and a cast to integers would make another number of what is a little less.
    """
    count = value.numel()
    some = (float(value[index_at(position, value)]) for position in {0, count // 2, count - 1} if count)
    if not all(one.is_integer() for one in some):
        return False
    return not count or (bool((value == value.round()).all()) and float(value.abs().amax()) * epsilon <= 1)
