"""Python code that calls torch, run as it is, and beside each of its operators the same in fp64.

FX graphs of ATen operators are run in fp64 node by node. Dynamo's graphs and the program's functions call anything,
look at dtypes and change tensors in place, so they run in their dtypes, and the operators that this comes down to are
repeated on values in fp64: each memory has shadows, which are changed and seen as it is.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.fx.node import map_aggregate

from inspect_compile.lowering.intervention.numerics.graphs.in_fp64 import called_in_fp64, raised, widened
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    is_higher_order,
    operator_without_form,
    runs_itself,
    takes_from_values,
    written_arguments,
)
from inspect_compile.lowering.intervention.numerics.graphs.noise import Noise
from inspect_compile.lowering.intervention.numerics.graphs.reference import once_there
from inspect_compile.lowering.intervention.numerics.upstream.nesting import as_calls
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat.runtime import DISPATCH_MODE, IS_ZERO_TENSOR, SET_VERSION, STORAGE_REFERENCE

RANDOM: Final = "random numbers are drawn differently after decomposition"
_Mode: Any = DISPATCH_MODE.load()
_reference: Any = STORAGE_REFERENCE.load()
_is_zero: Any = IS_ZERO_TENSOR.load()
EXACT: Final = (None,)
NOISY: Final = (0,)
BOTH: Final = (*EXACT, *NOISY)
"""The seeds of the shadows' noise; None is without."""
_ANEW: Final = ("aten.set_", "aten.resize_")
"""These give a tensor another memory."""
_STATISTICS: Final = (
    "aten.native_batch_norm.default",
    "aten.cudnn_batch_norm.default",
    "aten.miopen_batch_norm.default",
)
"""In training, by their sixth argument, these change the fourth and fifth one, and their schemas don't say so."""
_FRESH: Final = ("aten.lift_fresh.default",)
"""Their arguments were made outside of operators."""
_LITTLE: Final = 1 << 26
"""Bytes of new shadows after which those of freed memory are looked for: more of them would count, and looking costs a
question for each.
"""


class Shadowed:
    """The value of a tensor in fp64."""

    def __init__(
        self,
        exact: torch.Tensor,
        noisy: Callable[[int], torch.Tensor],
        reason: str,
        *,
        is_random: bool,
        has_sizes_of_values: bool,
        has_seeds: bool = False,
    ) -> None:
        self.exact = exact
        self.noisy = noisy
        """Seed → the value with noise; always that of the first one without `has_seeds`."""
        self.has_seeds = has_seeds
        """It can be computed again with other noise."""
        self.reason = reason
        """Why `exact` is not exact; empty if it is."""
        self.is_random = is_random
        """It depends on random numbers."""
        self.has_sizes_of_values = has_sizes_of_values
        """A number, or the size of a tensor, came from values before it was computed."""


@dataclass(frozen=True)
class _Before:
    """Memory as it was before it was changed in place."""

    tensor: torch.Tensor
    contents: torch.Tensor
    version: int | None
    """autograd's count of changes; None for a tensor that has none."""
    has_gradient: bool


class ChangesHistoryError(Exception):
    """A tensor that has a history in autograd was about to be changed in place, which could not be undone."""


class _Memory:
    """The shadows of one storage."""

    def __init__(self, reference: Any, dtype: torch.dtype, lanes: list[torch.Tensor]) -> None:
        self.reference = reference
        """A weak one, which keeps the storage's address from being used again."""
        self.dtype = dtype
        self.lanes = lanes
        """All of its elements, one after the other, for each seed. Of memory that was there before they are one tensor.
        """
        self.reason = ""
        self.is_random = False

    def part(self) -> None:
        """Give each lane memory of its own, before they are changed."""
        self.lanes = [self.lanes[0], *(lane.clone() if lane is self.lanes[0] else lane for lane in self.lanes[1:])]


