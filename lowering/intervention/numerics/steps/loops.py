"""Recorded loops as a function of tensors, by ATen: in their dtypes, half types in float32, or in fp64."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import sympy
import torch

from inspect_compile.lowering.intervention.numerics.steps.indices import NotKnownError, evaluated, parted, strides
from inspect_compile.lowering.intervention.numerics.steps.operators import operation
from inspect_compile.lowering.intervention.numerics.steps.recorded import Recorded, Value

_AT_ONCE: Final = 1 << 22
"""Number of elements that are computed at once, of a loop whose outermost dimension can be cut."""
_MOST: Final = 1 << 27
"""Maximum number of elements that the loops go over."""
_TO_INTEGERS: Final[Mapping[str, Callable[..., Any]]] = {
    "trunc_to_int": torch.trunc,
    "ceil_to_int": torch.ceil,
    "floor_to_int": torch.floor,
    "round_to_int": torch.round,
}


class Operand(NamedTuple):
    """A buffer that the loops read."""

    buffer: str
    size: tuple[Any, ...]
    stride: tuple[Any, ...]
    """In the buffer's memory; both may have sizes that are not known before a call."""
    seen_as: tuple[tuple[int, ...], tuple[int, ...], int] | None = None
    """Size, stride and offset in that memory of the value that is given; None if it has those of the buffer."""


