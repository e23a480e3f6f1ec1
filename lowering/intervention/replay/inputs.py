"""The inputs of a recorded graph, from `load_args` of its fx_graph_runnable.py.

FakeTensors, with symbolic sizes where they were symbolic.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from inspect_compile.lowering.intervention.replay.runnable import RefusedError
from inspect_compile.torch_compat.compilers import CONSTANT_SOURCE, CONTIGUOUS_STRIDES, SET_TENSOR_METADATA
from inspect_compile.torch_compat.targets import NESTED_INT

_BACKED: Final = re.compile(r"s(\d+)")
_is_unbacked: Final = re.compile(r"u\d+").fullmatch
FUNCTIONS: Final = {
    "Max": torch.sym_max,
    "Min": torch.sym_min,
    "Mod": lambda a, b: a % b,
    "FloorDiv": lambda a, b: a // b,
}
"""Functions that sympy's texts of sizes may call."""


class _Shapes(ShapeEnv):
    """Symbols keep their names, which are in the generated code."""

    wanted: int | None = None
    unbacked: Sequence[int] = ()

    def create_unbacked_symint(self, *arguments: Any, **named: Any) -> Any:
        if self.unbacked:
            self.unbacked_symint_counter, *self.unbacked = self.unbacked
        return super().create_unbacked_symint(*arguments, **named)

    def _generate_unique_id(self, source_name: str) -> int:
        number: int = super()._generate_unique_id(source_name) if self.wanted is None else self.wanted
        self.unique_ids.add(number)
        return number


@dataclass
class _Storage:
    device: Any
    nbytes: Any
    tensors: int = 0
    """Number of tensor inputs."""
    contents: Any = None


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    shape: Any
    stride: Any
    offset: Any
    dtype: torch.dtype
    metadata: dict[str, Any]

    def made(self) -> Any:
        where = self.storage
        if where.tensors == 1 and isinstance(self.offset, int) and not self.offset:
            tensor = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device=where.device)
        else:
            if where.contents is None:
                where.contents = torch.empty(where.nbytes, dtype=torch.uint8, device=where.device).untyped_storage()
            tensor = torch.empty(0, dtype=self.dtype, device=where.device)
            tensor.set_(where.contents, self.offset, self.shape, self.stride)
        SET_TENSOR_METADATA.load()(tensor, self.metadata)
        return tensor


class Symbols:
    """The symbols in a graph's sizes."""

    def __init__(
        self,
        hints: dict[str, int],
        used: Iterable[str],
        unbacked: Sequence[int] = (),
        ragged: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """Symbols with a hint, and of the names `used` those of unknown size.

        `unbacked` are the numbers of such symbols, in the order in which they were made; `ragged` has the symbols of
        ragged sizes, with the number and the factor of each.
        """
        self.shapes = _Shapes()
        self.shapes.unbacked = unbacked
        numbers = [number for number, _ in (ragged or {}).values()]
        make: Any = torch.SymInt
        self.sizes = {f"j{number}": make(NESTED_INT.load()(number, 1)) for number in numbers}
        """`j1`: ragged sizes, as texts of them name them."""
        known = hints | {name: self.sizes[f"j{number}"] * factor for name, (number, factor) in (ragged or {}).items()}
        self.values: dict[str, Any] = {name: self._symbol(name, hint) for name, hint in sorted(known.items())}
        self.values |= {name: self.shapes.create_unbacked_symint() for name in sorted(set(filter(_is_unbacked, used)))}

    def _symbol(self, name: str, hint: Any) -> Any:
        match = _BACKED.fullmatch(name)
        if match is None:
            raise RefusedError(f"the size {name} of an input can't be recreated")
        self.shapes.wanted = int(match[1])
        source = CONSTANT_SOURCE.load()(name)
        is_small = type(hint) is int and hint < 2
        symbol = self.shapes.create_symbol(
            hint, source, dynamic_dim=DimDynamic.DYNAMIC, do_not_specialize_zero_one=is_small
        )
        self.shapes.wanted = None
        return self.shapes.create_symintnode(symbol, hint=hint, source=source)

    def value(self, expression: str, hint: Any) -> Any:
        """The size that a text stands for; a symbol without a hint is created now."""
        if _BACKED.fullmatch(expression) and expression not in self.values and hint is not None:
            self.values[expression] = self._symbol(expression, hint)
        try:
            return eval(expression, {"__builtins__": {}, **FUNCTIONS, **self.values})
        except Exception:
            raise RefusedError(f"the size {expression} of an input can't be recreated") from None


class Reader:
    """The object that `load_args` is called with. Tensors have no contents."""

    def __init__(self, symbols: Symbols, place: Callable[[Any], Any]) -> None:
        """`place` maps a tensor's recorded device to its device now."""
        self.values: list[Any] = []
        self._symbols = symbols
        self._place = place

    def storage(self, storage_hash: Any, nbytes: Any, *, device: Any = None, dtype_hint: Any = None) -> _Storage:
        return _Storage(self._place(torch.device("cpu") if device is None else torch.device(device)), nbytes)

    def tensor(
        self,
        storage: _Storage,
        shape: Any,
        stride: Any = None,
        *,
        storage_offset: Any = None,
        dtype: Any = None,
        requires_grad: Any = None,
        is_leaf: Any = None,
        **metadata: Any,
    ) -> None:
        if stride is None:
            stride = CONTIGUOUS_STRIDES.load()(shape)
        storage.tensors += 1
        self.values.append(_Tensor(storage, shape, stride, storage_offset or 0, dtype or torch.float32, metadata))

    def made(self) -> list[Any]:
        """The inputs, as FakeTensors of the current mode."""
        return [value.made() if isinstance(value, _Tensor) else value for value in self.values]

    def symint(self, value: Any, *, expr: str | None = None) -> Any:
        found = value if expr is None else self._symbols.value(expr, value)
        self.values.append(found)
        return found

    def const(self, name: str) -> None:
        self.values.append(None)

    def unsupported(self, name: str) -> None:
        raise RefusedError(f"torch could not write the input {name} of the graph")

    def generator(self, device_type: str, device_index: int) -> None:
        raise RefusedError("an input of the graph is a random generator, which can't be recreated")

    def opaque(self, script_class_name: str) -> None:
        raise RefusedError(f"an input of the graph is an object of the program's own, a {script_class_name}")
