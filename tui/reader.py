"""Reads the dump on a separate thread: only that thread touches it, and everybody else asks it."""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from inspect_compile.dump import Dump

T = TypeVar("T")


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
            if was_enabled:
                gc.enable()

    def close(self) -> None:
        """End the thread; pending reads are dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)
