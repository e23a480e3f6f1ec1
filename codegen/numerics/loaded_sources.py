"""The C++ source that each loaded kernel was really compiled from."""

import importlib
import weakref
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from inspect_compile.probe import replace
from inspect_compile.torch_compat import codegen as names


class Source(NamedTuple):
    """What torch's loader of C++ kernels was given."""

    argtypes: tuple[str, ...]
    """C types of the function's arguments: `const float*`."""
    text: str


_SOURCES: Final[weakref.WeakKeyDictionary[Any, Source]] = weakref.WeakKeyDictionary()
"""Loaded function → its source."""


def install(check: Any) -> None:
    """Remember the sources from now on. `check` is not used."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def load(cls: Any, argtypes: Any, main_code: str, *args: Any, **kwargs: Any) -> Any:
            future = plain(cls, argtypes, main_code, *args, **kwargs)

            def finished() -> Any:
                function = future()
                _SOURCES[function] = Source(tuple(argtypes), main_code)
                return function

            return finished

        return load

    replace(importlib.import_module(names.LOAD_PYBINDING.module), names.LOAD_PYBINDING, watched)


def source_of(function: Any) -> Source | None:
    """The source of a loaded function; None if it is not a C++ kernel."""
    try:
        return _SOURCES.get(function)
    except TypeError:  # it is of a kind that can't be a key
        return None


def load(argtypes: tuple[str, ...], text: str) -> Callable[..., None]:
    """Compile and load a source as torch does. Raises what its compiler raises."""
    cache = getattr(importlib.import_module(names.PYBINDINGS.module), names.PYBINDINGS.attribute)
    function: Callable[..., None] = cache.load_pybinding(list(argtypes), text)
    return function
