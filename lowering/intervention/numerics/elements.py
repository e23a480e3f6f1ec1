"""Elements of large tensors: whether they are equal, and walks over them part by part, as quick as memory allows."""

import math
from collections.abc import Iterator
from typing import Final

import torch

from inspect_compile.lowering.intervention.numerics.graphs.shared import in_memory, index_at

_FEW: Final = 1 << 12
"""Number of elements that are looked at first: values that differ mostly do among these."""
_AT_ONCE: Final = 1 << 15
"""Number of elements that are compared at once: their values and intermediate results in fp64 stay in a core's cache,
which is several times as fast as new memory for each.
"""
_AT_ONCE_ON_A_DEVICE: Final = 1 << 22
"""The same on a GPU, which a part of that size does not keep busy: it only bounds the memory for them."""
_SQUARED: Final = (1e-140, 1e140)
"""Between these the squares of the largest of some values, and their sum, are normal numbers of fp64."""


def is_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True if each element is the same; NaN is NaN."""
    if not one.is_floating_point() and not one.is_complex():
        return torch.equal(one, other)
    if one.numel() > _FEW and one.shape == other.shape:
        (one, other), _ = in_order(one, other)
        is_flat = one.is_contiguous() and other.is_contiguous()
        if is_flat and not _are_equal(one.view(-1)[:_FEW], other.view(-1)[:_FEW]):
            return False
    return torch.equal(one, other) or (bool(one.isnan().any()) and _are_equal(one, other))


def _are_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool(is_same(one, other).all())


def differing_bits(one: torch.Tensor, other: torch.Tensor) -> int:
    """Number of elements that are not the same to the bit; both have one shape and one dtype."""
    one, other = one.contiguous().reshape(-1), other.contiguous().reshape(-1)
    if not one.numel():
        return 0
    bytes_ = one.view(torch.uint8) != other.view(torch.uint8)
    return int(bytes_.view(one.numel(), -1).any(dim=1).sum())


def as_real(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Complex numbers as two real ones."""
    return tuple(torch.view_as_real(one.resolve_conj()) if one.is_complex() else one for one in tensors)


def numbers(*values: torch.Tensor) -> list[float]:
    """Tensors of one element in fp64 as numbers. A GPU is waited for once, and not for each of them."""
    one_by_one = values[0].device.type == "cpu"
    found: list[float] = [one.item() for one in values] if one_by_one else torch.stack(values).tolist()
    return found


def sum_of_squares(values: torch.Tensor, most: float) -> torch.Tensor:
    """The sum of the squares of a vector, of which `most` is the largest element; see `norm`."""
    scaled = values if _scale(most) == 1 else values / most
    return torch.dot(scaled, scaled)


def norm(square: float, most: float) -> float:
    """The root of what `sum_of_squares` found."""
    return _scale(most) * math.sqrt(square)


def _scale(most: float) -> float:
    """What values are divided by, so that their squares are numbers."""
    return 1.0 if not most or _SQUARED[0] < most < _SQUARED[1] else most


def count_unlike(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Number of elements of two vectors in fp64 that are not equal: comparing into truth values takes longer."""
    return torch.ne(one, other, out=torch.empty_like(one)).sum()


def in_order(*tensors: torch.Tensor) -> tuple[list[torch.Tensor], list[int]]:
    """The tensors, which have one shape, with their dimensions in the order in which the first one has them in memory,
    and that order: a tensor that is not in the order of its memory must be copied to be seen as a vector.
    """
    order = None if tensors[0].is_contiguous() else in_memory(tensors[0])
    if order is None:
        return list(tensors), list(range(tensors[0].dim()))
    return [one.permute(order) for one in tensors], order


def index_in(position: int, ordered: torch.Tensor, order: list[int]) -> tuple[int, ...]:
    """The index of the element at that position of `ordered`, whose dimensions are in this order."""
    found = dict(zip(order, index_at(position, ordered), strict=True))
    return tuple(found[dimension] for dimension in range(len(order)))


def in_parts(*tensors: torch.Tensor) -> Iterator[tuple[int, list[torch.Tensor]]]:
    """The tensors as vectors in fp64, some elements of each after the other, with the position of the first."""
    flat = [one.reshape(-1) for one in tensors]
    count = _AT_ONCE if flat[0].device.type == "cpu" else _AT_ONCE_ON_A_DEVICE
    for start in range(0, flat[0].numel(), count):
        yield start, [one[start : start + count].double() for one in flat]


def values_at(index: tuple[int, ...], **values: torch.Tensor) -> dict[str, float]:
    """The element at that index of each of these."""
    return dict(zip(values, numbers(*(value[index].double() for value in values.values())), strict=True))


def is_same(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Where both are equal, or NaN."""
    return (one == other) | (one.isnan() & other.isnan())
