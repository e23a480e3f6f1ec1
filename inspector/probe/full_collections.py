"""Times a full garbage collection that strikes during a call.

Only a callback of `gc` can see one begin and end, and an exception in a callback is lost: so would a Ctrl-C be that
strikes while a callback in Python runs. These callbacks are two functions of the C library, which ctypes calls: one
moves the times that are there, one writes the time before them. Neither looks at what `gc` tells them.
"""

import contextlib
import ctypes
import functools
import gc
import sys
import time
from typing import Any, Final

from inspect_compile.at_start import AtStart

_TIMES: Final = 64
"""How many times are kept, two for each collection of any generation: the newest ones."""
_TIME: Final = 16
"""Bytes of one: seconds and nanoseconds, the `timespec` of a system with 64 bits."""
_IS_KNOWN: Final = sys.platform in ("linux", "darwin") and sys.maxsize > 1 << 32
"""Whether a `timespec` is what is said above."""


class CollectionTimer:
    """Times the collections of the process from when it is made until `full` is asked for."""

    def __init__(self) -> None:
        self._before = _full_so_far()
        self._words = words = (ctypes.c_int64 * (_TIME // 8 * _TIMES))()
        self._callbacks: list[Any] = []
        if not _IS_KNOWN:
            return
        moves, writes = _functions()
        self._callbacks = [
            functools.partial(moves, ctypes.byref(words, _TIME), words, _TIME * (_TIMES - 1)),
            functools.partial(writes, time.CLOCK_MONOTONIC, words),
        ]
        gc.callbacks.extend(self._callbacks)

    def full(self) -> float:
        """Seconds of the full collection so far, the longest one; 0 if there was none. No more are timed."""
        for callback in self._callbacks:
            with contextlib.suppress(ValueError):  # the program has emptied the list
                gc.callbacks.remove(callback)
        self._callbacks = []
        words = self._words
        if not words[0] or _full_so_far() == self._before:
            return 0.0
        times = [seconds + ns / 1e9 for seconds, ns in zip(words[::2], words[1::2], strict=True)]  # the newest first
        return max(ended - began for ended, began in zip(times[::2], times[1::2], strict=True))


def _full_so_far() -> int:
    """How many full collections there were."""
    return int(AtStart.collection_stats()[-1]["collections"])


@functools.cache
def _functions() -> tuple[Any, Any]:
    """C's `memmove` and `clock_gettime`, which get the two arguments of a callback of `gc` besides, and ignore them."""
    library = ctypes.PyDLL(None)
    moves, writes = library["memmove"], library["clock_gettime"]
    of_callback = ctypes.py_object, ctypes.py_object
    moves.argtypes, moves.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, *of_callback), None
    writes.argtypes, writes.restype = (ctypes.c_int, ctypes.c_void_p, *of_callback), None
    return moves, writes
