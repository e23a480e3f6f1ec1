"""Keeps hooks harmless. A probe only observes; an error in it becomes a fact, and the program goes on."""

import functools
import importlib
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable
from sys import exception
from typing import Any, Final

from inspect_compile import interrupts
from inspect_compile.at_start import AtStart
from inspect_compile.dump import Writer
from inspect_compile.outermost import leave_traceback, of_program
from inspect_compile.probe.full_collections import CollectionTimer
from inspect_compile.probe.hook import HookState
from inspect_compile.probe.untraced import untraced

SLOW_SECONDS = 2.0
SLOW_SHARE = 0.05
"""A hook that has cost more than both limits (the share is of compile time) is turned off. Seconds in which its thread
only waited for a processor are not its own: on a busy machine every hook would reach the first limit sooner or later.
"""
LATER = 1.5
"""A hook below the limit, but for such waiting, is looked at again when it has cost this many times as much."""
PAUSE_SECONDS = 10.0
"""If hooks are silent for longer than this, nothing was being compiled."""

FAILED: Final = "failed"
UNREPORTED: Final = "it failed, and so did reporting it"
"""Why a hook is off where the report of its failure failed, too."""


class _Nested(threading.local):
    """Seconds spent in nested hooks inside the hook that runs on this thread; they count as the nested hooks' cost
    only.
    """

    seconds = 0.0


