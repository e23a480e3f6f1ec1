"""What a loop of the IR computes, as the function that torch prints.

torch's own handler is used, with a faster one where thousands of operations pass. A loop inlines the loops that it
reads, and so on: what such a loop computes has been printed before, and is not traced again.
"""

import functools
import itertools
import re
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any, Final

import sympy

from inspect_compile.lowering.core.by_identity import ByIdentity
from inspect_compile.lowering.core.expressions import index_text, text
from inspect_compile.lowering.core.loop_tags import untagged
from inspect_compile.lowering.core.scopes import current_graph, torch_object
from inspect_compile.torch_compat import inductor as names

_NUMBERED: Final = re.compile(r"\btmp(\d+)\b")

_BY_RANGES: Final = ("Loops.inner_fn_args", "Reduction.inner_fn_args")
"""torch's methods that make variables from ranges, and from nothing else."""


@dataclass(slots=True)
class _Written:
    """What one loop's function printed. Keeps neither the function nor IR alive."""

    function: "weakref.ref[Any]"
    index: tuple[Any, ...]
    """The variables that it was called with."""
    lines: list[str]
    count: int
    """Number of values in the statements."""
    kind: type
    result: int
    """Class and number of the value that it returned."""
    loaded: list[str]
    layouts: list[tuple[str, "weakref.ref[Any]"]]
    """Layouts of the buffers that it read: with another layout the index differs."""


class LoopTexts:
    """The texts of the loops of one graph."""

    def __init__(self) -> None:
        self._texts: ByIdentity[str] = ByIdentity()
        """Loops, which torch compares by their fields → the text."""
        self._written: dict[int, _Written] = {}
        """Functions, by identity."""
        self._heads: dict[Any, tuple[str, tuple[tuple[Any, ...], ...]]] = {}
        """Ranges → the first lines, and the variables."""

    def text(self, loops: Any) -> str:
        """The same as `loops.inner_fn_str()`."""
        known = self._texts.get(loops)
        if known is None:
            known = self._texts[loops] = self._traced(loops)
        return known

    def _traced(self, loops: Any) -> str:
        formatter = _formatter()
        flexible = torch_object(names.FLEXIBLE_LAYOUT)
        if formatter is None or flexible is None:
            return str(loops.inner_fn_str())
        head, arguments = self._called(loops)
        handler = formatter()
        function = loops.inner_fn
        allowed = flexible.allow_indexing
        with torch_object(names.VIRTUALIZED).set_ops_handler(handler):
            flexible.allow_indexing = True
            try:
                result = self._with_known(untagged(function), handler)(*arguments)
            finally:
                flexible.allow_indexing = allowed
                handler._output = None  # itself: a cycle that only a collection would remove
        if len(arguments) == 1:
            self._remember(function, arguments[0], handler, result)
        return "\n".join([head, *handler.lines, f"    return {result}"]) + "\n"

    def _called(self, loops: Any) -> tuple[str, tuple[list[Any], ...]]:
        """The first lines of the text, and the variables that the function is called with."""
        key: Any = None
        how = type(loops).inner_fn_args.__qualname__
        if how in _BY_RANGES:
            key = how, tuple(loops.ranges), tuple(getattr(loops, "reduction_ranges", ()))
            known = self._heads.get(key)
            if known is not None:
                return known[0], tuple([list(variables) for variables in known[1]])
        arguments = loops.inner_fn_args()
        called = ("index", "rindex")[: len(arguments)]
        head = [f"def inner_fn({', '.join(called)}):"]
        for name, variables in zip(called, arguments, strict=False):
            if variables:
                left = ", ".join("_" if isinstance(value, (int, sympy.Integer)) else text(value) for value in variables)
                head.append(f"    {left} = {name}")
        if key is not None:
            self._heads[key] = "\n".join(head), tuple(tuple(variables) for variables in arguments)
        return "\n".join(head), arguments

    def _remember(self, function: Any, index: Any, handler: Any, result: Any) -> None:
        value = getattr(result, "value", None)
        if handler.is_indirect or type(value) is not str or not value.startswith("tmp"):
            return
        buffers = current_graph().name_to_buffer
        layouts = []
        for name in handler.loaded:
            if name.startswith("tmp"):
                return
            layout = getattr(buffers.get(name), "layout", None)
            if layout is not None:
                layouts.append((name, weakref.ref(layout)))
        self._written[id(function)] = _Written(
            weakref.ref(function),
            tuple(index),
            handler.lines,
            next(handler.var_counter),
            type(result),
            int(value[3:]),
            handler.loaded,
            layouts,
        )

    def _known(self, function: Any) -> _Written | None:
        written = self._written.get(id(function))
        return written if written is not None and written.function() is function else None

    def _with_known(self, function: Any, handler: Any) -> Any:
        """`function`, or a copy of it in which the known functions that it calls are replaced by ones that print their
        text.
        """
        if type(function) is not FunctionType or function.__closure__ is None:
            return function
        cells = list(function.__closure__)
        has_known = False
        for position, cell in enumerate(cells):
            found = self._contents(cell, handler)
            if found is not None:
                cells[position] = CellType(found)
                has_known = True
        if not has_known:
            return function
        copy = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, tuple(cells)
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy

    def _contents(self, cell: Any, handler: Any) -> Any:
        """The replacement for a closure cell's contents; None if it can stay."""
        try:
            found = cell.cell_contents
        except ValueError:
            return None  # the cell is still empty
        if type(found) is FunctionType:
            written = self._known(found)
            return None if written is None else _reader(found, written, handler)
        if type(found) is not list:
            return None
        known = [self._known(item) if type(item) is FunctionType else None for item in found]
        if not any(known):
            return None
        return [
            item if written is None else _reader(item, written, handler)
            for item, written in zip(found, known, strict=True)
        ]


