"""Kept tensors as the source of a function that draws others like them from a seed."""

from collections.abc import Mapping
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.numerics.kept.room import tensors_of

_FLOATING: Final = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_INTEGERS: Final = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class NotDrawnError(Exception):
    """Why the tensors cannot be drawn from a seed."""


def drawn(content: Mapping[str, Any]) -> str:
    """The function `recorded` in Python, which returns `content` with other values: with a normal distribution where
    there are negative ones, else a uniform one; integers in the same range; what is the same everywhere stays.

    Sizes, strides, offsets and shared memory are kept. Raises NotDrawnError.
    """
    if "eager" in content:
        raise NotDrawnError("there is no reference that can be computed from them")
    memories = _Memories()
    for one in tensors_of([content["variables"], content["arguments"]]):
        memories.name(one)
    given = {memories.name(one) for one in tensors_of(content["variables"])}
    if not given.issuperset(memories.name(one) for one in tensors_of(content["arguments"])):
        raise NotDrawnError("the reference is computed from values that the launch does not read")
    named = [f"{name!r}: {_written(one, memories)}," for name, one in content["variables"].items()]
    lines = [
        "def recorded():",
        '    """What the launch was given, drawn from a seed; sizes, strides, dtypes and ranges are as recorded."""',
        "    torch.manual_seed(0)",
        *(f"    {line}" for line in memories.lines),
        "    variables = {",
        *(f"        {line}" for line in named),
        "    }",
        f"    empty = {_written(content['empty'], memories)}",
        f"    arguments = {_written(content['arguments'], memories)}",
        '    return {"variables": variables, "empty": empty, "arguments": arguments}',
    ]
    return "\n".join(lines) + "\n"


class _Memories:
    """The memory of the tensors, each as a line that makes it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[tuple[int, torch.dtype], str] = {}

    def name(self, tensor: torch.Tensor) -> str:
        """The variable that has the tensor's memory, flat."""
        storage = tensor.untyped_storage()
        key = storage.data_ptr() or id(tensor), tensor.dtype
        if key not in self._known:
            if any(place == key[0] for place, _ in self._known):
                raise NotDrawnError("memory is viewed in two dtypes")
            self._known[key] = f"memory{len(self._known)}"
            flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            flat = flat.set_(storage, 0, (storage.nbytes() // tensor.dtype.itemsize,), (1,))
            self.lines.append(f"{self._known[key]} = {_made(flat)}")
        return self._known[key]


def _made(flat: torch.Tensor) -> str:
    """An expression that makes memory like this."""
    count, dtype = flat.numel(), flat.dtype
    place = "" if flat.device.type == "cpu" else f'.to("{flat.device}")'
    if count and bool((flat == flat[0]).all()):
        return f"torch.full([{count}], {flat[0].item()!r}, dtype={dtype}){place}"
    if dtype is torch.bool:
        return f"torch.rand([{count}]).lt({flat.double().mean().item():.3g}){place}"
    empty = f"torch.empty([{count}], dtype={dtype})"
    if dtype in _INTEGERS:
        return f"{empty}.random_({int(flat.min())}, {int(flat.max()) + 1}){place}" if count else f"{empty}{place}"
    if dtype not in _FLOATING:
        raise NotDrawnError(f"{dtype} is not drawn")
    wide = flat[~flat.isnan()].double()  # what the launch has to write is NaN
    if not bool(wide.isfinite().all()):
        raise NotDrawnError("Inf is among them")
    if not wide.numel():
        return f"{empty}{place}"
    if float(wide.min()) < 0:
        return f"{empty}.normal_({wide.mean().item():.3g}, {wide.std().item():.3g}){place}"
    return f"{empty}.uniform_({wide.min().item():.3g}, {wide.max().item():.3g}){place}"


def _written(value: Any, memories: _Memories) -> str:
    if isinstance(value, torch.Tensor):
        name = memories.name(value)
        return f"torch.as_strided({name}, {tuple(value.shape)}, {value.stride()}, {value.storage_offset()})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_written(one, memories)}" for name, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        parts = ", ".join(_written(one, memories) for one in value)
        comma = "," if len(value) == 1 else ""
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{comma})"
    return f'torch.device("{value}")' if isinstance(value, torch.device) else repr(value)