class Shadow(_Mode):  # type: ignore[misc]
    """While it is entered, operators are repeated in fp64. What was there before is put back at its end: the contents
    of memory that was changed in place, and gradients.
    """

    supports_higher_order_operators = True

    def __init__(self, seeds: tuple[int | None, ...] = BOTH) -> None:
        """`seeds`: EXACT, NOISY or BOTH, or another seed of noise alone."""
        super().__init__()
        self._memories: dict[int, _Memory] = {}
        self._seeds = seeds
        self._noise = [None if seed is None else Noise(seed) for seed in seeds]
        self._made: set[int] = set()
        """Storages that an operator made."""
        self._before: dict[int, _Before] = {}
        """Storages that were there before, and were changed."""
        self._forms: dict[int, tuple[torch.Tensor, Any, int | None]] = {}
        """Tensors that were there before, and got other sizes or strides: these and autograd's count of changes before.
        """
        self._leaves: dict[int, tuple[torch.Tensor, torch.Tensor | None]] = {}
        """Tensors that gradients are added up for, and those that they had."""
        self._added = 0
        """Bytes of the shadows made since it was last looked for those that can go."""
        self.has_sizes_of_values = False
        """A number, or the size of a tensor, came from values."""
        self.broken = ""
        """Why nothing is known any more of values in fp64; empty if it is."""

    def changed(self) -> list[torch.Tensor]:
        """Tensors that were there before, and were changed in place."""
        return [one.tensor for one in self._before.values()]

    def made(self) -> dict[int, Any]:
        """The memory that operators made and that is still there: `memory_key` → a weak reference."""
        self.sweep()
        found = {key: one.reference for key, one in self._memories.items() if key in self._made}
        return {key: one for key, one in found.items() if not one.expired()}

    def value(self, tensor: torch.Tensor) -> Shadowed:
        """What `tensor` is in fp64 now. Raises what torch does for a tensor without memory."""
        memory = self._memory(tensor)
        return Shadowed(
            self._lane(tensor, self._seeds.index(None)),
            lambda _: self.noisy(tensor),
            self.broken or memory.reason,
            is_random=memory.is_random,
            has_sizes_of_values=self.has_sizes_of_values,
        )

    def noisy(self, tensor: torch.Tensor, seed: int = 0) -> torch.Tensor:
        """What `tensor` is in fp64 and with noise now."""
        return self._lane(tensor, self._seeds.index(seed))

    def undo(self) -> None:
        """Put back what was there before."""
        with torch.no_grad():
            for tensor, form, version in self._forms.values():
                tensor.as_strided_(*form)
                if version is not None:
                    SET_VERSION.load()((tensor,), (version,))
            for one in self._before.values():
                _flat(one.tensor).copy_(one.contents)
                if one.tensor.requires_grad and not one.has_gradient:
                    one.tensor.detach_()
                if one.version is not None:
                    SET_VERSION.load()((one.tensor,), (one.version,))
        for tensor, gradient in self._leaves.values():
            if tensor.grad is not gradient:
                tensor.grad = gradient
        self._forms.clear()
        self._before.clear()
        self._leaves.clear()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if (calls := as_calls(func)) is not None:
            with self:
                return calls(*args, **kwargs)
        self.has_sizes_of_values = self.has_sizes_of_values or takes_from_values(func)
        given = list(_tensors((args, kwargs)))
        before: list[_Memory] = []
        lanes: list[Any] = []
        for one in given:
            self._note(one, is_fresh=str(func) in _FRESH)
        if torch.Tag.inplace_view in getattr(func, "tags", ()) and memory_key(args[0]) not in self._made:
            form = args[0].size(), args[0].stride(), args[0].storage_offset()
            self._forms.setdefault(id(args[0]), (args[0], form, _version(args[0])))
        for one in _written(func, args, kwargs):
            self._keep(one)
        if not self.broken:
            with self._guarded():
                before = [self._memory(one) for one in given]
                for one in _written(func, args, kwargs):
                    self._memory(one).part()
                lanes = [
                    _mapped((args, kwargs), lambda one, at=at: self._lane(one, at)) for at in range(len(self._seeds))
                ]
        generators = _generators(func, given, kwargs)
        found = once_there(func, func(*args, **kwargs))
        if not self.broken:
            with self._guarded():
                states = zip(generators, _generators(func, given, kwargs), strict=True)
                drew = any(not torch.equal(one, other) for one, other in states)
                self._follow(func, args, kwargs, given, before, lanes, found, is_random=drew)
        return found

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """What goes wrong here is no matter of the program's."""
        try:
            yield
        except Exception as error:
            let_pass(error)
            self.broken = f"it could not be computed in fp64 ({type(error).__name__})"
            error.__traceback__ = None

    def _follow(
        self,
        func: Any,
        args: Any,
        kwargs: Any,
        given: list[torch.Tensor],
        before: list[_Memory],
        lanes: list[Any],
        found: Any,
        *,
        is_random: bool,
    ) -> None:
        """Repeat an operator that has run."""
        name = str(func)
        operator = not is_higher_order(func) or runs_itself(func)
        if name.startswith(_ANEW):
            self.broken = f"{name} changes where a tensor's memory is"
            return
        made = [one for one in _tensors(found) if memory_key(one) not in {memory_key(each) for each in given}]
        changed = list(_written(func, args, kwargs))
        random = is_random or any(memory.is_random for memory in before)
        reason = next((memory.reason for memory in before if memory.reason), "")
        values: list[Any] | None = None
        if not operator:
            reason = reason or f"{name} has no form in fp64"
        elif lacking := operator_without_form(func):
            reason = reason or lacking
        elif not is_random:
            try:
                values = [
                    self._repeated(func, map_aggregate(one, raised), map_aggregate(named, raised), found, noise)
                    for (one, named), noise in zip(lanes, self._noise, strict=True)
                ]
            except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
                error.__traceback__ = None
                reason = reason or f"{name} has no form in fp64 ({type(error).__name__})"
        if values is not None and made:
            pairs = [list(zip(_tensors(found), _tensors(value), strict=True)) for value in values]
            if any(one.shape != lane.shape for pair in pairs for one, lane in pair):
                values, reason = None, reason or f"{name} has another size in fp64"
        for at, one in enumerate(_tensors(found)):
            if memory_key(one) in {memory_key(each) for each in made}:
                self._add(one, None if values is None else [pair[at][1] for pair in pairs])
        for one in changed:
            if values is None:
                for at in range(len(self._seeds)):
                    self._lane(one, at).copy_(one.detach())
            else:
                self._move(one)
        for one in (*made, *changed):
            memory = self._memory(one)
            memory.reason, memory.is_random = memory.reason or reason, memory.is_random or random
        if self._added > _LITTLE:
            self.sweep()

    @staticmethod
    def _repeated(func: Any, args: Any, kwargs: Any, found: Any, noise: Noise | None) -> Any:
        """What an operator gives for arguments in fp64. What was there before has no noise yet where it is added up."""
        return called_in_fp64(func, args if noise is None else noise.in_sums(func, args, found), kwargs, found)

    def sweep(self) -> None:
        """Let go of the shadows of memory that is no longer there."""
        self._added = 0
        for key in [key for key, memory in self._memories.items() if memory.reference.expired()]:
            del self._memories[key]
            self._made.discard(key)

    def _note(self, tensor: torch.Tensor, *, is_fresh: bool) -> None:
        """A tensor is about to be used."""
        key = memory_key(tensor)
        if is_fresh:
            self._memories.pop(key, None)
            self._made.add(key)
        if tensor.is_leaf and tensor.requires_grad and id(tensor) not in self._leaves:
            self._leaves[id(tensor)] = tensor, tensor.grad

    def _keep(self, tensor: torch.Tensor) -> None:
        """Its memory is about to be changed. Raises ChangesHistoryError."""
        key = memory_key(tensor)
        if key in self._made:
            return
        if tensor.requires_grad and not tensor.is_leaf:
            msg = "it changes a tensor in place that depends on others with gradients, which can't be undone"
            raise ChangesHistoryError(msg)
        if key not in self._before:
            self._memory(tensor)
            self._before[key] = _Before(tensor, _flat(tensor).clone(), _version(tensor), tensor.requires_grad)

    def _add(self, tensor: torch.Tensor, values: list[torch.Tensor] | None) -> None:
        """An operator made a tensor; `values` are its shadows, None for its own value."""
        self._made.add(memory_key(tensor))
        self._memories.pop(memory_key(tensor), None)
        memory = self._memory(tensor)
        if values is None:
            return
        memory.part()
        for lane, value in zip(memory.lanes, values, strict=True):
            lane.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).copy_(value)
        self._move(tensor)

    def _move(self, tensor: torch.Tensor) -> None:
        """Add noise of one rounding to what has just been computed."""
        if not tensor.is_floating_point() or not tensor.numel() or tensor.is_meta:
            return
        for at, noise in enumerate(self._noise):
            if noise is not None:
                lane = self._lane(tensor, at)
                lane.copy_(noise.on(lane, tensor.dtype))

    def _lane(self, tensor: torch.Tensor, at: int) -> torch.Tensor:
        lane = self._memory(tensor).lanes[at]
        return lane.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

    def _memory(self, tensor: torch.Tensor) -> _Memory:
        """The shadows of a tensor's memory, which begin as what it holds now."""
        if tensor.is_conj() or tensor.is_neg():
            msg = "it is seen as its conjugate or negative"
            raise TypeError(msg)
        key = memory_key(tensor)
        memory = self._memories.get(key)
        if memory is None:
            flat = _flat(tensor)
            lane = widened(flat)
            lane = flat.clone() if lane is flat else lane
            self._added += len(self._seeds) * lane.nbytes
            reference = _reference(tensor.untyped_storage())
            memory = self._memories[key] = _Memory(reference, tensor.dtype, [lane] * len(self._seeds))
        if memory.dtype != tensor.dtype:
            raise TypeError(f"{memory.dtype} and {tensor.dtype} in one memory")
        return memory


