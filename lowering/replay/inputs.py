"""The inputs of a recorded graph, as `load_args` of its fx_graph_runnable.py tells them.

FakeTensors, their sizes symbolic where they were."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from inspect_compile.lowering.replay.runnable import RefusedError
from inspect_compile.lowering.shadow.names import now
from inspect_compile.torch_compat import targets as names

_BACKED: Final = re.compile(r"s(\d+)")
_is_unbacked: Final = re.compile(r"u\d+").fullmatch
FUNCTIONS: Final = {
    "Max": torch.sym_max,
    "Min": torch.sym_min,
    "Mod": lambda a, b: a % b,
    "FloorDiv": lambda a, b: a // b,
}
"""What sympy's texts of sizes may call."""


class _Shapes(ShapeEnv):
    """Symbols keep the names that they had: they stand in the generated code."""

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
    """How many inputs it holds."""
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
        torch._utils.set_tensor_metadata(tensor, self.metadata)  # type: ignore[no-untyped-call]
        return tensor


class Symbols:
    """The symbols of a graph's sizes."""

    def __init__(
        self,
        hints: dict[str, int],
        used: Iterable[str],
        unbacked: Sequence[int] = (),
        ragged: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """Those with a size, and of the names `used` those that are symbols of unknown sizes.

        `unbacked` are the numbers of such symbols, in the order in which they were made; `ragged` has the symbols of
        ragged sizes, with the number and the factor of each.
        """
        self.shapes = _Shapes()
        self.shapes.unbacked = unbacked
        self.sizes = {f"j{number}": _ragged_size(number) for number, _ in (ragged or {}).values()}
        """`j1`: ragged sizes, as texts of them name them."""
        known = hints | {name: self.sizes[f"j{number}"] * factor for name, (number, factor) in (ragged or {}).items()}
        self.values: dict[str, Any] = {name: self._symbol(name, hint) for name, hint in sorted(known.items())}
        self.values |= {name: self.shapes.create_unbacked_symint() for name in sorted(set(filter(_is_unbacked, used)))}

    def _symbol(self, name: str, hint: Any) -> Any:
        match = _BACKED.fullmatch(name)
        if match is None:
            raise RefusedError(f"the size {name} of an input can't be made again")
        self.shapes.wanted = int(match[1])
        source = ConstantSource(name)
        is_small = type(hint) is int and hint < 2
        symbol = self.shapes.create_symbol(
            hint, source, dynamic_dim=DimDynamic.DYNAMIC, do_not_specialize_zero_one=is_small
        )
        self.shapes.wanted = None
        return self.shapes.create_symintnode(symbol, hint=hint, source=source)

    def value(self, expression: str, hint: Any) -> Any:
        """What the text of a size is; a symbol that nothing has a hint for is made now."""
        if _BACKED.fullmatch(expression) and expression not in self.values and hint is not None:
            self.values[expression] = self._symbol(expression, hint)
        try:
            return eval(expression, {"__builtins__": {}, **FUNCTIONS, **self.values})
        except Exception:
            raise RefusedError(f"the size {expression} of an input can't be made again") from None


def _ragged_size(number: int) -> Any:
    return torch.SymInt(now(names.NESTED_INT)(number, 1))  # type: ignore[no-untyped-call]


class Reader:
    """What `load_args` is given. No tensor has any contents."""

    def __init__(self, symbols: Symbols, place: Callable[[Any], Any]) -> None:
        """`place` says where a tensor of the recorded device is now."""
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
            stride = torch._prims_common.make_contiguous_strides_for(shape)
        storage.tensors += 1
        self.values.append(_Tensor(storage, shape, stride, storage_offset or 0, dtype or torch.float32, metadata))

    def made(self) -> list[Any]:
        """The inputs, where a mode makes FakeTensors."""
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
        raise RefusedError("an input of the graph is a random generator, which can't be made again")

    def opaque(self, script_class_name: str) -> None:
        raise RefusedError(f"an input of the graph is an object of the program's own, a {script_class_name}")