def _reader(function: Any, written: _Written, handler: Any) -> Callable[..., Any]:
    """A function that prints what `function` would print when it is called as before."""

    def read(*arguments: Any) -> Any:
        if len(arguments) != 1 or not _is_same(written, arguments[0]):
            return function(*arguments)
        return handler.again(written)

    return read


def _is_same(written: _Written, index: Any) -> bool:
    if len(index) != len(written.index) or any(new is not old for new, old in zip(index, written.index, strict=True)):
        return False
    if not written.layouts:
        return True
    buffers = current_graph().name_to_buffer
    return all(
        (known := layout()) is not None and getattr(buffers.get(name), "layout", None) is known
        for name, layout in written.layouts
    )


def _begin(self: Any) -> None:
    self.parent_handler = _operations()()
    self.lines = []
    self.loaded = []
    self.is_indirect = False
    self.var_counter = itertools.count()
    self._output = self


def _writeline(self: Any, line: str) -> None:
    self.lines.append(f"    {line}")


def _write(self: Any, value: Any) -> str:
    name = f"tmp{next(self.var_counter)}"
    self.lines.append(f"    {name} = {value}")
    return name


def _again(self: Any, written: _Written) -> Any:
    first = next(self.var_counter)
    self.var_counter = itertools.count(first + written.count)
    self.loaded += written.loaded
    if first == 0:
        self.lines += written.lines
    else:
        self.lines += [_NUMBERED.sub(lambda found: f"tmp{int(found[1]) + first}", line) for line in written.lines]
    return written.kind(f"tmp{written.result + first}")


def _load(self: Any, name: str, index: Any) -> str:
    self.loaded.append(name)
    return _write(self, f"ops.load({name}, {_argument(index)})")


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
    """A faster version of torch's handler that prints a statement for each operation; None if this torch has no such
    handler.
    """
    base = torch_object(names.FORMATTER)
    if base is None or _operations() is None:
        return None

    def indirect_indexing(self: Any, *arguments: Any, **keywords: Any) -> Any:
        self.is_indirect = True
        return base.indirect_indexing(self, *arguments, **keywords)

    own: dict[str, Any] = {"__init__": _begin, "writeline": _writeline, "_write": _write, "_default": _statement}
    own |= {"again": _again, "load": _load, "indirect_indexing": indirect_indexing}
    own |= {name: _infix(text_of) for name, text_of in _infixes()}
    return type("Formatter", (base,), own)


def _infixes() -> Iterator[tuple[str, Callable[..., str]]]:
    """Binary operations whose text depends on nothing else, `a + b`."""
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
    """torch's handler that turns each operation into text, with index expressions printed once."""
    base = torch_object(names.OPERATION_TEXTS)
    return None if base is None else type("Operations", (base,), {"_default": _operation})