class Guard:
    """Runs the hooks of one process. `sink` is where they write; it can be replaced (after a fork)."""

    def __init__(self, sink: Writer) -> None:
        self.sink = sink
        self.spent = 0.0
        """Seconds that all hooks have cost."""
        self._compiling = 0.0
        """Seconds spent compiling, as far as hooks can tell."""
        self._last = AtStart.perf_counter()
        self._nested = _Nested()

    def guard(self, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        """Run a part of a hook: measure its time; on an error turn the hook off, record that, and return None.

        The program's own exceptions pass without a trace of us: KeyboardInterrupt, SystemExit, and what a signal
        handler or another thread of the program raises meanwhile. Like `untimed` it is the outermost guard: all that
        may fail is called within its `try`, or by `of_program`.
        """
        try:
            return self._timed(hook, call, args)
        except BaseException as error:
            caught = error
        own = of_program(self._report, caught, exception(), hook)
        if own is None:
            hook.off, hook.state = True, FAILED
            hook.reason = hook.reason or UNREPORTED
            AtStart.set_traceback(caught, None)  # it holds the compiler's frames, and with them tensors
            return None
        try:
            raise own
        except BaseException as error:
            leave_traceback(error)
            raise
        finally:
            del own, caught

    def untimed(self, hook: HookState, call: Callable[..., Any], *args: Any) -> None:
        """Like `guard`, for calls that are too frequent to be timed. Were one to call the other, a hook would cost a
        third more.
        """
        try:
            call(*args)
            return
        except BaseException as error:
            caught = error
        own = of_program(self._report, caught, exception(), hook)
        if own is None:
            hook.off, hook.state = True, FAILED
            hook.reason = hook.reason or UNREPORTED
            AtStart.set_traceback(caught, None)  # it holds the compiler's frames, and with them tensors
            return
        try:
            raise own
        except BaseException as error:
            leave_traceback(error)
            raise
        finally:
            del own, caught

    def _timed(self, hook: HookState, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call and measure it.

        A full garbage collection meanwhile is the program's: it happens as often without us, and takes seconds in a
        program with many objects. It is timed in a hook's first call; a later call with one counts as the average.
        """
        nested = self._nested
        before, nested.seconds = nested.seconds, 0.0
        since_full = AtStart.collection_counts()[-1]
        collections = None
        start = AtStart.perf_counter()
        try:
            if hook.calls <= 1:
                collections = CollectionTimer()
            return call(*args)
        finally:
            now = AtStart.perf_counter()
            known = hook.seconds
            has_collected = AtStart.collection_counts()[-1] < since_full
            collecting = 0.0 if collections is None else collections.full()
            hook.cost(now - start - nested.seconds, has_collected=has_collected, collecting=collecting)
            self.spent += hook.seconds - known
            nested.seconds = before + now - start
            self._compiling += now - (self._last if start - self._last < PAUSE_SECONDS else start)
            self._last = now
            if not hook.patient and hook.seconds > SLOW_SECONDS and hook.seconds > SLOW_SHARE * self._compiling:
                self._judge(hook)

    def _report(self, error: BaseException, handled: BaseException | None, hook: HookState) -> BaseException | None:
        """The program's exception that `error` is or hides; else the hook is turned off, and that is recorded."""
        own = interrupts.of_program(error, handled)
        if own is None:
            hook.off, hook.state = True, FAILED
            hook.reason = describe(error)
            self.record(hook)
        return own

    def _judge(self, hook: HookState) -> None:
        """Turn a hook off whose seconds are over the limits, unless most of them went into waiting for a processor."""
        if hook.seconds < hook.looked_at * LATER:
            return
        hook.looked_at = hook.seconds
        if hook.seconds * (1 - waiting_share()) <= SLOW_SECONDS:
            return
        hook.off = True
        hook.state, hook.reason = FAILED, f"it cost {hook.seconds:.1f} s in {hook.calls} calls"
        self.record(hook)

    def record(self, hook: HookState) -> None:
        """Write the state of a hook."""
        self.sink.add(hook.fact())


def waiting_share() -> float:
    """How much of the time in which this thread could have run it has waited for a processor, from 0 to 1; 0 where the
    system does not say (Linux does, in the first two numbers of schedstat: ns run, ns waited).
    """
    try:
        with AtStart.open("/proc/thread-self/schedstat", "rb") as file:
            ran, waited = map(int, file.read().split()[:2])
    except (OSError, ValueError):
        return 0.0
    return waited / (ran + waited) if ran + waited > 0 else 0.0


def on_fresh_stack(function: Any) -> Any:
    """`function`, whose frames begin a new chunk of the thread's stack with room for everything it calls.

    Python allocates frames in chunks of 16 kB, and frees a chunk as soon as the first frame in it returns
    (`_PyThreadState_PopFrame`, 3.11 to 3.13): calls from the very end of a chunk allocate and free memory each time,
    which takes 10 µs instead of 20 ns. A chunk's size is a power of two, so a frame of a little over half of one leaves
    nearly the other half free. Only memory that is used is ever mapped.
    """
    function.__code__ = function.__code__.replace(co_stacksize=_ROOM // _SLOT)
    return function


_ROOM: Final = 1 << 20
_SLOT: Final = 8
"""Bytes."""


def uncounted(function: Any) -> Any:
    """`function`, whose frame is passed over by what looks for the caller to name: `warnings`, `logging` and torch."""
    code = function.__code__
    known = _UNCOUNTED.get(id(code))
    if known is None:
        known = _UNCOUNTED[id(code)] = code, code.replace(co_filename=uncounted_file())
    function.__code__ = known[1]
    untraced(function, what_they_call=False)
    return function


def uncounted_file() -> str:
    """The file name of such frames: that of the import system, which `warnings` and `logging` know by two words in it,
    written as a path that begins below torch's folder, by which torch knows its own frames. There is such a file, for
    whoever reads the lines of a frame.
    """
    return _import_system(os.path.dirname(getattr(sys.modules.get("torch"), "__file__", None) or ""))


@functools.cache
def _import_system(start: str) -> str:
    """Its file as a path that begins with `start`, if that is a folder's."""
    folder = os.path.dirname(os.path.realpath(importlib.__file__))
    return os.path.join(start, os.path.relpath(folder, os.path.realpath(start)) if start else folder, "_bootstrap.py")


_UNCOUNTED: Final[dict[int, tuple[types.CodeType, types.CodeType]]] = {}
"""Code object of ours, by identity because comparison is expensive → the same without a file name."""


def describe(error: BaseException) -> str:
    """An error of ours on one line: its type, its text, and where in our code."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].name} line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:300]}{place}"
