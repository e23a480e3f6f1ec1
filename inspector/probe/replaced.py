"""Replaces functions of torch by plain functions: a proxy can be neither copied nor pickled."""

import functools
import inspect
import sys
import types
from typing import Any, Protocol

from inspect_compile.probe.harmless import uncounted, uncounted_file
from inspect_compile.torch_compat import Name


class Watched(Protocol):
    """Makes the replacement for `plain`; a method's replacement gets the instance, or the class, as its first
    argument.
    """

    def __call__(self, plain: Any, /, *, is_method: bool) -> Any: ...


def replace(module: Any, name: Name, watched: Watched) -> None:
    """Replace `name` in `module` by the function that `watched` makes.

    It keeps the name, signature and attributes of the original, and is pickled by that name. Raises AttributeError if
    there is no such function.
    """
    path, _, attribute = name.attribute.rpartition(".")
    owner = module
    for part in path.split(".") if path else ():
        owner = getattr(owner, part)
    found = inspect.getattr_static(owner, attribute)
    is_class = isinstance(owner, type)
    kind = type(found) if is_class and isinstance(found, (staticmethod, classmethod)) else None
    plain = found if kind is None else found.__func__
    function = _named(uncounted(watched(plain, is_method=is_class and kind is not staticmethod)), plain)
    setattr(owner, attribute, function if kind is None else kind(function))
    if not _is_there(function):
        # It belongs to another module or class, where the original keeps its name.
        function.__module__, function.__qualname__ = name.module, name.attribute


def is_replaced(function: Any) -> bool:
    """True if a replacement is installed."""
    return (
        type(function) is types.FunctionType
        and "__wrapped__" in function.__dict__
        and function.__code__.co_filename == uncounted_file()
    )


def _named(function: Any, plain: Any) -> Any:
    functools.update_wrapper(function, plain, updated=("__dict__",) if type(plain) is types.FunctionType else ())
    if not hasattr(plain, "__wrapped__"):
        try:
            function.__signature__ = inspect.signature(plain)
        except (TypeError, ValueError):  # a function written in C
            del function.__wrapped__
    return function


def _is_there(function: Any) -> bool:
    """True if a function or method is found under its own name."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return getattr(found, "__func__", found) is function
