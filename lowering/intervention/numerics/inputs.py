"""What a second run of a call must not touch: the program's tensors, and the state of its random number generators."""

import contextlib
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Self

import torch
from torch.fx import GraphModule

from inspect_compile.lowering.intervention.numerics.graphs.shared import changed_inputs
from inspect_compile.torch_compat.dynamo import NO_TORCH_FUNCTION
from inspect_compile.torch_compat.runtime import NEGATED, NO_DISPATCH_MODES

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def not_checked(args: Sequence[Any]) -> str:
    """Why a call with these arguments is not checked; empty if it can be."""
    tensors = [one for one in args if isinstance(one, torch.Tensor)]
    strange = next((one for one in tensors if type(one) not in _PLAIN), None)
    if strange is not None:
        return f"an input is a {type(strange).__name__}"
    if any(one.is_cuda for one in tensors) and torch.cuda.is_current_stream_capturing():
        return "it is recorded as a CUDA graph"
    return ""


def copies(args: Sequence[Any], only: Collection[int] | None = None) -> list[Any]:
    """The arguments with new memory: tensors that share some still do, and strides are kept. `only`: positions of those
    that may be changed; others that share no memory with them are other tensors in the memory that they have.
    """
    storages: dict[int, torch.UntypedStorage] = {}
    changed = {_storage_key(one) for at, one in enumerate(args) if only is None or at in only}

    def copied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        key = _storage_key(value)
        if value.layout is not torch.strided:
            return value.detach().clone() if key in changed else value
        storage = value.untyped_storage()
        if key not in changed:
            return _seen_as(value, storage)
        if key not in storages:
            storages[key] = storage.clone()  # type: ignore[no-untyped-call]
        return _seen_as(value, storages[key])

    with torch.no_grad():
        return [copied(value) for value in args]


def given(module: GraphModule, args: Sequence[Any]) -> list[Any]:
    """The arguments for a graph that is run node by node: copies of those that it may change."""
    return copies(args, changed_inputs(module))


def same_memory(args: Sequence[Any]) -> list[Any]:
    """The arguments as other tensors with the same memory, which no graph of autograd's knows."""
    return copies(args, ())


def _storage_key(value: Any) -> int:
    """What arguments in one memory have in common."""
    is_plain = isinstance(value, torch.Tensor) and value.layout is torch.strided
    return (value.untyped_storage().data_ptr() if is_plain else 0) or id(value)


def _seen_as(value: torch.Tensor, storage: torch.UntypedStorage) -> torch.Tensor:
    made = torch.empty(0, dtype=value.dtype, device=value.device)
    made = made.set_(storage, value.storage_offset(), value.size(), value.stride())
    if value.is_conj():  # a complex product saves such a view for its backward: the memory alone is another value
        made = made.conj()
    return NEGATED.load()(made) if value.is_neg() else made


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """What is computed in this block is not seen by modes of the program, which may count or change operators."""
    with NO_DISPATCH_MODES.load()(), NO_TORCH_FUNCTION.load()():
        yield


class OwnRandomNumbers:
    """Blocks between which the generators go on, as if nothing drew from them meanwhile."""

    def __init__(self, args: Sequence[Any], state: "RandomState") -> None:
        """`state` is that at the beginning of the first block; `args` are the inputs of the call."""
        self._args = [one for one in args if isinstance(one, torch.Tensor)]
        self._own = self._other = state

    def __enter__(self) -> None:
        self._other = RandomState(self._args)
        self._own.restore()

    def __exit__(self, *_: object) -> None:
        self._own = RandomState(self._args)
        self._other.restore()


class RandomState:
    """The generators of the CPU and of the devices of a call's inputs: as they were when this was made."""

    def __init__(self, args: Sequence[Any]) -> None:
        self._devices = {one.device for one in args if isinstance(one, torch.Tensor) and one.is_cuda}

        self._plain = torch.get_rng_state()
        self._states = {device: torch.cuda.get_rng_state(device) for device in self._devices}

    @property
    def plain(self) -> dict[str, torch.Tensor]:
        """Device → state of its generator."""
        return {"cpu": self._plain} | {str(device): state for device, state in self._states.items()}

    def __enter__(self) -> Self:
        return self

    def restore(self) -> None:
        """Put the generators back."""
        torch.set_rng_state(self._plain)
        for device, state in self._states.items():
            torch.cuda.set_rng_state(state, device)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        self.restore()
