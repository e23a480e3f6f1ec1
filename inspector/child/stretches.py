"""Notes when nothing that is watched happens in a process, and what its main thread uses meanwhile.

Light: loaded at interpreter start. It only looks at clocks, where hooks are called anyway: no thread, no signal.
"""

import _thread
import os
import sys
import time

from inspect_compile.at_start import AtStart
from inspect_compile.child.imports import IMPORT_SYSTEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Taken = tuple[float, float, float, float | None]
    """When, in seconds since the epoch, and the processor time used so far: by the main thread, and by processes that
    this one has waited for; and how long the main thread has been ready to run and had no processor, None if not known.
    """

LONG = 0.1
"""Seconds from which on a stretch is noted."""
_MOST = 500
"""Stretches that wait to be written."""
_FRESH = 0.05
"""Seconds for which a look at the clocks is good: hooks may be called all the time."""


class Stretches:
    """The stretches of one process; a fork begins anew."""

    def __init__(self) -> None:
        self.found: list[tuple[Taken, Taken]] = []
        """Those that were not written yet: its beginning and its end."""
        self.looks_at_queue = False
        """Is the file of the system read that tells how long the main thread has waited for a processor? For 0.02 ms,
        and the program can hear of it (`sys.addaudithook`): only where facts are written to files, too.
        """
        self.touch = self._toucher()
        """To be called where something watched begins or ends."""

    def taken(self) -> "list[tuple[Taken, Taken]]":
        """Those that were not written yet; they are forgotten."""
        taken = self.found[:]
        del self.found[: len(taken)]
        return taken

    def _toucher(self) -> "Callable[[], None]":
        now, of_children, pid_now = AtStart.time, os.times, os.getpid
        of_thread = AtStart.clock
        pid, clock, found = 0, 0, self.found
        last: Taken | None = None

        def touch() -> None:
            nonlocal pid, clock, last
            try:
                at = now()
                if last is not None and 0.0 <= at - last[0] < _FRESH:
                    return
                if pid != pid_now():
                    pid, clock, last = pid_now(), _clock_of_main(), None
                    found.clear()
                children = of_children()
                queued = _queued() if self.looks_at_queue else None
                taken = at, of_thread(clock), children[2] + children[3], queued
                if last is not None and at - last[0] >= LONG and len(found) < _MOST:
                    found.append((last, taken))
                last = taken
            except Exception:
                return

        _pass_over(touch)
        return touch


def _queued() -> float | None:
    """Seconds in which the main thread was ready to run and had no processor; None where Linux does not say."""
    try:
        file = AtStart.open_descriptor("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        ran, queued, _ = os.read(file, 100).split()
    finally:
        AtStart.close(file)
    return int(queued) / 1e9 if int(ran) else None


def _clock_of_main() -> int:
    """The clock of the main thread's processor time."""
    threading = sys.modules.get("threading")
    main = _thread.get_ident() if threading is None else threading.main_thread().ident
    return time.pthread_getcpuclockid(main)


def _pass_over(*functions: "Callable[..., object]") -> None:
    """As frames of the import system they are passed over by what looks at each function that runs, as Dynamo does."""
    for function in functions:
        function.__code__ = function.__code__.replace(co_filename=IMPORT_SYSTEM)


_pass_over(_queued, _clock_of_main)
