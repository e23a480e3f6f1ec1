"""Suppresses log messages that torch would write because we had it render something, not because of the program."""

import contextlib
import logging
import threading
from collections.abc import Iterator

from inspect_compile.probe import let_pass


class _Rendering(threading.local):
    """Whether this thread is rendering for us."""

    deep = 0


_RENDERING = _Rendering()


class _Unheard(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if not _RENDERING.deep:
            return True
        if record.exc_info and record.exc_info[1] is not None:
            let_pass(record.exc_info[1])  # torch ignores whatever was raised
        return False


_UNHEARD = _Unheard()


@contextlib.contextmanager
def muted(logger: logging.Logger | None) -> Iterator[None]:
    """While open, what this thread writes to `logger` is dropped."""
    if logger is not None:
        logger.addFilter(_UNHEARD)  # which adds it once
    _RENDERING.deep += 1
    try:
        yield
    finally:
        _RENDERING.deep -= 1
