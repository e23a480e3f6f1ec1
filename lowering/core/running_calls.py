"""The calls of the compiler that run on each thread, for what is recorded inside them."""

import itertools
import threading
from typing import Any, Final


class Running(threading.local):
    """The calls that run on this thread, innermost last."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.is_loading = False
        """Whether torch is loading a compile from its cache whose facts are kept: its calls are among them."""

    def innermost(self) -> int | None:
        """The number of the innermost call."""
        return self.rows[-1].index if self.rows else None


RUNNING = Running()
NUMBERS: Final = itertools.count()
"""Numbers of calls."""
