"""Calls that are written down where they happen, and read many at a time."""

import threading
from collections.abc import Callable
from typing import Any

MOST_NOTES = 128
"""They are given away when there are so many."""


class Notes(list[tuple[str, Any, Any]]):
    """Calls that were written down, in their order, until `take` is given them.

    A call is (label, instance, arguments); the end of one that has others inside is (ENDED, result, None) or
    (FAILED, None, None).
    """

    def __init__(self, take: Callable[[list[tuple[str, Any, Any]]], None]) -> None:
        super().__init__()
        self._take = take

    def flush(self) -> None:
        """Give them away."""
        taken = self[:]
        self.clear()
        self._take(taken)


ENDED, FAILED = "ended", "failed"


class Desk(threading.local):
    """Where what runs on a thread is written down; None where nothing of it is."""

    notes: Notes | None = None
