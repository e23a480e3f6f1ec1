"""Calls that are stored where they happen, and processed many at a time."""

import threading
from collections.abc import Callable
from typing import Any

MOST_NOTES = 128
"""Number of notes after which they are processed."""


class Notes(list[tuple[str, Any, Any]]):
    """Stored calls, in order, until they are passed to `take`.

    A call is (label, instance, arguments); the end of a call with others inside is (ENDED, result, None) or (FAILED,
    None, None).
    """

    def __init__(self, take: Callable[[list[tuple[str, Any, Any]]], None]) -> None:
        super().__init__()
        self._take = take

    def flush(self) -> None:
        """Process the stored calls."""
        taken = self[:]
        self.clear()
        self._take(taken)


ENDED, FAILED = "ended", "failed"


class ThreadCallBuffer(threading.local):
    """Where the calls of a thread are stored; None if nothing on it is recorded."""

    notes: Notes | None = None
