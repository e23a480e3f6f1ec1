"""Stands in for operators that only the program of a graph defines, while the graph is compiled again.

Each is opaque: a call whose content is unknown, which returns what the recording says of its FX nodes. None is run.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.replay.inputs import Symbols
from inspect_compile.lowering.intervention.replay.known import Known, OwnValues, TensorText
from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError
from inspect_compile.lowering.intervention.replay.schemas import OwnCall, Returned, own_calls, schema
from inspect_compile.lowering.intervention.replay.user_kernels import SPACE
from inspect_compile.torch_compat.compilers import OPERATOR, OPERATORS_OF_SPACE

_LIBRARIES: Final = frozenset({"torchao", "torchvision", "torch_attn", "quantized_decomposed"})
"""Namespaces of libraries whose operators a stranger's graph may call where they are."""
_LIBRARY: Final[Any] = torch.library.Library
_SINGLE: Final = ""
"""The output of a node that returns one tensor, among those that are known by their index."""


class StandIns:
    """The stand-ins for one graph's operators."""

    def __init__(
        self, body: Body, known: Known, remark: Callable[[str, str], None], *, is_of_strangers: bool = False
    ) -> None:
        """Define what this process does not have. Raises RefusedError for what cannot be stood in for, and, of a
        stranger's graph, for an operator that is here and that no graph is known to call.
        """
        self._libraries: list[Any] = []  # an operator is there as long as its library
        self._calls: dict[str, _Outputs] = {}
        self._of_shapes: dict[Any, _Outputs] = {}
        self._current: _Outputs | None = None
        self._symbols: Symbols | None = None
        self._place: Callable[[Any], Any] = lambda place: place
        calls: dict[str, list[OwnCall]] = {}
        for call in own_calls(body):
            if not _is_there(call.operator):
                calls.setdefault(call.operator, []).append(call)
            elif is_of_strangers and call.operator.partition(".")[0] not in _LIBRARIES:
                raise RefusedError(f"the graph calls {call.operator}, which is here, and is not an operator of a graph")
        for operator, own in calls.items():
            self._define(operator, own, known.own)
            remark("replay-stand-in", f"{operator} is the program's own: it is a call whose content is not known here")

    def use(self, symbols: Symbols, place: Callable[[Any], Any]) -> None:
        """Take the sizes in what is returned from `symbols`; `place` maps a recorded device to that of now."""
        self._symbols, self._place = symbols, place

    def node(self, path: str) -> None:
        """Say that the value of the node at `path` is computed next."""
        self._current = self._calls.get(path)

    def _define(self, operator: str, calls: Sequence[OwnCall], own: Mapping[str, OwnValues]) -> None:
        space, name, overload = operator.split(".")
        outputs = [_Outputs(operator, call, own.get(call.node)) for call in calls]
        count = max(one.count for one in outputs)
        is_several = any(one.is_several for one in outputs)
        tensors = {path: values["tensors"] for path, values in own.items()}
        text = schema(calls, tensors, Returned(count, is_several))
        try:
            library: Any = _LIBRARY(space, "FRAGMENT")
            library.define(text)
            title = f"{space}::{name}" if overload == "default" else f"{space}::{name}.{overload}"
            fake = functools.partial(self._fake, operator, count, is_several)
            torch.library.register_fake(title, fake, lib=library)
        except (RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise RefusedError(f"the graph calls {operator}, which only its program defines: {reason}") from None
        self._libraries.append(library)
        self._calls.update((call.node, one) for call, one in zip(calls, outputs, strict=True))

    def _fake(self, operator: str, count: int, is_several: bool, *values: Any, **named: Any) -> Any:
        key = operator, *_shapes((values, named))
        found, self._current = self._current, None
        if found is None or found.operator != operator:  # Inductor asks again, of the same shapes
            found = self._of_shapes.get(key)
        if found is None:
            raise RefusedError(f"what {operator} returns of {key[1:]} is not known")
        self._of_shapes[key] = found
        made = [self._tensor(found, str(index) if is_several else _SINGLE) for index in range(count)]
        return None if not count else tuple(made) if is_several else made[0]

    def _tensor(self, outputs: "_Outputs", index: str) -> Any:
        known = outputs.tensors.get(index)
        if known is None:  # nobody reads it
            return torch.empty(0, device=self._place(torch.device(outputs.device)))
        dtype, size, stride, device = known
        sizes, strides = ([self._length(item) for item in lengths] for lengths in (size, stride))
        place = self._place(torch.device(device or outputs.device))
        if len(strides) != len(sizes):
            return torch.empty(sizes, dtype=getattr(torch, dtype), device=place)
        return torch.empty_strided(sizes, strides, dtype=getattr(torch, dtype), device=place)

    def _length(self, item: Any) -> Any:
        assert self._symbols is not None
        return item if isinstance(item, int) else self._symbols.value(item, None)


class _Outputs:
    """What one call returns."""

    def __init__(self, operator: str, call: OwnCall, known: OwnValues | None) -> None:
        self.operator = operator
        self.tensors: Mapping[str, TensorText] = {}
        self.device, self.is_several, self.count = "cpu", True, 0
        if operator.startswith(f"{SPACE}."):
            return  # a kernel returns nothing
        if known is None or not (known["outputs"] or known["is_read"] is False):
            raise RefusedError(
                f"the graph calls {operator}, which only its program defines, and what it returns was not recorded"
            )
        self.tensors = known["outputs"]
        self.device = next((device for *_, device in self.tensors.values() if device), "cpu")
        self.is_several = _SINGLE not in self.tensors
        self.count = 1 if not self.is_several else 1 + max(map(int, self.tensors), default=-1)
        if call.is_functional:
            bases = call.named.get("_all_bases")
            self.count -= len(getattr(bases, "elts", ()))
            if self.count == 1 and "0" not in self.tensors:
                self.count = 0
            elif self.count == 1:
                self.is_several = False
                self.tensors = {**self.tensors, _SINGLE: self.tensors["0"]}
            self.count = max(self.count, 0)


def _is_there(operator: str) -> bool:
    """Whether this process has the operator. Raises RefusedError if its name is none that an operator can have."""
    space, name, overload = operator.split(".")
    operators = getattr(torch.ops, space, None)
    if not isinstance(operators, OPERATORS_OF_SPACE.load()):
        raise RefusedError(f"the graph calls {operator}, which is not the name of an operator")
    packet = getattr(operators, name, None)
    return isinstance(getattr(packet, overload, None), OPERATOR.load())


def _shapes(value: Any) -> Iterator[str]:
    """What tells the arguments of two calls apart, as texts: shapes and constants."""
    match value:
        case torch.Tensor():
            yield f"{value.dtype}{list(value.shape)}"
        case tuple() | list():
            yield "["
            for item in value:
                yield from _shapes(item)
            yield "]"
        case dict():
            for name, item in sorted(value.items()):
                yield f"{name}="
                yield from _shapes(item)
        case _:
            yield str(value)
