"""Calls a function of the program's with hooks before and after it, and no frame of ours on the stack meanwhile.

What a compiled graph runs may look at its stack, as a custom operator does that logs its caller. C calls the function,
`PyObject_CallOneArg` through ctypes: converting the argument is the hook before, checking the result the one after.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

_OBJECT = ctypes.py_object
_CALL_WITH = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)
_ADDRESS: Any = ctypes.cast(ctypes.pythonapi.PyObject_CallOneArg, ctypes.c_void_p).value
"""Where the function is: one that ctypes is told by name refers to itself, and stays until a collection."""


def between(plain: Callable[[Any], Any], begins: Callable[[], None], ended: Callable[[], None]) -> Any:
    """`plain`, a function of one argument, with `begins` called before it and, unless it raised, `ended` after it. Both
    are guarded.
    """
    clock = Around(begins, ended)
    call: Any = _CALL_WITH(_ADDRESS)
    call.argtypes = ctypes.py_object, clock
    call.errcheck = clock.stop
    return functools.partial(call, plain)


def plain_of(function: Any) -> Any:
    """The function that `between` was given, if it made this one; else the function itself."""
    is_ours = type(function) is functools.partial and type(function.func) is _CALL_WITH
    return function.args[0] if is_ours else function


class Around:
    """Stands for a type of ctypes, which converts the argument."""

    def __init__(self, begins: Callable[[], None], ended: Callable[[], None]) -> None:
        self._begins, self._ended = begins, ended

    def from_param(self, argument: Any) -> Any:
        """The argument as ctypes passes it on."""
        self._begins()
        return _OBJECT(argument)

    def stop(self, result: Any, call: Any, arguments: Any) -> Any:
        """What the call returns."""
        self._ended()
        return result
