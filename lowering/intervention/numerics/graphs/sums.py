"""Operators that add up products or values, whose terms may cancel.

Each partial sum is rounded, so the error is relative to the terms, and not to what is left of them (N. Higham, Accuracy
and Stability of Numerical Algorithms, 4.2). The operator's result shows nothing of that, and eager's error need not:
ATen adds up means of a layer norm in fp64 on a CPU.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from inspect_compile.lowering.intervention.numerics.graphs.nodes import name_of, once_an_operator

_ALONE: Final = 256
"""So many terms may be added up one after the other, and the error is not more than a rounding of each."""
_MOST: Final = 32.0
"""At most so many times as much: nobody adds up more terms than `(_MOST * 16) ** 2` one after the other."""


class Terms(NamedTuple):
    """What an operator adds up for one element of its result."""

    at: tuple[int, ...]
    """Positions of the arguments that the terms are made of."""
    length: int
    divides: bool
    """It divides as it adds up: of whole numbers, too, partial results are rounded."""

    @property
    def roundings(self) -> float:
        """How many roundings of each term make as much as those of the partial sums: a power of two. Of n terms of
        either sign the partial sums are up to √n times as large as one.
        """
        return min(2.0 ** max(0, round(math.log2(max(1, self.length) / _ALONE) / 2)), _MOST)


def terms_of(target: Any, args: Sequence[Any]) -> Terms | None:
    """What an operator adds up, which is called with these arguments; None for one that adds up nothing."""
    found = _adding(target)
    if found is None or len(args) <= max(found[0]):  # given by name
        return None
    at, count, divides = found
    return Terms(at, count(args), divides)


def _reduced(args: Sequence[Any]) -> int:
    """The elements along the dimensions that the second argument has, or of all."""
    shape, dims = args[0].shape, args[1] if len(args) > 1 else None
    dims = [dims] if isinstance(dims, int) and not isinstance(dims, bool) else dims
    return math.prod(shape[dim] for dim in dims) if isinstance(dims, (list, tuple)) and dims else args[0].numel()


def _of_channel(args: Sequence[Any]) -> int:
    return args[0].numel() // max(1, args[0].shape[1])  # type: ignore[no-any-return]


_Adding = tuple[tuple[int, ...], Callable[[Sequence[Any]], int], bool]
_REDUCTION: Final[_Adding] = ((0,), _reduced, False)
_MOMENTS: Final[_Adding] = ((0,), _reduced, True)
_BATCH_NORM: Final[_Adding] = ((0,), _of_channel, True)
_GRADIENT: Final[_Adding] = ((0, 1), lambda _: 1, True)
"""Its result has each argument by itself, too, which no partial sum is a part of."""
_PRODUCT: Final[_Adding] = ((0, 1), lambda args: args[0].shape[-1], False)
_ADDED_PRODUCT: Final[_Adding] = ((1, 2), lambda args: args[1].shape[-1], False)
_ADDING: Final[dict[str, _Adding]] = {
    "sum": _REDUCTION,
    "mean": _REDUCTION,
    "var": _MOMENTS,
    "var_mean": _MOMENTS,
    "std": _MOMENTS,
    "std_mean": _MOMENTS,
    "native_layer_norm": ((0,), lambda args: math.prod(args[1]), True),
    "native_layer_norm_backward": _GRADIENT,
    "native_group_norm": ((0,), lambda args: args[4] * args[5] // args[6], True),
    "native_batch_norm": _BATCH_NORM,
    "_native_batch_norm_legit": _BATCH_NORM,
    "_native_batch_norm_legit_functional": _BATCH_NORM,
    "cudnn_batch_norm": _BATCH_NORM,
    "native_group_norm_backward": _GRADIENT,
    "native_batch_norm_backward": _GRADIENT,
    "mm": _PRODUCT,
    "bmm": _PRODUCT,
    "mv": _PRODUCT,
    "dot": _PRODUCT,
    "addmm": _ADDED_PRODUCT,
    "baddbmm": _ADDED_PRODUCT,
    "convolution": ((0, 1), lambda args: args[1].numel() // max(1, args[1].shape[0]), False),
}


@once_an_operator
def _adding(target: Any) -> _Adding | None:
    parts = name_of(target).split(".")
    return _ADDING.get(parts[1]) if parts[0] == "aten" and len(parts) > 1 else None
