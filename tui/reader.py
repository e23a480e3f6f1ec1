"""Reads the dump off the screen's thread: one thread owns it, everybody else asks that thread."""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from inspect_compile.dump import Dump

T = TypeVar("T")


class Reader:
    """A dump that only its own thread touches: tables are read lazily, and a growing one changes while it is read."""

    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inspect-compile reader")

    async def read(self, build: Callable[[Dump], T]) -> T:
        """`build(dump)`, computed on the reader's thread. What it returns must not read the dump any more."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._built, build)

    def _built(self, build: Callable[[Dump], T]) -> T:
        # Thousands of records that stay: the cycle collector would walk over all of them again and again while they
        # are made, which is half of the time.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return build(self._dump)
        finally:
            if was_enabled:
                gc.enable()

    def close(self) -> None:
        """Let the thread end; what is still waiting is dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)
