"""Reads the dump on a separate thread, which alone touches it; repeatedly while the dump grows."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, TypeVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.outline import Outline, outline

T = TypeVar("T")

MANY_NEW: Final = 20_000
"""Number of new objects from which on they are left out of garbage collections: facts and rows have no cycles."""

POLL: Final = 0.25
"""Minimum time between two reads of a growing dump."""

SHARE: Final = 4
"""At most one part in this many of the time is spent on reading a growing dump."""


class Reader:
    """A dump that only its own thread touches: tables are read lazily, and change while a growing dump is read."""

    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inspect-compile reader")

    async def read(self, build: Callable[[Dump], T]) -> T:
        """`build(dump)`, computed on the reader's thread. The result must not access the dump any more."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._built, build)

    def _built(self, build: Callable[[Dump], T]) -> T:
        # Thousands of records stay alive: the garbage collector would walk them again and again while they are created,
        # which takes half of the time.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return build(self._dump)
        finally:
            if gc.get_count()[0] > MANY_NEW:
                gc.freeze()  # else the next collection, on the screen's thread, holds up keys for a fifth of a second
            if was_enabled:
                gc.enable()

    def close(self) -> None:
        """End the thread; pending reads are dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)


async def follow(
    reader: Reader,
    is_running: Callable[[], bool],
    show: Callable[[Outline, bool], Awaitable[None]],
    guarded: Callable[[], AbstractContextManager[None]],
) -> None:
    """Call `show(outline, has_grown)` at once, and after each read while the program or the dump is running.

    The first outline has no numbers of kernels, so that it comes quickly. The last read is after the end. What a read
    raises is left to `guarded`; the next one may find the dump whole again.
    """
    found = None
    for build in (partial(outline, with_kernels=False), outline):
        with guarded():
            found = await reader.read(build)
            await show(found, False)
    pause = POLL
    has_failed = found is None
    while is_running() or (found is not None and found.is_growing):
        await asyncio.sleep(pause)
        started = time.monotonic()
        is_missed, has_failed = has_failed, True
        with guarded():
            has_grown = await reader.read(Dump.refresh) or is_missed
            if has_grown or not is_running():
                found = await reader.read(outline)
            assert found is not None
            await show(found, has_grown)
            has_failed = False
        pause = max(POLL, SHARE * (time.monotonic() - started))
