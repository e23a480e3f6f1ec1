"""Reads the outline of a dump, repeatedly while the dump grows."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from inspect_compile.dump import Dump
from inspect_compile.tui.models.outline import Outline, outline
from inspect_compile.tui.reader import Reader

POLL: Final = 0.25
"""Minimum time between two reads of a growing dump."""

SHARE: Final = 4
"""At most one part in this many of the time is spent on reading a growing dump."""


async def follow(
    reader: Reader, is_running: Callable[[], bool], told: Callable[[Outline, bool], Awaitable[None]]
) -> None:
    """Call `told(outline, has_grown)` at once, and after each read while the program or the dump is running.

    The first outline has no numbers of kernels, so that it comes quickly. The last read is after the end.
    """
    await told(await reader.read(partial(outline, with_kernels=False)), False)
    found = await reader.read(outline)
    await told(found, False)
    pause = POLL
    is_live = True
    while is_live:
        is_live = is_running() or found.is_growing
        if not is_live:
            return
        await asyncio.sleep(pause)
        started = time.monotonic()
        has_grown = await reader.read(Dump.refresh)
        if has_grown or not is_running():
            found = await reader.read(outline)
        await told(found, has_grown)
        pause = max(POLL, SHARE * (time.monotonic() - started))
