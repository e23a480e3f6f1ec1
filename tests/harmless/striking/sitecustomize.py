"""Has the program's own exceptions strike in our code, and tells the file STRIKES_FILE whether each went on.

STRIKES is `each`, in every hook and while each probe is installed, in all shapes, or `any`, at any moment in a hook.
It stands in for the user's own sitecustomize, which the bootstrap imports after itself. What was struck is done once
more, so that the program gets to its end.
"""

import atexit
import ctypes
import functools
import os
import signal
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

HOW, TOLD = os.environ.get("STRIKES", ""), os.environ.get("STRIKES_FILE", "")
SECONDS = float(os.environ.get("STRIKES_SECONDS", "0.003"))


class StruckError(Exception):
    """What the handlers raise."""


KINDS = tuple(
    type(f"Struck{kind.__name__}", (StruckError, kind) if kind is not Exception else (StruckError,), {})
    for kind in (TimeoutError, RuntimeError, Exception)
)
"""Not those that sympy and `getattr` themselves pass over."""


class _Handler:
    def __call__(self, number: int, frame: Any) -> None:
        raise StruckError

    def bound(self, number: int, frame: Any) -> None:
        raise StruckError


def _handler(number: int, frame: Any) -> None:
    raise StruckError


def _removes_itself(number: int, frame: Any) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise StruckError


def _raise() -> None:
    raise StruckError


def _send() -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(StruckError))
    for _ in range(1000):
        pass


def _signalled(handler: Any) -> None:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


SHAPES: dict[str, Callable[[], None]] = {
    "function": lambda: _signalled(_handler),
    "lambda": lambda: _signalled(lambda number, frame: _raise()),
    "partial": lambda: _signalled(functools.partial(_handler)),
    "callable object": lambda: _signalled(_Handler()),
    "bound method": lambda: _signalled(_Handler().bound),
    "removes itself": lambda: _signalled(_removes_itself),
    "through a helper": lambda: _signalled(lambda *_: _raise()),
    "thread": _send,
}


def _tell(where: str, shape: str, *, went_on: bool) -> None:
    with open(TOLD, "a") as file:
        file.write(f"{'went on' if went_on else 'lost'}\t{where}\t{shape}\n")


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _in_each() -> None:
    from inspect_compile.child import session
    from inspect_compile.probe import HookState, Probes

    struck: Counter[str] = Counter()
    plain, plain_untimed, plain_install = Probes.guard, Probes.untimed, session.Session._install
    plain_function = session._function

    def strike(where: str, struck_call: Callable[[Callable[[], None]], Any]) -> None:
        if not _is_main() or struck[where] >= len(SHAPES):
            return
        shape = list(SHAPES)[struck[where]]
        struck[where] += 1
        went_on = False
        try:
            struck_call(SHAPES[shape])
        except StruckError:
            went_on = True
        _tell(where, shape, went_on=went_on)

    def guard(self: Probes, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        strike(hook.target, lambda shape: plain(self, hook, lambda *_: shape()))
        return plain(self, hook, call, *args)

    def untimed(self: Probes, hook: HookState, call: Callable[..., Any], *args: Any) -> None:
        strike(hook.target, lambda shape: plain_untimed(self, hook, lambda *_: shape()))
        plain_untimed(self, hook, call, *args)

    def install(self: session.Session, entry: Any) -> None:
        def struck_call(shape: Callable[[], None]) -> None:
            session._function = lambda name: lambda probes: shape()
            try:
                plain_install(self, entry)
            finally:
                session._function = plain_function

        for _ in SHAPES:
            strike(f"install {entry.installer}", struck_call)
        plain_install(self, entry)

    Probes.guard, Probes.untimed = _as_ours(guard), _as_ours(untimed)  # type: ignore[method-assign]
    session.Session._install = install  # type: ignore[method-assign]


def _as_ours(function: Any) -> Any:
    """Its frame is taken for one of ours, and not for the program's or torch's."""
    own = {**globals(), "__name__": "inspect_compile.striking"}
    return types.FunctionType(function.__code__, own, function.__name__, None, function.__closure__)


def _at_any_moment() -> None:
    from inspect_compile.probe import HookState, Probes

    plain, plain_untimed = Probes.guard, Probes.untimed
    codes = {plain.__code__, plain_untimed.__code__}
    left: list[Any] = []
    """The strike that goes on its way, if there is one."""
    count = 0
    deep = 0

    def heard(number: int, frame: Any) -> None:
        nonlocal count
        kind: Any = None
        places: list[str] = []
        while frame is not None and frame.f_code not in codes:
            places.append(f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}")
            frame = frame.f_back
        if frame is not None and deep == 1 and not left:
            count += 1
            kind = KINDS[count % len(KINDS)]
            left.extend((" < ".join(places), kind.__name__))
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        if kind is not None:
            raise kind

    def through(run: Callable[[], Any], again: Callable[[], Any]) -> Any:
        nonlocal deep
        if deep or not _is_main():
            return run()
        deep = 1
        try:
            result = run()
        except StruckError as error:
            deep = 2
            _tell(str(left[0]), type(error).__name__, went_on=True)
            left.clear()
            deep = 0
            return again()
        finally:
            if deep == 1:
                deep = 2
                if left:
                    _tell(str(left[0]), str(left[1]), went_on=False)
                    left.clear()
            deep = 0
        return result

    def guard(self: Probes, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        return through(lambda: plain(self, hook, call, *args), lambda: plain(self, hook, call, *args))

    def untimed(self: Probes, hook: HookState, call: Callable[..., Any], *args: Any) -> None:
        through(lambda: plain_untimed(self, hook, call, *args), lambda: plain_untimed(self, hook, call, *args))

    Probes.guard, Probes.untimed = _as_ours(guard), _as_ours(untimed)  # type: ignore[method-assign]

    def unraisable(found: Any) -> None:
        if isinstance(found.exc_value, StruckError):
            left.clear()  # in a callback of a weak reference, where Python itself passes over all exceptions

    sys.unraisablehook = unraisable
    signal.signal(signal.SIGALRM, heard)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)


if HOW and "inspect_compile.child.start" in sys.modules:  # not in the command, which becomes the program
    _in_each() if HOW == "each" else _at_any_moment()
