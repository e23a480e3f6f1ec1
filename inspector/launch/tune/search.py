"""The search: each change is tried on top of those that were kept, in runs that alternate with runs without it."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.paired import (
    DIFFER,
    LEAST,
    RANDOM,
    Gain,
    Numbers,
    gain,
    noise,
    numbers,
)
from inspect_compile.facts.trials import (
    FAILED,
    KEPT,
    NO_GAIN,
    NOT_COMPARED,
    NUMBERS,
    PRECISION,
    WARM,
    Change,
    Distance,
    Repeated,
    TriedChange,
)
from inspect_compile.knowledge.tuning import Candidate
from inspect_compile.launch.tune.trials import Ran, Trials

_FIRST_RUNS: Final = 3
"""Runs of the program as it is, before anything is tried: the noise is what these differ by."""
_PAIRS: Final = 4
"""Pairs of runs that a gain rests on; one where the first shows none and nothing promises any."""
_LEAST_TOGETHER: Final = 4
"""Runs that are left for all kept changes together, and the program as it is."""
_WINDOW: Final = 0.2
"""Seconds that a window of steps takes at least, so that reading a clock and waiting for a GPU do not count."""
_WINDOWS: Final = 12
_SPANS: Final = 3
FEWEST: Final = WARM + 1 + _SPANS
"""The fewest steps behind the last compile that say anything."""


class Windows(NamedTuple):
    """How many spans of so many steps each are timed in a run."""

    windows: int
    steps: int


def windows_for(step: Repeated) -> Windows | None:
    """What to time in a program that does this many steps; None if they are too few."""
    steps = max(1, round(_WINDOW / max(step.seconds, 1e-9) + 0.5))
    left = step.since_compile - WARM - 1
    if left < _SPANS:
        return None
    steps = min(steps, left // _SPANS)
    return Windows(min(_WINDOWS, left // steps), steps)


class Search:
    """The runs of one search."""

    def __init__(
        self, trials: Trials, step: Repeated, windows: Windows, until: float, tell: Callable[[TriedChange], None]
    ) -> None:
        """`until`: the time of `time.monotonic` after which nothing more is begun; `tell` gets each row."""
        self._trials, self._step, self._windows = trials, step, windows
        self._until, self._tell = until, tell
        self._longest = 0.0
        self._again: tuple[Distance, ...] = ()
        self._eager: tuple[Distance, ...] = ()
        self.plain: list[float] = []
        """Seconds of a step of each run of the program as it is."""
        self._before: list[float] = self.plain
        """The same of the program with what was kept."""
        self.kept: list[Candidate] = []
        self.eager: float | None = None
        self.peak_bytes = 0
        self.steps = 0
        """Number of steps that were timed of the program as it is."""

    @property
    def seconds(self) -> float:
        """Of a step of the program as it is."""
        return statistics.median(self.plain)

    @property
    def noise(self) -> float:
        """The part of a step that two runs of one program differ by."""
        return max(noise(self.plain), LEAST)

    def begin(self, without: Candidate | None) -> str:
        """Run the program as it is, and without torch.compile; returns why that cannot be done."""
        for _ in range(_FIRST_RUNS):
            ran = self._run(())
            found = _seconds(ran)
            if found is None or ran.answer is None:
                return ran.failure or "it ended before its steps could be timed"
            self.plain.append(found)
            self._again, self.peak_bytes = ran.answer.distances, ran.answer.peak_bytes
        if without is not None and (ran := self._run(without.changes)).answer is not None:
            self._eager, self.eager = ran.answer.distances, _seconds(ran)
        return ""

    def search(self, candidates: Iterable[Candidate], *, with_precision: bool) -> None:
        """Try each; those that were tried before something else was kept are tried again on top of it."""
        waiting = list(candidates)
        while waiting:
            tried: list[tuple[Candidate, int]] = []
            for candidate in waiting:
                if not self._has_time(runs=1 + (_LEAST_TOGETHER if self.kept else 0)):
                    return
                kept = len(self.kept)
                if self._try(candidate, with_precision=with_precision) == NO_GAIN:
                    tried.append((candidate, kept))
            waiting = [candidate for candidate, kept in tried if kept < len(self.kept)]

    def together(self) -> Gain | None:
        """What all that was kept saves of the program as it is; None if nothing was kept."""
        if not self.kept:
            return None
        changes = [change for one in self.kept for change in one.changes]
        pairs: list[tuple[float, float]] = []
        while len(pairs) < _PAIRS and (self._has_time(runs=2) or len(pairs) < _LEAST_TOGETHER // 2):
            before, after = _seconds(self._run(())), _seconds(self._run(changes))
            if before is None or after is None:
                break
            self.plain.append(before)
            pairs.append((before, after))
        return gain(pairs, self.plain) if pairs else None

    def _try(self, candidate: Candidate, *, with_precision: bool) -> str:
        ran = self._run((*self._changes(), *candidate.changes))
        found = _seconds(ran)
        if found is None:
            return self._row(candidate, FAILED, why=ran.failure or "it ended before its steps could be timed")
        if found >= self._before[-1] and candidate.predicted is None:
            return self._row(candidate, NO_GAIN, self._gain_of(found), ran)
        return self._judge(candidate, ran, found, with_precision=with_precision)

    def _judge(self, candidate: Candidate, ran: Ran, found: float, *, with_precision: bool) -> str:
        """A change whose first run was faster: measured in pairs, and its numbers compared."""
        assert ran.answer is not None
        judged = numbers(ran.answer.distances, self._again, self._eager)
        if judged.verdict == DIFFER and not candidate.is_precision:
            return self._row(candidate, NUMBERS, self._gain_of(found), ran, judged)
        pairs = [(self._before[-1], found)]
        changes = (*self._changes(), *candidate.changes)
        after = [found]
        while len(pairs) < _PAIRS and self._has_time(runs=2):
            before, again = _seconds(self._run(self._changes())), _seconds(self._run(changes))
            if before is None or again is None:
                break
            self._before.append(before)
            after.append(again)
            pairs.append((before, again))
        measured = gain(pairs, self._before)
        if measured.part - measured.plus_minus <= 0 or measured.part < self.noise:
            return self._row(candidate, NO_GAIN, measured, ran, judged)
        if candidate.is_precision and not with_precision:
            return self._row(candidate, PRECISION, measured, ran, judged)
        if judged.verdict in (RANDOM, NOT_COMPARED):
            return self._row(candidate, NOT_COMPARED, measured, ran, judged)
        self.kept.append(candidate)
        self._before = after
        return self._row(candidate, KEPT, measured, ran, judged)

    def _changes(self) -> tuple[Change, ...]:
        return tuple(change for one in self.kept for change in one.changes)

    def _gain_of(self, seconds: float) -> Gain:
        return gain([(self._before[-1], seconds)], self._before)

    def _run(self, changes: Sequence[Change]) -> Ran:
        ran = self._trials.run(changes, step=self._step, **self._windows._asdict())
        self._longest = max(self._longest, ran.seconds)
        if not changes and ran.answer is not None:
            self.steps += len(ran.answer.windows) * self._windows.steps
        return ran

    def _has_time(self, runs: int) -> bool:
        return time.monotonic() + runs * self._longest < self._until

    def _row(
        self,
        candidate: Candidate,
        outcome: str,
        measured: Gain | None = None,
        ran: Ran | None = None,
        judged: Numbers | None = None,
        *,
        why: str = "",
    ) -> str:
        answer = None if ran is None else ran.answer
        row = TriedChange(
            words=candidate.words,
            changes=candidate.changes,
            outcome=outcome,
            predicted=candidate.predicted,
            gain=None if measured is None else measured.part,
            plus_minus=None if measured is None else measured.plus_minus,
            pairs=0 if measured is None else measured.pairs,
            numbers=""
            if judged is None
            else " ".join(filter(None, (judged.verdict, judged.words and f"({judged.words})"))),
            peak_bytes=0 if answer is None else answer.peak_bytes,
            compile_seconds=0.0 if answer is None else answer.compile_seconds,
            why=why,
        )
        self._tell(row)
        return outcome


def _seconds(ran: Ran) -> float | None:
    """Seconds of a step, the lower quartile of the windows: other work on the machine only makes them longer. None if
    none was timed.
    """
    windows = sorted(ran.answer.windows) if ran.answer is not None and not ran.failure else []
    return windows[len(windows) // 4] if windows else None
