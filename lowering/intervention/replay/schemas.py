"""The schema of an operator that only its program defines, made of the calls of it in a graph. Imports no torch.

What the calls do not show is missing in it: names of positional arguments, defaults, arguments that no call gives.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError

SPACES: Final = frozenset(
    {"aten", "prims", "inductor", "higher_order", "_c10d_functional", "_c10d_functional_autograd", "c10d_functional",
     "_inductor_test", "bucketing", "mkldnn", "mkldnn_prims", "onednn", "quantized", "rngprims", "symm_mem",
     "_quantized", "fsdp", "nvprims"}
)  # fmt: skip
"""Namespaces of operators that torch itself defines."""
FUNCTIONAL: Final = "auto_functionalized_v2"
"""The higher-order operator that stands for a call that writes to its arguments; torch before 2.6 had another."""
_LONGEST: Final = 200
_OF_TORCH: Final = {"device": "Device", "Size": "SymInt[]", "strided": "Layout", "jagged": "Layout"}
_NUMBERS: Final = frozenset({"inf", "nan"})


class OwnCall(NamedTuple):
    """A call of an operator that torch does not define."""

    node: str
    """The FX node; of a nested graph's `true_graph_0/baz`."""
    operator: str
    """`test.baz.default`."""
    values: list[ast.expr]
    named: dict[str, ast.expr]
    is_functional: bool
    """It writes to some of its arguments, and the node returns what it makes of them."""


def own_calls(body: Body, prefix: str = "") -> Iterator[OwnCall]:
    """The calls in a graph and those nested in it."""
    for statement in body.function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=ast.Call() as call):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call):
                pass
            case _:
                continue
        path, values = operator_path(call.func), call.args
        is_functional = path[1:] == ("higher_order", FUNCTIONAL) and bool(values)
        if is_functional:
            path, values = operator_path(values[0]), values[1:]
        if is_own(path):
            named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
            yield OwnCall(prefix + name, ".".join(path[1:]), values, named, is_functional)
    for name, child in body.children.items():
        yield from own_calls(child, f"{prefix}{name}/")


def operator_path(called: ast.expr) -> tuple[str, ...]:
    """`("ops", "test", "baz", "default")` of `torch.ops.test.baz.default`; empty for what is no operator."""
    names: list[str] = []
    while isinstance(called, ast.Attribute):
        names.append(called.attr)
        called = called.value
    is_operator = isinstance(called, ast.Name) and called.id == "torch" and names[-1:] == ["ops"]
    return (*reversed(names),) if is_operator else ()


def is_own(path: Sequence[str]) -> bool:
    """Whether it names one overload of an operator in a namespace that is not torch's."""
    return (
        len(path) == 4
        and path[1] not in SPACES
        and all(name.isidentifier() and not name.startswith("__") and len(name) < _LONGEST for name in path)
    )


class Returned(NamedTuple):
    """What the calls of an operator return."""

    tensors: int
    is_several: bool
    """A tuple, whatever its length."""


def schema(calls: Sequence[OwnCall], tensors: Mapping[str, Iterable[str]], returned: Returned) -> str:
    """`baz(Tensor a0, SymInt[] a1, *, float? scale=None) -> Tensor`, of one operator's calls.

    `tensors`: node of a call → those of its arguments that are tensors; other nodes are numbers. Raises RefusedError
    for an argument that no schema can have.
    """
    types = [_Types(call, frozenset(tensors.get(call.node, ()))) for call in calls]
    least = min(len(one.positional) for one in types)
    parts = []
    for index in range(max(len(one.positional) for one in types)):
        kind = _joined([one.positional[index] for one in types if index < len(one.positional)], calls[0])
        parts.append(f"{kind} a{index}" if index < least else f"{_optional(kind)} a{index}=None")
    names = list(dict.fromkeys(name for one in types for name in one.named))
    if names:
        parts.append("*")
    for name in names:
        there = [one.named[name] for one in types if name in one.named]
        kind = _joined(there, calls[0])
        parts.append(f"{kind} {name}" if len(there) == len(types) else f"{_optional(kind)} {name}=None")
    what = ", ".join(["Tensor"] * returned.tensors)
    name, overload = calls[0].operator.split(".")[1:]
    title = name if overload == "default" else f"{name}.{overload}"
    return f"{title}({', '.join(parts)}) -> {f'({what})' if returned.is_several else what}"


class _Types:
    """The types of one call's arguments; an empty text for a None."""

    def __init__(self, call: OwnCall, tensors: frozenset[str]) -> None:
        self._call = call
        self._tensors = tensors
        self.positional = [self._type(value) for value in call.values]
        self.named = dict(self._functional()) if call.is_functional else {
            name: self._type(value) for name, value in call.named.items()
        }  # fmt: skip

    def _functional(self) -> Iterator[tuple[str, str]]:
        """What is written to is given by its position among `_all_bases`."""
        ends = ("_base_index", "_length")
        written = [
            name[1:].removesuffix(end)
            for name in self._call.named
            for end in ends
            if name.startswith("_") and name.endswith(end)
        ]
        for name in dict.fromkeys(written):
            base = self._call.named.get(f"_{name}_base_index")
            is_none = isinstance(base, ast.Constant) and base.value is None
            yield name, "Tensor(a!)[]" if base is None else "Tensor(a!)?" if is_none else "Tensor(a!)"
        for name, value in self._call.named.items():
            if not any(name == "_all_bases" or name.startswith(f"_{own}_") for own in written):
                yield name, self._type(value)

    def _type(self, value: ast.expr) -> str:
        match value:
            case ast.Constant(value=None):
                return ""
            case ast.Constant(value=constant) if type(constant) in (bool, int, float, str):
                return {bool: "bool", int: "SymInt", float: "float", str: "str"}[type(constant)]
            case ast.UnaryOp(operand=operand):
                return self._type(operand)
            case ast.Name(id=name):
                return "float" if name in _NUMBERS else "Tensor" if name in self._tensors else "SymInt"
            case ast.Attribute(value=ast.Name(id="torch"), attr=name):
                is_format = name.endswith("_format") or name.startswith("channels_last")
                return _OF_TORCH.get(name, "MemoryFormat" if is_format else "ScalarType")
            case ast.Call(func=ast.Name(id="device")):
                return "Device"
            case ast.List(elts=items) | ast.Tuple(elts=items):
                inner = [self._type(item) for item in items]
                if not any(kind.endswith("]") for kind in inner):
                    return f"{_joined(inner, self._call) if inner else 'SymInt'}[]"
        text = ast.unparse(value)[:80]
        raise RefusedError(
            f"the graph calls {self._call.operator}, which only its program defines, with {text}, "
            "which no stand-in for it can take"
        )


def _joined(types: Sequence[str], call: OwnCall) -> str:
    """The type of an argument that several calls give."""
    kinds = dict.fromkeys(kind.removesuffix("?") for kind in types if kind)
    if len(kinds) == 2 and "SymInt[]" in kinds:  # an empty list
        kinds.pop("SymInt[]")
    if kinds.keys() == {"SymInt", "float"}:
        kinds = {"float": None}
    if len(kinds) > 1:
        both = " and with ".join(kinds)
        raise RefusedError(
            f"the graph calls {call.operator}, which only its program defines, with {both} at one place, "
            "which no stand-in for it can take"
        )
    kind = next(iter(kinds), "Tensor")
    return _optional(kind) if any(not one or one.endswith("?") for one in types) else kind


def _optional(kind: str) -> str:
    return kind if kind.endswith("?") else f"{kind}?"
