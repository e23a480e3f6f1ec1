"""What calls of a graph were given, kept until it is known that none of them has to be made again."""

import weakref
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.torch_compat.runtime import COPY_EACH

_copy_each: Any = COPY_EACH.load()
_CHANGED: Final = "input {at} was changed or freed before the flag was read"


class LostError(Exception):
    """What a call was given is not there any more, or never was."""


class Room:
    """How much memory of this process inputs may take."""

    def __init__(self, limit: int) -> None:
        """`limit` is in bytes."""
        self.limit = limit
        self._taken = 0

    def take(self, size: int) -> bool:
        """Take so many bytes; False if there are not so many."""
        if self._taken + size > self.limit:
            return False
        self._taken += size
        return True

    def give(self, size: int) -> None:
        """Give them back."""
        self._taken -= size


class Slot:
    """Memory for copies of inputs of one call, used again by later ones."""

    def __init__(self, room: Room, *, is_fixed: bool) -> None:
        """`is_fixed`: an input has the same size in every call."""
        self._room = room
        self._is_fixed = is_fixed
        self._own: dict[int, torch.Tensor] = {}
        """Position of an input → memory for it."""
        self._groups: list[tuple[list[torch.Tensor], list[int]]] = []
        """What is copied at once: memory, and the positions of the inputs."""
        self._odd: list[int] = []
        """Positions of inputs whose elements overlap, or that have gaps: each is copied with its storage."""
        self._copied: list[int] | None = None
        """The positions that these are about."""
        self.bytes = 0

    def copy(self, args: Sequence[Any], positions: list[int]) -> None:
        """Copy the inputs at these positions. Raises LostError if there is no room for them."""
        if self._copied != positions or not self._is_fixed:
            self._copied = None
            self._prepare(args, positions)
            self._copied = list(positions)
        for ours, theirs in self._groups:
            _copy_each(ours, [args[at] for at in theirs])
        for at in self._odd:
            self._own[at] = copies([args[at]])[0]

    def at(self, position: int) -> torch.Tensor:
        """The copy of the input at this position."""
        return self._own[position]

    def clear(self) -> None:
        """Give the memory back."""
        self._own.clear()
        self._groups.clear()
        self._copied = None
        self._room.give(self.bytes)
        self.bytes = 0

    def _prepare(self, args: Sequence[Any], positions: list[int]) -> None:
        groups: dict[tuple[torch.device, torch.dtype], tuple[list[torch.Tensor], list[int]]] = {}
        self._odd = []
        for at in positions:
            value = args[at]
            own = self._own.get(at)
            if own is None or own.shape != value.shape:
                own = self._own[at] = self._made(own, value)
            if own.stride() == value.stride():
                ours, theirs = groups.setdefault((own.device, own.dtype), ([], []))
                ours.append(own)
                theirs.append(at)
            else:
                self._odd.append(at)
        self._groups = list(groups.values())

    def _made(self, before: torch.Tensor | None, value: torch.Tensor) -> torch.Tensor:
        size = _bytes(value) - (0 if before is None else _bytes(before))
        if not self._room.take(size):
            message = f"its inputs are more than the {self._room.limit:,} bytes that --keep allows"
            raise LostError(message)
        self.bytes += size
        try:
            return torch.empty_like(value, requires_grad=False)
        except torch.OutOfMemoryError as error:
            message = "the device has no memory left for its inputs"
            raise LostError(message) from error


def _bytes(value: torch.Tensor) -> int:
    return value.numel() * value.element_size()


@dataclass
class CallInputs:
    """What one call was given."""

    slot: Slot
    copied: list[int]
    """Positions of inputs whose values are in the slot."""
    held: dict[int, tuple["weakref.ref[torch.Tensor]", int]]
    """Position → an input that nobody changes, and the number of its changes so far."""
    plain: dict[int, Any]
    """Position → an input that is no tensor."""
    state: RandomState | None
    """Of the generators of random numbers; None if the graph draws none."""

    def inputs(self, others: dict[int, Any] | None = None) -> list[Any]:
        """The inputs; `others` are those that were not kept. Raises LostError if one was changed."""
        found = self.plain | (others or {}) | {at: self.slot.at(at) for at in self.copied}
        for at, (reference, version) in self.held.items():
            value = reference()
            if value is None or value._version != version:
                raise LostError(_CHANGED.format(at=at))
            found[at] = value
        return [found[at] for at in sorted(found)]


@dataclass
class Keeping:
    """Decides which inputs of one graph are copied: those that change from call to call.

    A tensor that was the same, unchanged, at the last call stays where it is, as do parameters without a gradient, and
    all parameters of a graph that trains nothing. If it has changed since, it is copied from then on.
    """

    trains: bool
    """Gradients follow: an optimizer changes the parameters."""
    draws: bool
    """The graph draws random numbers."""
    changing: list[int] = field(default_factory=list)
    """Positions of inputs that are known to change."""
    last: dict[int, tuple["weakref.ref[torch.Tensor]", int]] = field(default_factory=dict)
    """Position of one that is not → what it was at the last call."""
    plain: list[int] = field(default_factory=list)
    """Positions of inputs that are no tensors."""
    undecided: list[int] | None = None
    """Positions of all others; None before the first call."""

    def keep(self, args: Sequence[Any], slot: Slot, elsewhere: Container[int] = ()) -> CallInputs:
        """Keep what a call is about to be given, but for inputs at the positions `elsewhere`. Raises LostError."""
        if self.undecided is None:
            self.plain = [at for at, value in enumerate(args) if not isinstance(value, torch.Tensor)]
            self.changing = [at for at, value in enumerate(args) if self._is_trained(value)]
            known = {*self.plain, *self.changing}
            self.undecided = [at for at in range(len(args)) if at not in known]
        copied, held = [at for at in self.changing if at not in elsewhere], {}
        for at in list(self.undecided):
            if at in elsewhere:
                continue
            found = self._unchanged(at, args[at])
            if found is None:
                copied.append(at)
            else:
                held[at] = found
        slot.copy(args, copied)
        plain = {at: args[at] for at in self.plain if at not in elsewhere}
        return CallInputs(slot, copied, held, plain, RandomState(args) if self.draws else None)

    def _is_trained(self, value: Any) -> bool:
        return self.trains and isinstance(value, torch.nn.Parameter) and value.requires_grad

    def _unchanged(self, at: int, value: torch.Tensor) -> tuple["weakref.ref[torch.Tensor]", int] | None:
        """What is remembered of an input that may stay where it is; None for one that is to be copied."""
        assert self.undecided is not None
        version = None if value.is_inference() else value._version
        before = self.last.get(at)
        was = None if before is None else before[0]()
        if version is None or (before is not None and was is value and before[1] != version):
            self._changes(at)
            return None
        if before is not None and was is value:
            return before
        if before is not None and not isinstance(value, torch.nn.Parameter):
            self._changes(at)  # another one each time
            return None
        self.last[at] = weakref.ref(value), version
        return self.last[at] if isinstance(value, torch.nn.Parameter) else None

    def _changes(self, at: int) -> None:
        assert self.undecided is not None
        self.undecided.remove(at)
        self.last.pop(at, None)
        self.changing.append(at)
