"""Writes tensors to files of the dump, as long as there is room for them."""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch

_PLAIN = (int, float, bool, str, type(None))


class Stored(NamedTuple):
    """A file of the dump."""

    file: str
    """Its path; empty if it was not written."""
    bytes: int
    """Size of the tensors."""
    reason: str = ""
    """Why it was not written."""


class Room:
    """What may still be kept by this process."""

    def __init__(self, limit: int, write: Callable[[str, bytes], bool]) -> None:
        """`limit` is in bytes; `write` is given a path in the dump and the contents, and says if they are there now."""
        self._limit = limit
        self._left = limit
        self._write = write

    @property
    def is_wanted(self) -> bool:
        """False if nothing is to be kept at all."""
        return self._limit > 0

    def store(self, name: str, content: dict[str, Any]) -> Stored:
        """Write `content`, plain values and tensors in dictionaries, lists and tuples, to the file `name`.

        Tensors that share memory, their strides and offsets are as before when the file is read.
        """
        strange = next((one for one in _values(content) if not _is_plain(one)), None)
        if strange is not None:
            return Stored("", 0, f"a {type(strange).__name__} is among them")
        size = sum({_key(one): one.untyped_storage().nbytes() for one in tensors_of(content)}.values())
        if size > self._left:
            left = "" if self._left == self._limit else f", of which {self._left:,} are left"
            return Stored("", size, f"larger than --keep allows: {self._limit:,} bytes in all{left}")
        file = io.BytesIO()
        torch.save(content, file)
        if not self._write(name, file.getvalue()):
            return Stored("", size, "the dump has reached its limit, or can't be written")
        self._left -= size
        return Stored(name, size)


def tensors_of(content: Any) -> Iterator[torch.Tensor]:
    """The tensors in `content`."""
    return (one for one in _values(content) if isinstance(one, torch.Tensor))


def bare(value: Any) -> Any:
    """`value` with its tensors as plain ones in the same memory, which know nothing of parameters and gradients."""
    if isinstance(value, torch.Tensor):
        return value.detach() if type(value) is torch.Tensor else value.detach().as_subclass(torch.Tensor)
    if type(value) in (list, tuple):
        return type(value)(bare(one) for one in value)
    return value


def _values(content: Any) -> Iterator[Any]:
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, (list, tuple)):
            waiting += one
        else:
            yield one


def _is_plain(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return type(value) is torch.Tensor and value.layout is torch.strided
    return isinstance(value, (*_PLAIN, torch.dtype, torch.device))


def _key(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() or id(tensor)


def memories(values: Iterable[Any]) -> set[int]:
    """Where the memory of the tensors among `values` begins."""
    return {one.untyped_storage().data_ptr() for one in values if isinstance(one, torch.Tensor)}
