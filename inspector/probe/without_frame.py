"""Calls a function of the program's with hooks before and after it, and no frame of ours on the stack meanwhile.

What a compiled graph runs may look at its stack, as a custom operator does that logs its caller. C calls the function,
`PyObject_CallOneArg` through ctypes: converting the argument is the hook before, checking the result the one after.
"""

import ctypes
import functools
import time
from collections.abc import Callable
from typing import Any

_CALL_WITH = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)


def timed(plain: Callable[[Any], Any], ended: Callable[[float, float], None]) -> Any:
    """`plain`, a function of one argument. When a call has returned, `ended` gets when it began, in seconds since the
    epoch, and how many it took; it is not called where `plain` raised.
    """
    clock = _Clock(ended)
    call: Any = _CALL_WITH(("PyObject_CallOneArg", ctypes.pythonapi))
    call.argtypes = ctypes.py_object, clock
    call.errcheck = clock.stop
    return functools.partial(call, plain)


def plain_of(function: Any) -> Any:
    """The function that `timed` was given, if it made this one; else the function itself."""
    is_ours = type(function) is functools.partial and type(function.func) is _CALL_WITH
    return function.args[0] if is_ours else function


class _Clock:
    """Stands for a type of ctypes, which converts the argument."""

    def __init__(self, ended: Callable[[float, float], None]) -> None:
        self._ended = ended
        self._began = self._start = 0.0

    def from_param(self, argument: Any) -> Any:
        """The argument as ctypes passes it on."""
        self._began, self._start = time.time(), time.perf_counter()
        return ctypes.py_object(argument)

    def stop(self, result: Any, call: Any, arguments: Any) -> Any:
        """What the call returns."""
        self._ended(self._began, time.perf_counter() - self._start)
        return result
