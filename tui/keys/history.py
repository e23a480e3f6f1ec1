"""The selections of a session, to step back and forward through."""

from typing import NamedTuple

from inspect_compile.tui.models.outline import Place
from inspect_compile.tui.models.sheet import Subject

MOST = 200
"""Maximum number of selections that are kept."""


class Stop(NamedTuple):
    """One selection, and where it was made."""

    place: Place
    view: str
    subject: Subject


class History:
    """Selections in their order, and the current one. A walk from row to row of one list is one selection."""

    def __init__(self) -> None:
        self._stops: list[Stop] = []
        self._at = -1

    def add(self, stop: Stop, *, is_step: bool) -> None:
        """A selection was made; with `is_step` by moving on to the next row. Those that came after are dropped."""
        now = self._stops[self._at] if self._at >= 0 else None
        if now == stop:
            return
        is_same_walk = is_step and now is not None and (now.place.name, now.view) == (stop.place.name, stop.view)
        kept = self._stops[: self._at if is_same_walk else self._at + 1]
        self._stops = [*kept[-MOST:], stop]
        self._at = len(self._stops) - 1

    def step(self, by: int) -> Stop | None:
        """The next selection (1) or the one before (-1); None at the ends."""
        at = self._at + by
        if not 0 <= at < len(self._stops):
            return None
        self._at = at
        return self._stops[at]

    @property
    def now(self) -> Stop | None:
        """The current selection."""
        return self._stops[self._at] if self._at >= 0 else None
