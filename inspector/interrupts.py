"""Tells an exception of the program's from one of ours where it strikes while our code runs.

A signal handler of the program's may raise at any instruction (a timeout), and so may another of its threads
(`PyThreadState_SetAsyncExc`). Such an exception is none that our code has caused: it goes on, whatever its class is.
The traceback tells. Nothing here runs but where an exception has been caught.
"""

import functools
import opcode
import signal
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

_CALLS: Final = ("CALL", "PRECALL")
"""How the names of instructions begin behind which Python looks for signals, and which can raise by themselves."""
_NEVER_RAISE: Final = frozenset({"JUMP_BACKWARD", "RESUME"})
"""Instructions in which Python looks for signals, and that do nothing else."""
_JUMPS_BACK: Final = "POP_JUMP_BACKWARD"
_ARGLESS: Final[tuple[type[BaseException], ...]] = (StopIteration, StopAsyncIteration, MemoryError, RecursionError)
"""What functions written in C raise without arguments."""
_DEEPEST: Final = 32


def let_pass(error: BaseException) -> None:
    """Raise what is the program's: to be called first where an exception of ours would be passed over."""
    if is_program(error):
        raise error


def of_program(error: BaseException, handled: BaseException | None) -> BaseException | None:
    """The exception of the program's that `error` is, or that struck below and was turned into `error`; else None.

    `handled` is what was being handled when our code began. The traceback is cut down to the program's part.
    """
    known = {id(one) for one in _chain(handled)}
    for one in _chain(error):
        if id(one) in known:
            return None
        if is_program(one):
            one.__traceback__ = _of_handler(one.__traceback__)
            return one
    return None


def is_program(error: BaseException) -> bool:
    """Has something else than our code caused it?"""
    return not isinstance(error, Exception) or _of_handler(error.__traceback__) is not None or _is_sent(error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """It, and what was being handled when it was raised."""
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
    """Was a function called with the frame of its caller? So Python calls a handler, and nobody else a function."""
    return any(
        value is interrupted or (type(value) is tuple and any(item is interrupted for item in value))
        for value in frame.f_locals.values()
    )


def _is_sent(error: BaseException) -> bool:
    """Was it sent by another thread? Python makes it of the class alone, where it looks for signals."""
    found = error.__traceback__
    if found is None:
        return False
    while found.tb_next is not None:
        found = found.tb_next
    if _is_between(found):
        return True
    return not error.args and not isinstance(error, _ARGLESS) and _instruction(found)[0].startswith(_CALLS)


def _is_between(found: types.TracebackType) -> bool:
    """Was the frame at an instruction that neither calls nor raises anything?"""
    name, argument = _instruction(found)
    # Where a generator goes on, what `throw` was given is raised.
    return (name in _NEVER_RAISE and not (name == "RESUME" and argument)) or name.startswith(_JUMPS_BACK)


def _instruction(found: types.TracebackType) -> tuple[str, int]:
    """The instruction that an entry of a traceback stands at: its name and argument."""
    code, at = found.tb_frame.f_code.co_code, found.tb_lasti
    return (opcode.opname[code[at]], code[at + 1]) if 0 <= at < len(code) - 1 else ("", 0)


def _handlers() -> frozenset[types.CodeType]:
    """What the handlers that are installed now run first."""
    handlers = map(signal.getsignal, signal.valid_signals())
    return frozenset(code for handler in handlers if (code := _code(handler)) is not None)


def _code(called: Any) -> types.CodeType | None:
    """Of anything that can be called: no attribute of the program's is asked for."""
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
