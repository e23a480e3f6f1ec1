"""Prints IR as torch does, in a fraction of the time: each loop body once, and no line-by-line indentation.

Objects of classes that are not known here are printed by torch.
"""

import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Final

import sympy

from inspect_compile.lowering.core.expressions import PrintedOnce, text
from inspect_compile.lowering.ir.loop_text import LoopTexts

_SCHEMA: Final = frozenset({
    "arg_properties",
    "allarg_properties",
    "kwarg_properties",
    "ordered_kwargs_for_cpp_kernel",
})  # fmt: skip
"""Fields of an extern kernel that describe its operator and nothing of this graph."""
_INDUCTOR: Final = "torch._inductor."
_NO_CODE: Final = compile("", "", "exec")
_LONGEST_ORIGINS: Final = 64
_CUT_ORIGINS: Final = 61
"""torch's limits."""


class Printer:
    """Renders the values of one graph. Caches texts, and keeps no IR alive."""

    def __init__(self) -> None:
        self.loops = LoopTexts()
        self._told: set[str] = set()
        """Buffers that a text has printed in full."""
        self._whole: set[str] = set()
        """Buffers to print in full in the current text, each once."""
        self.depth = 0
        """Number of extern kernels that the current text is inside of."""

    def text(self, value: Any, new: frozenset[str] = frozenset()) -> str:
        """The text of a value; buffers in `new` are printed in full, others by name.

        An input of an extern kernel is printed in full only if no earlier text has it.
        """
        self._whole, self.depth = set(new), 0
        found = self._result(value)
        self._told |= new - self._whole
        return found

    def _result(self, value: Any) -> str:
        if isinstance(value, (tuple, list)):
            return f"[{', '.join([self._result(item) for item in value])}]"
        return self.str_of(value)

    def str_of(self, value: Any) -> str:
        """The same as `str(value)`."""
        return value if type(value) is str else self._known(value) or _printed(str, value)

    def repr_of(self, value: Any) -> str:
        """The same as `repr(value)`."""
        return self._known(value) or _printed(repr, value)

    def _known(self, value: Any) -> str:
        """The text of a value for which `str` and `repr` agree; empty if that is not known."""
        kind: Any = type(value)
        if kind is int:
            return f"{value}"
        render = _renderer(kind)
        if render is not None:
            return render(self, value)
        return text(value) if isinstance(value, sympy.Basic) else ""

    def is_told(self, buffer: Any) -> bool:
        """True if only the buffer's name is printed: always, except the first time in a text that prints it in full."""
        name = getattr(buffer, "name", None)
        if name is None:
            return False
        if name not in self._whole or (self.depth and name in self._told):
            return True
        self._whole.remove(name)
        return False


def _printed(how: Callable[[Any], str], value: Any) -> str:
    if not type(value).__module__.startswith(_INDUCTOR):
        return how(value)
    with PrintedOnce():
        return how(value)


def _list(printer: Printer, value: Any) -> str:
    return f"[{', '.join([printer.repr_of(item) for item in value])}]"


def _tuple(printer: Printer, value: Any) -> str:
    return f"({', '.join([printer.repr_of(item) for item in value])}{',' * (len(value) == 1)})"


def _dict(printer: Printer, value: Any) -> str:
    items = [f"{printer.repr_of(key)}: {printer.repr_of(item)}" for key, item in value.items()]
    return f"{{{', '.join(items)}}}"


def _plain(printer: Printer, value: Any) -> str:
    return f"{value}"


def _indented(block: str) -> str:
    """The same as `textwrap.indent` by two."""
    return textwrap.indent(block, "  ") if "\n\n" in block else "  " + block.replace("\n", "\n  ")


def _construct(value: Any, lines: list[str]) -> str:
    inner = _indented(",\n".join([*lines, _origins(value)]))
    return f"{type(value).__name__}(\n{inner}\n)"


def _origins(value: Any) -> str:
    origins = getattr(value, "origins", "")
    if type(origins).__name__ != "OrderedSet":
        found = f"origins={origins}"
    else:
        found = "origins=OrderedSet(["
        comma = ""
        for node in origins:
            found += f"{comma}{node!r}"
            comma = ", "
            if len(found) > _LONGEST_ORIGINS:
                break
        found += "])"
    return f"{found[:_CUT_ORIGINS]}..." if len(found) > _LONGEST_ORIGINS else found


def _box(printer: Printer, value: Any) -> str:
    inner = value.data
    kind: Any = type(inner)
    if _renderer(kind) is not _box:
        return f"{type(value).__name__}(\n{_indented(printer.str_of(inner))}\n)"
    return f"{type(value).__name__}({kind.__name__}(\n{_indented(printer.str_of(inner.data))}\n))"


