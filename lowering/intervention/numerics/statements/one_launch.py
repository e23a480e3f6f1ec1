"""A forced call up to one launch, which is made with the values of its kernel's statements written out."""

import contextlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from inspect_compile.facts import Checked
from inspect_compile.lowering.intervention.numerics.buffers import Launch
from inspect_compile.lowering.intervention.numerics.forced import Forced, Given


class EndedError(Exception):
    """The launch has been made: the rest of the call is not needed."""


class Memory(NamedTuple):
    """A copy of what a variable of the generated code pointed to, and where that was."""

    here: torch.UntypedStorage
    copied: torch.UntypedStorage
    offset: int
    """Of its first element, in elements."""
    dtype: torch.dtype
    address: int
    """Of its first element."""

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "Memory":
        """What a tensor of the generated code points to."""
        storage = tensor.untyped_storage()
        copied = storage.clone()  # type: ignore[no-untyped-call]
        return cls(storage, copied, int(tensor.storage_offset()), tensor.dtype, tensor.data_ptr())

    def restore(self) -> None:
        """Put back what was copied."""
        self.here.copy_(self.copied)

    def at(self, position: int) -> float | None:
        """The element at a position from the first one, as it was; None if it lies outside, or is no real number."""
        return self._in(self.copied, position)

    def now(self, position: int) -> float | None:
        """The same, as it is now."""
        return self._in(self.here, position)

    def only_at(self, value: float) -> int | None:
        """The only position from the first element on where a value was; None if there is none, or several."""
        if self.dtype.is_complex:
            return None
        size = self.copied.nbytes() // self.dtype.itemsize - self.offset
        all_ = torch.empty(0, dtype=self.dtype, device=self.copied.device).set_(self.copied, self.offset, (size,), (1,))
        found = (all_ == value).nonzero()
        return int(found) if len(found) == 1 else None

    def _in(self, storage: torch.UntypedStorage, position: int) -> float | None:
        place, size = self.offset + position, self.dtype.itemsize
        if place < 0 or (place + 1) * size > storage.nbytes() or self.dtype.is_complex:
            return None
        return float(torch.empty(0, dtype=self.dtype, device=storage.device).set_(storage, place, (), ()))


class Element(NamedTuple):
    """An element of a buffer."""

    buffer: str
    position: int
    """From the start of the buffer's memory."""


class OneLaunch:
    """Follows the call; see `codegen.runtime.checked.Watcher`."""

    def __init__(self, forced: Forced, row: Checked, code: Any, look: Callable[["OneLaunch"], None]) -> None:
        """`row` is the wrong result of the launch. `look` is called in the place of its kernel, and may run it as often
        as it likes.
        """
        self._forced = forced
        self._row = row
        self._code = code
        self._look = look
        self._arguments: tuple[Any, ...] = ()
        self._kernel_here = contextlib.ExitStack()
        self.worst: Element | None = None
        """The worst element of the result; None if it is not known where it is."""
        self.memory: dict[str, Memory] = {}
        """Buffer → what it held when the launch was made."""
        self.sizes: dict[str, int] = {}
        """Symbol → the size that it stood for in the call."""
        self.sources: frozenset[str] = frozenset()
        """The FX nodes whose values the launch got."""

    def before(self, launch: Launch, local: dict[str, Any]) -> Given | None:
        """Put a function that looks at the kernel in its place, if this is the launch."""
        state = self._forced.before(launch, local)
        if self._forced.launches - 1 != self._row.index:
            return state
        if state is None or launch.kernel != self._row.kernel:  # parts of a buffer are judged after other launches
            raise EndedError
        self.sources = frozenset(state.sources)
        self._remember(launch, local)
        self.worst = self._worst(local)

        def run(*arguments: Any) -> None:
            self._arguments = arguments
            self._look(self)

        self._kernel_here.enter_context(self._code.replaced(launch.kernel, run))
        return state

    def after(self, launch: Launch, state: Given | None, local: dict[str, Any]) -> None:
        """End the call after this launch."""
        if self._forced.launches - 1 == self._row.index:
            raise EndedError
        self._forced.after(launch, state, local)

    def run(self, kernel: Any, element: Element, turn: float = math.inf) -> Any:
        """What the kernel (`codegen.numerics.probed_kernel`) writes out of the iteration that stores the element."""
        for memory in self.memory.values():
            memory.restore()
        memory = self.memory[element.buffer]
        address = memory.address + element.position * memory.dtype.itemsize
        return kernel.run(self._arguments, self.names_of(element.buffer), address, turn)

    def names_of(self, buffer: str) -> list[str]:
        """The names by which operations store to a buffer."""
        return [buffer, *self._forced.turn.plan.changed_as.get(buffer, ())]

    def close(self) -> None:
        """Put the kernel back."""
        self._kernel_here.close()

    def _remember(self, launch: Launch, local: dict[str, Any]) -> None:
        self.sizes = {name: value for name, value in local.items() if type(value) is int}
        for name in launch.names:
            tensor = local.get(name)
            if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
                kept = Memory.of(tensor)
                for buffer in self._forced.buffers.chain(name):
                    self.memory.setdefault(buffer, kept)

    def _worst(self, local: dict[str, Any]) -> Element | None:
        row, buffers = self._row, self._forced.buffers
        memory = self.memory.get(row.buffer)
        tensors = [name for name, one in local.items() if isinstance(one, torch.Tensor)]
        name = next((name for name in tensors if row.buffer in buffers.chain(name)), None)
        if memory is None or name is None:
            return None
        seen = buffers.seen(row.buffer, local[name])
        if tuple(seen.shape) != row.size or len(row.worst) != seen.dim():
            return None
        address: int = seen[row.worst].data_ptr()
        return Element(row.buffer, (address - memory.address) // memory.dtype.itemsize)
