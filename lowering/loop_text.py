"""What a loop of the IR computes, as the function that torch prints it as.

torch's own handler is used, with a quicker hand where thousands of operations pass.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import sympy

from inspect_compile.lowering.expressions import index_text, text
from inspect_compile.lowering.scopes import torch_object
from inspect_compile.torch_compat import inductor as names


def loop_text(loops: Any) -> str:
    """As `loops.inner_fn_str()`, which patches a class and maps trees."""
    formatter = _formatter()
    flexible = torch_object(names.FLEXIBLE_LAYOUT)
    if formatter is None or flexible is None:
        return str(loops.inner_fn_str())
    arguments = loops.inner_fn_args()
    called = ("index", "rindex")[: len(arguments)]
    handler = formatter()
    handler.lines.append(f"def inner_fn({', '.join(called)}):")
    for name, variables in zip(called, arguments, strict=False):
        if variables:
            left = ", ".join("_" if isinstance(value, (int, sympy.Integer)) else text(value) for value in variables)
            handler.writeline(f"{left} = {name}")
    allowed = flexible.allow_indexing
    with torch_object(names.VIRTUALIZED).set_ops_handler(handler):
        flexible.allow_indexing = True
        try:
            result = loops.inner_fn(*arguments)
        finally:
            flexible.allow_indexing = allowed
    handler.writeline(f"return {result}")
    return "\n".join(handler.lines) + "\n"


def _begin(self: Any) -> None:
    self.parent_handler = _operations()()
    self.lines = []
    self.var_counter = itertools.count()
    self._output = self


def _writeline(self: Any, line: str) -> None:
    self.lines.append(f"    {line}")


def _write(self: Any, value: Any) -> str:
    name = f"tmp{next(self.var_counter)}"
    self.lines.append(f"    {name} = {value}")
    return name


def _statement(self: Any, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    found = getattr(self.parent_handler, name)(*arguments, **keywords)
    return type(found)(map(self._write, found)) if isinstance(found, (tuple, list)) else self._write(found)


def _operation(self: Any, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    texts = [_argument(value) for value in arguments]
    texts += [f"{key}={_argument(value)}" for key, value in keywords.items()]
    return f"ops.{name}({', '.join(texts)})"


def _argument(value: Any) -> str:
    return index_text(value) if isinstance(value, sympy.Expr) else str(value)


@functools.cache
def _formatter() -> Any:
    """torch's handler that writes a statement for each operation, quicker; None where this torch has none."""
    base = torch_object(names.FORMATTER)
    if base is None or _operations() is None:
        return None
    own: dict[str, Any] = {"__init__": _begin, "writeline": _writeline, "_write": _write, "_default": _statement}
    own |= {name: _infix(text_of) for name, text_of in _infixes()}
    return type("Formatter", (base,), own)


def _infixes() -> Iterator[tuple[str, Callable[..., str]]]:
    """Operations of two values whose text depends on nothing else, `a + b`."""
    for kind in _operations().__mro__:
        if kind.__name__ == "BasicMathOpsMixin":
            yield from ((name, found.__func__) for name, found in vars(kind).items() if isinstance(found, staticmethod))


def _infix(text_of: Callable[..., str]) -> Callable[..., str]:
    def operation(self: Any, *arguments: Any) -> str:
        name = f"tmp{next(self.var_counter)}"
        self.lines.append(f"    {name} = {text_of(*arguments)}")
        return name

    return operation


@functools.cache
def _operations() -> Any:
    """torch's handler that makes a text of each operation, with index expressions printed once."""
    base = torch_object(names.OPERATION_TEXTS)
    return None if base is None else type("Operations", (base,), {"_default": _operation})