class Loops:
    """Computes a buffer from those that it is made of. Called as the target of an FX node."""

    def __init__(self, buffer: str, recorded: Recorded, operands: Sequence[Operand], sizes: Sequence[Any]) -> None:
        """`sizes`: the sizes that are given in a call."""
        self.__name__ = f"loops_of_{buffer}"
        self._recorded = recorded
        self._operands = operands
        self._sizes = sizes

    def __call__(self, widest: torch.dtype, device: torch.device, values: Sequence[Any], sizes: Sequence[int]) -> Any:
        """The buffer's value, from those of its operands. If `widest` is float64, that takes the place of all floating
        types.
        """
        recorded = self._recorded
        known = dict(zip(self._sizes, sizes, strict=True))
        extents = [int(evaluated(size, known)) for _, size in (*recorded.ranges, *recorded.reduced)]
        if math.prod(extents) > _MOST:
            raise NotKnownError(f"its loops go over more than {_MOST:,} elements")
        memory = {one.buffer: _memory(one, value, known) for one, value in zip(self._operands, values, strict=True)}
        turn = _Turn(recorded, known, memory, device, is_wide=widest is torch.float64)
        rows = extents[0] if recorded.ranges else 1
        step = max(1, _AT_ONCE // max(1, math.prod(extents[1:]))) if recorded.ranges else 1
        parts = [turn.run(extents, start, min(step, rows - start)) for start in range(0, rows, step)]
        return parts[0] if len(parts) == 1 else torch.cat(parts) if parts else turn.run(extents, 0, 0)


class _Turn:
    """One call of the loops."""

    def __init__(
        self,
        recorded: Recorded,
        known: Mapping[Any, int],
        memory: Mapping[str, torch.Tensor],
        device: torch.device,
        *,
        is_wide: bool,
    ) -> None:
        self._recorded = recorded
        self._known = known
        self._memory = memory
        self._device = device
        self._is_wide = is_wide
        self._variables = tuple(variable for variable, _ in (*recorded.ranges, *recorded.reduced))
        self._values: list[Any] = []
        self._at: dict[Any, Any] = {}
        self._extents: list[int] = []
        self._start = 0
        self._last = _last_uses(recorded)
        self._moving = frozenset((*self._variables[: len(recorded.ranges) and 1], *recorded.indirect))
        """The variables that have other values in another part: the outermost one, and what is computed or loaded."""
        self._same: dict[Any, Any] = {}
        """Expression without such variables → its value, in every part."""

    def run(self, extents: Sequence[int], start: int, count: int) -> torch.Tensor:
        """The part of the buffer that begins with the element `start` of its first dimension."""
        recorded = self._recorded
        self._extents = [count, *extents[1:]] if recorded.ranges else list(extents)
        self._start = start if recorded.ranges else 0
        self._at = dict(self._known)
        for at, (variable, extent) in enumerate(zip(self._variables, self._extents, strict=True)):
            along = torch.arange(extent, device=self._device) + (self._start if at == 0 else 0)
            self._at[variable] = along.view([-1 if each == at else 1 for each in range(len(self._extents))])
        self._values = []
        indirect = {value.at: symbol for symbol, value in recorded.indirect.items()}
        for at, asked in enumerate(recorded.operations):
            found = self._computed(asked.name, asked.arguments)
            self._values.append(found)
            if at in indirect:
                self._at[indirect[at]] = found
            for done in self._last.get(at, ()):
                self._values[done] = None
        results = recorded.result if type(recorded.result) is tuple else (recorded.result,)
        whole = [torch.broadcast_to(self._given(one), self._extents) for one in results]
        return self._reduced(whole).to(self._as_asked(recorded.dtype)).contiguous()

    def _computed(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name == "load":
            return _widened(self._loaded(*arguments[:2]))
        if name == "constant":
            dtype = _computed_in(self._as_asked(arguments[1]))
            return torch.tensor(self._given(arguments[0]), dtype=dtype, device=self._device)
        if name in ("index_expr", "value_expr"):
            found = self._evaluated(arguments[0])
            return torch.as_tensor(found, dtype=_computed_in(self._as_asked(arguments[1])), device=self._device)
        given = [self._given(one) for one in arguments]
        if name == "to_dtype":
            return _widened(given[0].to(self._as_asked(arguments[1])))
        if name in _TO_INTEGERS:
            return _TO_INTEGERS[name](given[0]).to(arguments[1])
        if name == "wrapped":
            return torch.where(given[0] < 0, given[0] + given[1], given[0])
        if (function := operation(name)) is None:
            raise NotKnownError(f"{name} in a loop")
        if name == "where":
            given[1:] = [_like(one, other) for one, other in ((given[1], given[2]), (given[2], given[1]))]
        return function(*(one if isinstance(one, torch.Tensor) else torch.tensor(one) for one in given))

    def _given(self, argument: Any) -> Any:
        if isinstance(argument, Value):
            return self._values[argument.at]
        return self._evaluated(argument) if isinstance(argument, sympy.Basic) else argument

    def _evaluated(self, expression: Any) -> Any:
        # Divisions of an index by sizes mostly are in the terms that all parts have in common.
        moving, same = parted(expression, self._moving)
        if same is not None and same not in self._same:
            self._same[same] = evaluated(same, self._at)
        if moving is None:
            return self._same[same]
        found = evaluated(moving, self._at)
        return found if same is None else found + self._same[same]

    def _as_asked(self, dtype: torch.dtype) -> torch.dtype:
        return torch.float64 if self._is_wide and dtype.is_floating_point else dtype

    def _loaded(self, buffer: str, index: Any) -> torch.Tensor:
        memory = self._memory[buffer]
        index = index.subs(self._known) if self._known else index
        found = strides(index, self._variables)
        if found is not None:
            steps, offset = found
            offset += steps[0] * self._start if steps else 0
            reach = [step * (extent - 1) for step, extent in zip(steps, self._extents, strict=True)]
            ends = offset + sum(min(0, one) for one in reach), offset + sum(max(0, one) for one in reach)
            if ends[0] >= 0 and ends[1] < memory.numel() and all(step >= 0 for step in steps):
                return memory.as_strided(self._extents, steps, memory.storage_offset() + offset)
        place = torch.as_tensor(self._evaluated(index), device=self._device)
        # What lies outside is masked: the value there is not used.
        return memory[place.clamp(0, max(0, memory.numel() - 1))]

    def _reduced(self, values: Sequence[torch.Tensor]) -> torch.Tensor:
        recorded = self._recorded
        if not recorded.reduction:
            return values[0]
        along = list(range(len(recorded.ranges), len(self._extents)))
        if recorded.dtype.is_floating_point:
            values = [one.to(_computed_in(self._as_asked(recorded.dtype))) for one in values]
        value = values[0]
        match recorded.reduction:
            case "sum" | "dot":
                return value.sum(along)
            case "max":
                return value.amax(along)
            case "min":
                return value.amin(along)
            case "any":
                return value.to(torch.bool).flatten(along[0]).any(-1)
            case "prod":
                return value.flatten(along[0]).prod(-1)
            case "argmax":
                return value.flatten(along[0]).argmax(-1)
            case "argmin":
                return value.flatten(along[0]).argmin(-1)
            case "welford_reduce":
                mean = value.mean(along, keepdim=True)
                spread = (value - mean).square().sum(along)
                weight = torch.full_like(spread, math.prod(self._extents[along[0] :]))
                return (mean.squeeze(along), spread, weight)[recorded.output]
            case "welford_combine":
                return _combined(values, along)[recorded.output]
            case "online_softmax_reduce":
                largest = value.amax(along, keepdim=True)
                return (largest.squeeze(along), (value - largest).exp().sum(along))[recorded.output]
        raise NotKnownError(recorded.reduction)


def _combined(values: Sequence[torch.Tensor], along: list[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean, sum of squared differences and number of elements of all parts, from those of each."""
    means, spreads, weights = values
    weight = weights.sum(along, keepdim=True)
    mean = (means * weights).sum(along, keepdim=True) / weight
    spread = (spreads + weights * (means - mean).square()).sum(along)
    return mean.squeeze(along), spread, weight.squeeze(along)


def _memory(operand: Operand, value: Any, known: Mapping[Any, int]) -> torch.Tensor:
    """The buffer's memory, flat, as it is where it holds `value`. Raises NotKnownError."""
    if not isinstance(value, torch.Tensor):
        raise NotKnownError(f"no node has the value of {operand.buffer}")
    size = [int(evaluated(one, known)) for one in operand.size]
    stride = [int(evaluated(one, known)) for one in operand.stride]
    length = 1 + sum((one - 1) * step for one, step in zip(size, stride, strict=True)) if math.prod(size) else 0
    if operand.seen_as is None and list(value.shape) == size and list(value.stride()) == stride:
        return value.as_strided([length], [1])
    flat = torch.zeros(length, dtype=value.dtype, device=value.device)
    seen = flat.as_strided(size, stride) if operand.seen_as is None else flat.as_strided(*operand.seen_as)
    for at, (one, other) in enumerate(zip(seen.shape, value.shape, strict=True)):
        if one == 1 < other:  # it is expanded
            value = value.narrow(at, 0, 1)
    seen.copy_(value)
    return flat


def _widened(value: torch.Tensor) -> torch.Tensor:
    return value.to(_computed_in(value.dtype))


def _computed_in(dtype: torch.dtype) -> torch.dtype:
    """The type in which kernels compute with values of `dtype`: they round to a half type what they store."""
    return torch.float32 if dtype.is_floating_point and dtype.itemsize < torch.float32.itemsize else dtype


def _like(value: Any, other: Any) -> Any:
    """A number in the dtype of the tensor that it is chosen beside."""
    if isinstance(value, torch.Tensor) or not isinstance(other, torch.Tensor):
        return value
    return torch.tensor(value, dtype=other.dtype, device=other.device)


def _last_uses(recorded: Recorded) -> dict[int, list[int]]:
    """Operation → those whose values are needed no more after it."""
    last: dict[int, int] = {}
    for at, asked in enumerate(recorded.operations):
        for one in asked.arguments:
            if isinstance(one, Value):
                last[one.at] = at
    results = recorded.result if type(recorded.result) is tuple else (recorded.result,)
    kept = {one.at for one in (*results, *recorded.indirect.values()) if isinstance(one, Value)}
    found: dict[int, list[int]] = {}
    for value, at in last.items():
        if value not in kept:
            found.setdefault(at, []).append(value)
    return found
