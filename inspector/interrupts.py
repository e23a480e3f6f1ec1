"""Distinguishes the program's exceptions from ours when they occur while our code runs.

A signal handler of the program's may raise at any instruction (a timeout), and so may another of its threads
(`PyThreadState_SetAsyncExc`). Such an exception was not caused by our code and must propagate, whatever its class. The
traceback shows which it is. Nothing here runs unless an exception was caught.
"""

import functools
import inspect
import itertools
import opcode
import signal
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

from inspect_compile.at_start import AtStart

_CALLS: Final = ("CALL", "PRECALL")
"""Prefixes of instructions after which Python checks for signals, and which can themselves raise."""
_NEVER_RAISE: Final = frozenset({"JUMP_BACKWARD", "RESUME"})
"""Instructions in which Python checks for signals, and which cannot themselves raise."""
_JUMPS_BACK: Final = "POP_JUMP_BACKWARD"
_ARGLESS: Final[tuple[type[BaseException], ...]] = (StopIteration, StopAsyncIteration, MemoryError, RecursionError)
"""Exceptions that functions written in C raise without arguments."""
_DEEPEST: Final = 32


def let_pass(error: BaseException) -> None:
    """Raise an exception of the program's; to be called before an exception of ours would be swallowed."""
    if is_program(error):
        raise error


def of_program(error: BaseException, handled: BaseException | None) -> BaseException | None:
    """The program's exception that `error` is, or that occurred below and was turned into `error`; else None.

    `handled` is what was being handled when our code began. The traceback is cut down to the program's part.
    """
    known = {id(one) for one in _chain(handled)}
    for one in _chain(error):
        if id(one) in known:
            return None
        if is_program(one):
            AtStart.set_traceback(one, _of_handler(one.__traceback__))
            return one
    return None


def is_program(error: BaseException) -> bool:
    """True if something other than our code caused it."""
    return not isinstance(error, Exception) or _of_handler(error.__traceback__) is not None or _is_sent(error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception, and those that were being handled when it was raised."""
    for _ in range(_DEEPEST):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _of_handler(found: types.TracebackType | None) -> types.TracebackType | None:
    """The part of a traceback that begins in a signal handler, or None."""
    codes: frozenset[types.CodeType] | None = None
    while found is not None and found.tb_next is not None:
        behind = found.tb_next
        if _is_between(found) or _was_handed(behind.tb_frame, found.tb_frame):
            return behind
        codes = _handlers() if codes is None else codes
        if behind.tb_frame.f_code in codes:
            return behind
        found = behind
    return None


def _was_handed(frame: types.FrameType, interrupted: types.FrameType) -> bool:
    """True if a function was called with a number and its caller's frame: only Python calls handlers like that."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    known = frame.f_locals
    given = [known.get(name) for name in code.co_varnames[:count]]
    flat = [item for value in given for item in (value if type(value) is tuple else (value,))]
    return any(after is interrupted and type(before) is int for before, after in itertools.pairwise(flat))


def _is_sent(error: BaseException) -> bool:
    """True if another thread sent it: Python then creates it from the class alone, where it checks for signals."""
    found = error.__traceback__
    if found is None:
        return False
    while found.tb_next is not None:
        found = found.tb_next
    if _is_between(found):
        return True
    return not error.args and not isinstance(error, _ARGLESS) and _instruction(found)[0].startswith(_CALLS)


def _is_between(found: types.TracebackType) -> bool:
    """True if the frame was at an instruction that neither calls nor raises anything."""
    name, argument = _instruction(found)
    # A generator that is resumed by `throw` raises here.
    return (name in _NEVER_RAISE and not (name == "RESUME" and argument)) or name.startswith(_JUMPS_BACK)


def _instruction(found: types.TracebackType) -> tuple[str, int]:
    """Name and argument of the instruction that a traceback entry is at."""
    code, at = found.tb_frame.f_code.co_code, found.tb_lasti
    return (opcode.opname[code[at]], code[at + 1]) if 0 <= at < len(code) - 1 else ("", 0)


def _handlers() -> frozenset[types.CodeType]:
    """The code of the installed signal handlers."""
    handlers = map(signal.getsignal, _signals())
    return frozenset(code for handler in handlers if callable(handler) and (code := _code(handler)) is not None)


@functools.cache
def _signals() -> tuple[int, ...]:
    """The signals of this system: to ask for them takes longer than to ask for their handlers."""
    return tuple(signal.valid_signals())


def _code(called: Any) -> types.CodeType | None:
    """The code of any callable, without accessing attributes of the program's objects."""
    for _ in range(_DEEPEST):
        kind = type(called)
        if kind is types.FunctionType:
            code: types.CodeType = called.__code__
            return code
        if kind is types.MethodType:
            called = called.__func__
        elif issubclass(kind, functools.partial):
            called = functools.partial.func.__get__(called)
        else:
            own: Callable[..., Any] | None = next(
                (vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None
            )
            if own is None or type(own) is not types.FunctionType:
                return None
            called = own
    return None
