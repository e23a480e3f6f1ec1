"""The state and cost of one hook."""

from inspect_compile.facts import Hook

ALWAYS_TIMED = 2
"""If only one call in several is timed, this many first calls are timed anyway: a slow hook must not slow down many
calls.
"""
INTERRUPTED = 32
"""More than the dearest calls of a hook cost in comparison with the cheapest, and far less than an interruption."""


class HookState:
    """State of one hook (installed, perhaps failed), its number of calls, and the seconds spent in our own code."""

    def __init__(self, probe: str, target: str, every: int = 1, *, patient: bool = False) -> None:
        self.probe, self.target = probe, target
        self.off = False
        self.patient = patient
        """True if it is never turned off for its cost: the user asked for what it does."""
        self.every = every
        """One call in this many is timed."""
        self.calls = 0
        self.seconds = 0.0
        self.looked_at = 0.0
        """Its seconds when they were last held against the limit."""
        self._timed, self._last = 0, 0.0
        """Index of the last call that was timed, and its cost."""
        self.state, self.reason = "installed", ""
        self.since = ""

    def cost(self, seconds: float, *, has_collected: bool = False, collecting: float = 0.0) -> None:
        """Add the time of a call. If not every call is timed, it counts for all calls since the last one that was.

        The first call may have had more to do, and an interrupted one must not stand for the others: it counts for them
        as at most INTERRUPTED times the one before. A full garbage collection does not count: `collecting` is what it
        took in a first call; a later one counts as the average so far.
        """
        if collecting:
            seconds = max(seconds - collecting, 0.0)
        elif has_collected and self.calls > 1:
            seconds = min(seconds, self.seconds / (self.calls - 1))
        self.seconds += seconds
        if self.every > 1:
            self.seconds += max(self.calls - self._timed - 1, 0) * min(seconds, INTERRUPTED * self._last)
            self._timed, self._last = self.calls, seconds

    def forget(self) -> None:
        """Start counting again."""
        self.calls, self.seconds, self.looked_at = 0, 0.0, 0.0
        self._timed, self._last = 0, 0.0

    def fact(self, state: str | None = None) -> Hook:
        """The state as a fact."""
        return Hook(
            probe=self.probe,
            target=self.target,
            state=state or self.state,
            reason=self.reason,
            since=self.since,
            calls=self.calls,
            seconds=round(self.seconds, 6),
        )
