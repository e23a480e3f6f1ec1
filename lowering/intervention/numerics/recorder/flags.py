"""Whether results of a call have NaN or Inf, asked of their device without waiting for its answer."""

import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.knowledge.numerics.formats import INF, NAN
from inspect_compile.torch_compat.runtime import LARGEST_OF_EACH

_norms: Any = LARGEST_OF_EACH.load()
_LOOKED_AT: Final = (
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
)
"""Other types have no infinity, or no largest absolute value that torch computes."""
_PAUSE: Final = 0.002
"""Seconds between two looks at a device that is waited for."""


def is_looked_at(value: Any) -> bool:
    """True for a tensor, also a fake one, that a flag can tell of."""
    return isinstance(value, torch.Tensor) and value.dtype in _LOOKED_AT and value.layout is torch.strided


class _Part(NamedTuple):
    """Results of one dtype on one device."""

    at: list[int]
    """Which results."""
    largest: torch.Tensor
    """The largest absolute value of each (of a complex one, perhaps, of its parts): NaN if it has one, else Inf if it
    has one. In the memory of the host.
    """


class Flag:
    """Of one call, on its way from the device."""

    def __init__(self, parts: list[_Part], events: list[torch.cuda.Event]) -> None:
        """`events`: when they have passed, the parts are there."""
        self._parts = parts
        self._events = events

    def is_there(self) -> bool:
        """True if it can be read without waiting."""
        return all(bool(event.query()) for event in self._events)  # type: ignore[no-untyped-call]

    def wait(self) -> None:
        """Wait until it is there."""
        for event in self._events:
            event.synchronize()

    def arrives(self, seconds: float) -> bool:
        """Wait for so long at most; True if it is there. A device may hang, as in a collective that no other joins."""
        until = time.monotonic() + seconds
        while not self.is_there():
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
        return True

    def kinds(self) -> dict[int, str]:
        """Result → NaN or Inf, if it has that; NaN of one that has both. Only once it is there."""
        found = {}
        for at, largest in self._parts:
            if not bool(largest.isfinite().all()):
                for position, value in zip(at, largest.tolist(), strict=True):
                    if value != value:
                        found[position] = NAN
                    elif value == float("inf"):
                        found[position] = INF
        return dict(sorted(found.items()))


class Flags:
    """Makes the flags of one graph's calls: one reduction over all results of a dtype, and one small copy."""

    def __init__(self, positions: Sequence[int]) -> None:
        """`positions`: the results that are looked at."""
        self._positions = positions

    def of(self, results: Sequence[Any]) -> Flag:
        """Ask about these results; they are not changed, and not needed any more once this returns."""
        groups: dict[tuple[torch.device, torch.dtype], list[int]] = {}
        for position in self._positions:
            value = results[position]
            if isinstance(value, torch.Tensor) and value.numel():
                groups.setdefault((value.device, value.dtype), []).append(position)
        parts, devices = [], set()
        for (device, _), at in groups.items():
            values = [results[one] for one in at]
            if device.type == "cuda":
                devices.add(device)
                norms = _together(_norms([one.detach() if one.requires_grad else one for one in values], float("inf")))
                largest = torch.empty(len(at), dtype=norms.dtype, pin_memory=True).copy_(norms, non_blocking=True)
            else:
                largest = torch.stack([_largest(one.detach()) for one in values])
            parts.append(_Part(at, largest))
        return Flag(parts, [_passed(device) for device in devices])


def _largest(value: torch.Tensor) -> torch.Tensor:
    """The largest absolute value; on a CPU faster than the norm, which is not vectorized for infinity."""
    low, high = (torch.view_as_real(value) if value.is_complex() else value).aminmax()
    return torch.maximum(high, low.neg())


def _together(numbers: list[torch.Tensor]) -> torch.Tensor:
    """The numbers in one tensor. On a GPU they lie side by side already, and stacking hundreds of them takes the host
    longer than to have them computed.
    """
    first, last = numbers[0], numbers[-1]
    if first.untyped_storage().data_ptr() == last.untyped_storage().data_ptr():
        start, size = first.data_ptr(), first.element_size()
        if all(one.data_ptr() == start + at * size for at, one in enumerate(numbers)):
            return first.as_strided((len(numbers),), (1,))
    return torch.stack(numbers)


def _passed(device: torch.device) -> torch.cuda.Event:
    """An event at the end of what the device has been given so far."""
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(device))
    return event
