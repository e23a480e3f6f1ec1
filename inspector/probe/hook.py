"""One hook's life and its account."""

from inspect_compile.facts import Hook

ALWAYS_TIMED = 2
"""Of a hook of which one call in so many is timed, the first ones are all the same: a slow one must not slow many."""


class HookState:
    """One hook's life: installed, then perhaps failed; its calls and its cost in seconds of our own code."""

    def __init__(self, probe: str, target: str, every: int = 1, *, patient: bool = False) -> None:
        self.probe, self.target = probe, target
        self.off = False
        self.patient = patient
        """May it take its time? A person asked for what it does."""
        self.every = every
        """One call in so many is timed."""
        self.calls = 0
        self.seconds = 0.0
        self._timed, self._last = 0, 0.0
        """The call that was timed last, and what it cost."""
        self.state, self.reason = "installed", ""

    def cost(self, seconds: float, *, has_collected: bool = False) -> None:
        """A part of the hook was timed. Where not each call is, it counts for those since the last one that was.

        The first one may have had more to do, and one that was interrupted must not stand for all. What holds a full
        garbage collection counts as a call did until now, but for the first one.
        """
        if has_collected and self.calls > 1:
            seconds = min(seconds, self.seconds / (self.calls - 1))
        self.seconds += seconds
        if self.every > 1:
            self.seconds += max(self.calls - self._timed - 1, 0) * min(seconds, self._last)
            self._timed, self._last = self.calls, seconds

    def forget(self) -> None:
        """Begin to count again."""
        self.calls, self.seconds = 0, 0.0
        self._timed, self._last = 0, 0.0

    def fact(self, state: str | None = None) -> Hook:
        """The state as a fact."""
        return Hook(
            probe=self.probe,
            target=self.target,
            state=state or self.state,
            reason=self.reason,
            calls=self.calls,
            seconds=round(self.seconds, 6),
        )
