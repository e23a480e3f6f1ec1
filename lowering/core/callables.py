"""Describes callables, graphs and options as text without running any of their code: a backend may be any object."""

import functools
import sys
import types
from collections.abc import Mapping
from typing import Any, Final

from inspect_compile.lowering.core.values import below_torch
from inspect_compile.probe import is_replaced

_UNWRAPPED: Final = ("torch/_dynamo/eval_frame.py", "torch/_dynamo/external_utils.py", "torch/_compile.py")
"""Functions of these files only tell Dynamo not to trace what they wrap."""
_LAZY: Final = "torch/fx/_lazy_graph_module.py"
_DEEPEST: Final = 32
_LONGEST: Final = 200


def named(value: Any) -> tuple[str, str]:
    """Name and place of definition of a callable: `call`, `/tmp/…/cab.py:90`; for an object, those of its class."""
    value = _inside(value)
    code = getattr(value, "__code__", None) if type(value) is types.FunctionType else None
    if code is not None:
        file = code.co_filename.replace("\\", "/")
        file = below_torch(file) or file
        if file.startswith("<eval_with_key>") or file == _LAZY:
            return "GraphModule.forward", ""  # generated from the graph: there is no file
        return code.co_qualname, f"{file}:{code.co_firstlineno}"
    if issubclass(type(value), type) or type(value) is types.BuiltinFunctionType:
        return value.__qualname__, ""
    called = next((found for kind in type(value).__mro__ if (found := vars(kind).get("__call__"))), None)
    _, place = named(called) if type(called) is types.FunctionType else ("", "")
    return type(value).__qualname__, place


def callable_text(value: Any) -> str:
    """Both in one text: `call /tmp/…/cab.py:90`."""
    return "" if value is None else " ".join(filter(None, named(value)))


def _inside(value: Any) -> Any:
    """The function inside partials, bound methods, our own wrappers, and wrappers that only keep Dynamo out."""
    proxy = getattr(sys.modules.get("wrapt"), "ObjectProxy", ())  # the program may use the package
    for _ in range(_DEEPEST):
        kind = type(value)
        if issubclass(kind, functools.partial):
            value = value.func
        elif kind is types.MethodType:
            value = value.__func__
        elif (
            is_replaced(value)
            or issubclass(kind, proxy)
            or (
                kind is types.FunctionType
                and "__wrapped__" in value.__dict__
                and below_torch(value.__code__.co_filename) in _UNWRAPPED
            )
        ):
            value = value.__wrapped__
        else:
            break
    return value


def graph_text(module: Any, inputs: Any = None) -> str:
    """`GraphModule, 5 nodes, 3 inputs` for a GraphModule; the class of anything else."""
    words = [type(module).__name__]
    nodes = getattr(getattr(module, "graph", None), "nodes", None) if hasattr(type(module), "graph") else None
    if nodes is not None:
        words.append(number_of(len(nodes), "node"))
    if type(inputs) in (list, tuple):
        words.append(number_of(len(inputs), "input"))
    return ", ".join(words)


def options_text(options: Any) -> str:
    """`triton.cudagraphs=True, max_autotune=True`: plain values as Python literals, others by their class."""
    if not issubclass(type(options), Mapping):
        return ""
    return ", ".join(f"{name}={plain(value)}" for name, value in dict.items(options) if type(name) is str)


def plain(value: Any) -> str:
    """A number, text or None as a Python literal; the class of anything else."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        text = repr(value if type(value) not in (str, bytes) else value[:_LONGEST])
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"<{type(value).__qualname__}>"


def number_of(count: int, what: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {what}{'s' * (count != 1)}"
