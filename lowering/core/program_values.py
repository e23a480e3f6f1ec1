"""Describes values of the program in a few words, and looks them up by an expression, without running the program's
code.

No `__repr__`, property or `__getattr__` is called, and no tensor's contents are read.
"""

import ast
import enum
import inspect
import sys
import types
from collections.abc import Mapping
from typing import Any, Final

from inspect_compile.lowering.core.callables import plain
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import dynamo as names

UNKNOWN: Final = object()
_OF_FUNCTIONS: Final = ("__closure__", "__code__", "__defaults__", "__kwdefaults__")
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))


def is_tensor(value: Any) -> bool:
    """True for a tensor that is not of a subclass with code of its own."""
    torch: Any = sys.modules["torch"]
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def described(value: Any) -> str:
    """`float32[9, 4]`, `3`, `list of 2`; the class of any other object."""
    torch: Any = sys.modules["torch"]
    kind = type(value)
    if kind in _PLAIN:
        return plain(value)
    if is_tensor(value) and (quietly := torch_object(names.NO_TORCH_FUNCTION)) is not None:
        with quietly():
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if kind in (torch.dtype, torch.device, torch.layout):
        return str(value)
    if kind in (list, tuple, dict, set, frozenset):
        return f"{kind.__name__} of {len(value)}"
    if kind is types.FunctionType or issubclass(kind, type):
        return f"{type.__getattribute__(value, '__qualname__') if issubclass(kind, type) else value.__qualname__}"
    if issubclass(kind, enum.Enum):
        return f"{kind.__qualname__}.{object.__getattribute__(value, '_name_')}"
    return f"<{kind.__qualname__}>"


def found(expression: str, local: Mapping[str, Any], everywhere: Mapping[str, Any]) -> Any:
    """The value of a guard's `expression` in a frame, `x`, `self.k`, `d['a']`, `G['n']`; UNKNOWN if it cannot be found.

    The caller must not keep a reference to it.
    """
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, local, everywhere)
    except (SyntaxError, ValueError, RecursionError, LookupError, TypeError) as error:
        let_pass(error)
        return UNKNOWN


def _value(node: ast.expr, local: Mapping[str, Any], everywhere: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name(id="G"):
            return everywhere
        case ast.Name(id="L"):
            return local
        case ast.Name():
            return local[node.id] if node.id in local else everywhere[node.id]
        case ast.Attribute():
            return _attribute(_value(node.value, local, everywhere), node.attr)
        case ast.Subscript():
            return _item(_value(node.value, local, everywhere), _value(node.slice, local, everywhere))
        case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
            value = _value(inner, local, everywhere)
            return len(value) if type(value) in (list, tuple, dict, str) else UNKNOWN
        case ast.Call(func=ast.Attribute(attr="size" | "stride" as name), args=[], keywords=[]):
            return _extent(_value(node.func.value, local, everywhere), name)  # type: ignore[attr-defined]
    return UNKNOWN


def _attribute(value: Any, name: str) -> Any:
    if type(value) is types.CellType and name == "cell_contents":
        return value.cell_contents
    if type(value) is types.FunctionType and name in _OF_FUNCTIONS:
        return getattr(value, name)
    if value is UNKNOWN or is_tensor(value):
        return UNKNOWN
    try:
        held = inspect.getattr_static(value, name)
    except AttributeError as error:
        let_pass(error)
        return UNKNOWN
    has_code = type(held) is not types.FunctionType and "__get__" in {
        key for kind in type(held).__mro__ for key in vars(kind)
    }
    return UNKNOWN if has_code else held


def _item(value: Any, key: Any) -> Any:
    if type(key) not in (int, str):
        return UNKNOWN
    if type(value) in (list, tuple) or issubclass(type(value), dict):
        kind = next(kind for kind in (dict, list, tuple) if issubclass(type(value), kind))
        return kind.__getitem__(value, key)
    return value[key] if type(value) is types.MappingProxyType else UNKNOWN


def _extent(value: Any, name: str) -> Any:
    quietly = torch_object(names.NO_TORCH_FUNCTION)
    if not is_tensor(value) or quietly is None:
        return UNKNOWN
    with quietly():
        return tuple([int(length) for length in (value.shape if name == "size" else value.stride())])


def shown(value: Any) -> str:
    """`described`; empty for an unknown value."""
    return "" if value is UNKNOWN else described(value)


def sizes_in(condition: str, local: Mapping[str, Any], everywhere: Mapping[str, Any]) -> str:
    """The sizes in a condition, with their values: `x.size()[0] = 3`."""
    sizes = []
    for node in ast.walk(ast.parse(condition, mode="eval")):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            text = ast.unparse(node)
            value = found(text, local, everywhere)
            if value is not UNKNOWN:
                sizes.append(f"{text} = {described(value)}")
    return ", ".join(dict.fromkeys(sizes))