def _generators(func: Any, given: list[torch.Tensor], kwargs: Any) -> list[torch.Tensor]:
    """The states of the generators that an operator may draw random numbers from: attention has the tag of those that
    do, and draws none without dropout.
    """
    if torch.Tag.nondeterministic_seeded not in getattr(func, "tags", ()):
        return []
    devices = {one.device for one in given} | {torch.device(kwargs.get("device") or "cpu")}
    return [
        torch.get_rng_state(),
        *(torch.cuda.get_rng_state(device) for device in devices if device.type == "cuda"),
    ]


def _version(tensor: torch.Tensor) -> int | None:
    """autograd's count of changes; None for a tensor that has none."""
    return None if tensor.is_inference() else tensor._version


def memory_key(tensor: torch.Tensor) -> int:
    """What tensors in one memory have in common, as long as there is a weak reference to it."""
    return int(_reference(tensor.untyped_storage()).cdata)


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """All elements of its memory. Raises TypeError if it has none."""
    storage = tensor.untyped_storage()
    if _is_zero(tensor):  # the zeros of a derivative, which are in no memory
        return torch.zeros(storage.nbytes() // tensor.element_size(), dtype=tensor.dtype, device=tensor.device)
    if tensor.numel() and not tensor.data_ptr() and not tensor.is_meta:  # derivatives ask for the sizes of products
        msg = "it has no memory"
        raise TypeError(msg)
    made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return made.set_(storage, 0, (storage.nbytes() // tensor.element_size(),), (1,))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)


def _mapped(value: Any, change: Any) -> Any:
    return map_aggregate(value, lambda one: change(one) if isinstance(one, torch.Tensor) else one)


def _written(func: Any, args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    """The arguments that an operator changes in place."""
    if getattr(func, "_schema", None) is None:
        if "triton" in str(func):  # a kernel of the program's, which changes some of its arguments
            yield from _tensors((args, kwargs))
        return
    if str(func) in _STATISTICS and args[5]:
        yield from _tensors(args[3:5])
    for at, name in written_arguments(func):
        yield from _tensors(args[at] if at < len(args) else kwargs.get(name))
