"""Texts of sympy expressions, cached.

sympy takes about 50 µs for each, and the text of a schedule contains the same few thousands of times.
"""

import threading
from typing import Any, Final

import sympy

from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.torch_compat import inductor as names

_CLASSES: Final = (sympy.Add, sympy.Mul, sympy.Symbol, sympy.Integer)
"""The classes of sizes and indices. Equal expressions of these classes have equal texts."""
_PLACES: Final = tuple((kind, method) for kind in _CLASSES for method in ("__str__", "__repr__"))
_MOST: Final = 20_000
"""Maximum number of cached expressions; they contain symbols and numbers, no tensors."""

_TEXTS: Final[dict[Any, str]] = {}
_INDICES: Final[dict[Any, str]] = {}
_PRINTING: Final = threading.Lock()
_plain = sympy.Basic.__str__


def text(expression: Any) -> str:
    """`str(expression)`, cached."""
    return _remembered(expression) if isinstance(expression, _CLASSES) else str(expression)


def _remembered(expression: Any) -> str:
    found = _TEXTS.get(expression)
    if found is None:
        if len(_TEXTS) >= _MOST:
            _TEXTS.clear()
        found = _TEXTS[expression] = _plain(expression)
    return found


def index_text(expression: Any) -> str:
    """The expression as torch writes an index, `i1 + 32 * i0`; cached."""
    if not isinstance(expression, _CLASSES):
        return _as_index(expression)
    found = _INDICES.get(expression)
    if found is None:
        if len(_INDICES) >= _MOST:
            _INDICES.clear()
        found = _INDICES[expression] = _as_index(expression)
    return found


def _as_index(expression: Any) -> str:
    printed = torch_object(names.INDEX_TEXT)
    return str(expression) if printed is None else str(printed(expression))


class PrintedOnce:
    """A context in which sympy's own printing uses the cache too.

    If another thread is in one already, it does nothing.
    """

    def __enter__(self) -> None:
        self._changed: list[tuple[Any, str]] = []
        self._is_first = _PRINTING.acquire(blocking=False)
        if self._is_first:
            for kind, method in _PLACES:
                if method not in vars(kind):
                    setattr(kind, method, _remembered)
                    self._changed.append((kind, method))

    def __exit__(self, *exception: object) -> None:
        for kind, method in self._changed:
            delattr(kind, method)
        if self._is_first:
            _PRINTING.release()
