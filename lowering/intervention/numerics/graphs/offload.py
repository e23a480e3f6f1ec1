"""Values that wait in a file until they are needed, in the place of memory.

The file has no name: it is gone when it is closed, however the process ends. What is read from it is mapped into
memory, page by page as it is looked at, and let go with the tensor. As long as there is room the system keeps the pages
in memory that no process has, and gives them away first.
"""

import contextlib
import ctypes
import functools
import mmap
import tempfile
from collections import UserDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import torch
from torch.fx.node import map_aggregate

from inspect_compile.torch_compat.runtime import STORAGE_REFERENCE

_LEAST: Final = 1 << 16
"""Number of bytes of memory that are worth a place in the file."""
_AT_ONCE: Final = 1 << 30
"""Number of bytes that are written at once: systems write no more than two GB."""
_reference: Any = STORAGE_REFERENCE.load()


@dataclass(frozen=True, eq=False)
class _Memory:
    """The contents of a storage in the file."""

    start: int
    bytes: int
    device: torch.device


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A tensor whose memory is in the file."""

    memory: _Memory
    dtype: torch.dtype
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


class Offload:
    """A temporary file with tensors: those of one memory, as long as it is there and known not to change, are in one
    place of it.
    """

    def __init__(self) -> None:
        """Raises OSError if there is no folder for temporary files."""
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._known: dict[int, tuple[Any, _Memory]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, value: Any, apart: Collection[int] = (), *, is_fixed: bool = False) -> Any:
        """What stands for `value`, a tensor or what has some in lists and tuples. Tensors in the memory of `apart`,
        small ones, and those for which the file has no room, stay as they are. `is_fixed`: none will be changed.
        """
        return map_aggregate(value, lambda one: self._put(one, apart, is_fixed=is_fixed))

    def get(self, value: Any) -> Any:
        """What `put` was given: tensors that shared memory do so again."""
        seen: dict[_Memory, torch.UntypedStorage] = {}

        def got(one: Any) -> Any:
            if not isinstance(one, _Waiting):
                return one
            storage = seen.get(one.memory)
            if storage is None:
                storage = seen[one.memory] = self._read(one.memory)
            made = torch.empty(0, dtype=one.dtype, device=storage.device)
            return made.set_(storage, one.offset, one.size, one.stride)

        return map_aggregate(value, got)

    def _put(self, value: Any, apart: Collection[int], *, is_fixed: bool) -> Any:
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or not _has_plain_memory(value):
            return value
        storage = value.untyped_storage()
        if storage.nbytes() < _LEAST or storage.data_ptr() in apart:
            return value
        key = int(_reference(storage).cdata)
        known = self._known.get(key) if is_fixed else None
        if known is None or known[0].expired():
            try:
                memory = self._written(storage)
            except OSError:  # no room
                return value
            # The reference keeps the address from being used for another storage.
            known = _reference(storage), memory
            if is_fixed:
                self._known[key] = known
        return _Waiting(known[1], value.dtype, value.storage_offset(), tuple(value.shape), value.stride())

    def _written(self, storage: torch.UntypedStorage) -> _Memory:
        here = storage if storage.device.type == "cpu" else storage.cpu()  # type: ignore[no-untyped-call]
        start = -(-self._file.seek(0, 2) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        self._file.seek(start)
        contents = memoryview((ctypes.c_char * here.nbytes()).from_address(here.data_ptr())).cast("B")
        at = 0
        while at < len(contents):
            at += self._file.write(contents[at : at + _AT_ONCE])
        return _Memory(start, here.nbytes(), storage.device)

    def _read(self, memory: _Memory) -> torch.UntypedStorage:
        mapped = mmap.mmap(self._file.fileno(), memory.bytes, access=mmap.ACCESS_COPY, offset=memory.start)
        return torch.frombuffer(mapped, dtype=torch.uint8).to(memory.device).untyped_storage()


def _has_plain_memory(tensor: torch.Tensor) -> bool:
    is_plain = tensor.layout is torch.strided and tensor.device.type in ("cpu", "cuda")
    return is_plain and not tensor.is_quantized and not tensor.is_conj() and not tensor.is_neg()


class Values(UserDict[Hashable, Any]):
    """Values by name, in memory or in a file."""

    def __init__(self, store: Offload | None = None, apart: Collection[int] = (), *, is_fixed: bool = False) -> None:
        """See `Offload.put`; `store` is None for memory."""
        super().__init__()
        self._store = store
        self._apart = apart
        self._is_fixed = is_fixed
        self._gone: dict[Hashable, Any] = {}
        """Name of a value that was let go → its memory: a reference that does not keep it, or its place in the file."""

    def __setitem__(self, name: Hashable, value: Any) -> None:
        self.data[name] = value if self._store is None else self._store.put(value, self._apart, is_fixed=self._is_fixed)

    def __getitem__(self, name: Hashable) -> Any:
        found = self.data[name]
        return found if self._store is None else self._store.get(found)

    def part_from(self, name: Hashable, tensor: torch.Tensor) -> None:
        """`tensor` is about to be changed: the value of that name, if it is this tensor, becomes a copy."""
        if self.data.get(name) is tensor:
            self[name] = tensor.clone()

    def holds(self, name: Hashable) -> bool:
        """True if the value of that name is there, and need not be computed."""
        return name in self.data

    def is_own(self, name: Hashable) -> bool:
        """True if letting the value of that name go frees memory: it is not in that which is to be apart."""
        value = self.data[name]
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
            return True
        return value.untyped_storage().data_ptr() not in self._apart

    def let_go(self, name: Hashable) -> None:
        """Forget the value of that name. Its memory is still known, as long as something else has it."""
        found = self.data.pop(name)
        if isinstance(found, torch.Tensor) and _has_plain_memory(found):
            self._gone[name] = _reference(found.untyped_storage())
        elif isinstance(found, _Waiting):
            self._gone[name] = found.memory

    def memory(self, name: Hashable) -> int:
        """A number for the memory of the tensor of that name, which others in this memory have too; 0 for no tensor."""
        found = self.data.get(name, self._gone.get(name))
        if isinstance(found, (_Waiting, _Memory)):
            return id(found.memory if isinstance(found, _Waiting) else found)
        if isinstance(found, torch.Tensor):
            is_there = _has_plain_memory(found) and found.untyped_storage().data_ptr()
            return int(_reference(found.untyped_storage()).cdata) if is_there else 0
        return 0 if found is None or not hasattr(found, "expired") or found.expired() else int(found.cdata)


class Returned(Sequence[Any]):
    """What a graph returned, by position."""

    def __init__(self, found: Callable[[], Sequence[Any]], values: Values) -> None:
        """`values` is empty; what `found` gives is put there once it is asked for."""
        self._found, self._values = found, values

    def hold(self) -> None:
        """Have it computed, if it is not, and put away now."""
        _ = self._held

    @functools.cached_property
    def _held(self) -> Values:
        for at, one in enumerate(self._found()):
            self._values[at] = one
        del self._found
        return self._values

    def close(self) -> None:
        """Let go of them: nothing asks for them any more."""
        self._found = tuple
        self._values.data.clear()

    def __len__(self) -> int:
        return len(self._held.data)

    def __getitem__(self, at: Any) -> Any:
        return self._held[range(len(self))[at]]

    def __iter__(self) -> Iterator[Any]:
        return (self._held[at] for at in range(len(self)))

    def memory(self, at: int) -> int:
        """See `Values`."""
        return self._held.memory(at)


def give_back() -> None:
    """Give freed memory back to the system: allocators keep what lies between values that are still there."""
    with contextlib.suppress(AttributeError, OSError):  # glibc has this function
        ctypes.CDLL(None).malloc_trim(0)