def _loops(printer: Printer, value: Any, fields: tuple[str, ...] = ("ranges",)) -> str:
    lines = [f"'{value.device.type}'", str(value.dtype), printer.loops.text(value)]
    lines += [f"{name}={printer.str_of(getattr(value, name))}" for name in fields]
    return _construct(value, [*lines, f"origin_node={value.origin_node!r}"])


def _reduction(printer: Printer, value: Any) -> str:
    return _loops(printer, value, ("ranges", "reduction_ranges", "reduction_type"))


def _generic_view(printer: Printer, value: Any) -> str:
    size = printer.str_of(value.size)
    return _construct(value, [printer.str_of(value.data), f"size={size}", f"reindex={_printed(_reindex, value)}"])


def _reindex(view: Any) -> str:
    return str(view.reindex_str())


def _reinterpret_view(printer: Printer, value: Any) -> str:
    return _construct(value, [printer.str_of(value.data), printer.str_of(value.layout)])


def _dtype_view(printer: Printer, value: Any) -> str:
    return _construct(value, [printer.str_of(value.data), str(value.target_dtype)])


def _layout(printer: Printer, value: Any) -> str:
    device = value.device
    index = "" if device.index is None else f":{device.index}"
    offset = "" if value.offset == 0 else f", offset={printer.str_of(value.offset)}"
    pinned = f", is_pinned={value.is_pinned}" if getattr(value, "is_pinned", False) else ""
    return (
        f"{type(value).__name__}('{device.type}{index}', {value.dtype}, "
        f"size={printer.str_of(value.size)}, stride={printer.str_of(value.stride)}{offset}{pinned})"
    )


def _named(printer: Printer, value: Any) -> str:
    return f"{type(value).__name__}(name='{value.name}', layout={printer.str_of(value.layout)})"


def _extern(printer: Printer, value: Any) -> str:
    if printer.is_told(value):
        return _named(printer, value)
    lines = [f"python_kernel_name={getattr(value, 'python_kernel_name', None)!r}"]
    printer.depth += 1
    lines += [
        f"{field.name}={printer.str_of(getattr(value, field.name))}"
        for field in dataclasses.fields(value)
        if field.name not in _SCHEMA
    ]
    printer.depth -= 1
    return _construct(value, [*lines, f"origin_node={value.origin_node!r}"])


def _computed(printer: Printer, value: Any) -> str:
    return _named(printer, value) if printer.is_told(value) else _record(printer, value)


def _record(printer: Printer, value: Any) -> str:
    kind: Any = type(value)
    fields = [f"{name}={printer.repr_of(getattr(value, name))}" for name in _printed_fields(kind)]
    return f"{kind.__qualname__}({', '.join(fields)})"


@functools.lru_cache(maxsize=256)
def _printed_fields(kind: Any) -> tuple[str, ...]:
    owner = next(base for base in kind.__mro__ if "__repr__" in vars(base))
    return tuple(field.name for field in dataclasses.fields(owner) if field.repr)


_RENDERERS: Final[dict[str, Callable[[Printer, Any], str]]] = {
    "MutableBox.__str__": _box,
    "Loops.__str__": _loops,
    "Pointwise.__str__": _loops,
    "Reduction.__str__": _reduction,
    "GenericView.__str__": _generic_view,
    "ReinterpretView.__str__": _reinterpret_view,
    "DtypeView.__str__": _dtype_view,
    "Layout.__str__": _layout,
    "ExternKernel.__str__": _extern,
    "ComputedBuffer.__repr__": _computed,
}
"""torch's method that prints a value → its replacement here."""
_BUILTINS: Final[dict[type, Callable[[Printer, Any], str]]] = {
    list: _list,
    tuple: _tuple,
    dict: _dict,
    bool: _plain,
    float: _plain,
    type(None): _plain,
}


@functools.lru_cache(maxsize=256)
def _renderer(kind: Any) -> Callable[[Printer, Any], str] | None:
    if kind in _BUILTINS or not kind.__module__.startswith(_INDUCTOR):
        return _BUILTINS.get(kind)
    printed = kind.__repr__ if kind.__str__ is object.__str__ else kind.__str__
    found = _RENDERERS.get(printed.__qualname__)
    if found is None and getattr(inspect.unwrap(printed), "__code__", _NO_CODE).co_filename == "<string>":
        return _record  # as dataclasses generate it
    return found
