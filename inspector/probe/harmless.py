"""What makes a hook harmless. A probe only observes; what goes wrong in it becomes a fact, and the program goes on."""

import gc
import signal
import threading
import time
import traceback
import types
from collections.abc import Callable
from typing import Any, Final

from inspect_compile.dump import Writer
from inspect_compile.probe.hook import HookState

SLOW_SECONDS = 2.0
SLOW_SHARE = 0.05
"""A hook that has cost more than both, the share being that of the time that was spent compiling, stands aside."""
PAUSE_SECONDS = 10.0
"""Where hooks are silent for longer than this, nothing was compiled in between."""


class _Nested(threading.local):
    """Seconds that hooks have cost inside the hook that runs on this thread: they are counted as theirs alone."""

    seconds = 0.0


class Guard:
    """Runs the hooks of one process. `sink` is where they write; it can be exchanged (after a fork)."""

    def __init__(self, sink: Writer) -> None:
        self.sink = sink
        self.spent = 0.0
        """Seconds that all hooks have cost."""
        self._compiling = 0.0
        """Seconds spent compiling, as far as hooks can tell."""
        self._last = time.perf_counter()
        self._nested = _Nested()

    def guard(self, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        """Run a part of a hook: its time is counted, an error turns the hook off and is recorded. Returns None then.

        A full garbage collection that falls into it is the program's: it comes as often without us, and in a program
        with many objects it takes seconds. Only a callback of `gc` could time it, and in such a one Ctrl-C is lost.

        What is the program's own passes, without a trace of us: KeyboardInterrupt, SystemExit, and what a signal
        handler of the program raises while we run.
        """
        nested = self._nested
        before, nested.seconds = nested.seconds, 0.0
        since_full = gc.get_count()[-1]
        start = time.perf_counter()
        try:
            return call(*args)
        except BaseException as error:
            if not self.fails(hook, error):
                raise
            return None
        finally:
            now = time.perf_counter()
            known = hook.seconds
            hook.cost(now - start - nested.seconds, has_collected=gc.get_count()[-1] < since_full)
            self.spent += hook.seconds - known
            nested.seconds = before + now - start
            self._compiling += now - (self._last if start - self._last < PAUSE_SECONDS else start)
            self._last = now
            if not hook.patient and hook.seconds > SLOW_SECONDS and hook.seconds > SLOW_SHARE * self._compiling:
                hook.off = True
                hook.state, hook.reason = "failed", f"stood aside: it cost {hook.seconds:.1f} s in {hook.calls} calls"
                self.record(hook)

    def untimed(self, hook: HookState, call: Callable[..., Any], *args: Any) -> None:
        """As `guard`, of what is called too often to be timed."""
        try:
            call(*args)
        except BaseException as error:
            if not self.fails(hook, error):
                raise

    def fails(self, hook: HookState, error: BaseException) -> bool:
        """Turn a hook off for an error of ours; False for what is the program's own."""
        handler = in_signal_handler(error.__traceback__)
        if handler is not None or not isinstance(error, Exception):
            error.__traceback__ = handler
            return False
        hook.off = True
        hook.state = "failed"
        hook.reason = describe(error)
        # The traceback holds the frames of the compiler, and with them tensors: nothing of it may outlive this.
        error.__traceback__ = None
        self.record(hook)
        return True

    def record(self, hook: HookState) -> None:
        """Write what became of a hook."""
        self.sink.add(hook.fact())


def roomy(function: Any) -> Any:
    """`function`, whose frames begin a chunk of the thread's stack that has room for all that it calls.

    Python keeps frames in chunks of 16 kB, and gives a chunk back as soon as the first frame in it returns
    (`_PyThreadState_PopFrame`, 3.11 to 3.13): what calls functions from the very end of one maps and unmaps memory each
    time, which takes 10 µs in the place of 20 ns. A chunk is a power of two, so that behind a frame of a little over a
    half of one nearly another half is left. Of the memory only what is used is ever there.
    """
    function.__code__ = function.__code__.replace(co_stacksize=_ROOM // _SLOT)
    return function


_ROOM: Final = 1 << 20
_SLOT: Final = 8
"""Bytes."""


def uncounted(function: Any) -> Any:
    """`function`, whose frame `warnings` and `logging` pass over when they count frames to say who is to blame.

    Both take a frame of this file name for one of the import system.
    """
    code = function.__code__
    known = _WITHOUT_FILE.get(id(code))
    if known is None:
        known = _WITHOUT_FILE[id(code)] = code, code.replace(co_filename="<frozen importlib._bootstrap>")
    function.__code__ = known[1]
    return function


_WITHOUT_FILE: Final[dict[int, tuple[types.CodeType, types.CodeType]]] = {}
"""Code of ours, by identity since it compares by all that it holds → the same, and without a file."""


def leave_traceback(error: BaseException) -> None:
    """Take the running except clause's own frame, the newest entry, out of the traceback: a bare `raise` adds none."""
    traceback = error.__traceback__
    error.__traceback__ = None if traceback is None else traceback.tb_next


def in_signal_handler(found: types.TracebackType | None) -> types.TracebackType | None:
    """The part of a traceback that begins in one of the program's signal handlers, or None."""
    if found is None or found.tb_next is None:
        return None
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = [code for handler in handlers if (code := getattr(handler, "__code__", None)) is not None]
    while found is not None and found.tb_frame.f_code not in codes:
        found = found.tb_next
    return found


def describe(error: BaseException) -> str:
    """An error of ours in one line: its kind, its text, and where in our code."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].name} line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:300]}{place}"
