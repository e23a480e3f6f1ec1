"""What a trial spends its time on."""

import time

from inspect_compile.facts.trials import BEFORE_STEPS, BEFORE_TORCH, IMPORTING, STAGES, STEPPING, Spent


class Stages:
    """Seconds of each, of which one is entered when another one is left."""

    def __init__(self, asked: float, importing: float) -> None:
        """When the trial was asked for, and when the import of torch began, by `time.monotonic`; it has just ended."""
        self._now = BEFORE_STEPS
        self._since = time.monotonic()
        self._seconds = {BEFORE_TORCH: importing - asked, IMPORTING: self._since - importing}

    def enter(self, stage: str) -> None:
        """What was done until now is done, and `stage` begins."""
        now = time.monotonic()
        self._seconds[self._now] = self._seconds.get(self._now, 0.0) + now - self._since
        self._now, self._since = stage, now

    def first_step(self) -> None:
        """Something that could bound a step is done, maybe for the first time."""
        if self._now == BEFORE_STEPS:
            self.enter(STEPPING)

    def until(self, now: float) -> tuple[Spent, ...]:
        """All of them, the last one until `now`."""
        seconds = {**self._seconds, self._now: self._seconds.get(self._now, 0.0) + now - self._since}
        return tuple(Spent(name, seconds[name]) for name in STAGES if name in seconds)
