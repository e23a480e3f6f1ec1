"""The search: each change is tried on top of those that were kept, in runs that take turns with a run without it."""

import math
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.paired import (
    DIFFER,
    LEAST,
    RANDOM,
    Gain,
    Moves,
    Numbers,
    farthest,
    gain,
    noise,
    numbers,
    ratio,
)
from inspect_compile.facts.trials import (
    FAILED,
    KEPT,
    NO_GAIN,
    NOT_COMPARED,
    NUMBERS,
    PRECISION,
    WARM,
    Answer,
    Change,
    Distance,
    Repeated,
    TriedChange,
)
from inspect_compile.knowledge.tuning import Candidate, is_likelier
from inspect_compile.launch.tune.trials import Ran, Trials

_SAME: Final = 3
"""Pairs of runs of the program as it is, before anything is tried: the noise is what these differ by."""
_PAIRS: Final = 4
"""The most runs beside one without it that a gain rests on."""
_FEWEST_PAIRS: Final = 2
"""The fewest, if there is time for them."""
_WINDOW: Final = 0.1
"""Seconds that a window of steps takes at least, so that reading a clock and waiting for a GPU do not count."""
_SETTLE: Final = 8
"""A part of a window that is not timed at its beginning: caches hold what another process left there."""
_WINDOWS: Final = 12
_SPANS: Final = 3
FEWEST: Final = WARM + 1 + 2 * _SPANS
"""The fewest steps after the last compile that say anything."""
_MOST_BESIDE: Final = 3
"""Changes that are tried at once, beside one run without them."""
_LATELY: Final = 4
"""Rounds of runs by which it is judged how long the next one takes."""
_CORES: Final = 4
"""That each of them wants while it starts and compiles."""
_MEMORY: Final = 0.7
"""The part of a device's memory that programs at once may need by what their allocators held."""


class Windows(NamedTuple):
    """How many spans of so many steps each are timed in a run."""

    windows: int
    steps: int
    settle: int
    """Steps before each of them that are not timed."""


def windows_for(step: Repeated) -> Windows | None:
    """What to time in a program that does this many steps; None if they are too few."""
    left = step.since_compile - WARM - 1
    steps = max(1, min(round(_WINDOW / max(step.seconds, 1e-9) + 0.5), left // (2 * _SPANS)))
    settle = max(1, steps // _SETTLE)
    windows = min(_WINDOWS, left // (steps + settle))
    return Windows(windows, steps, settle) if windows >= _SPANS else None


def at_once(seen: Answer) -> int:
    """How many changes can be tried beside a run without them; 0: the machine holds one run at a time."""
    fit = int(_MEMORY * seen.memory_bytes / max(1, seen.peak_bytes)) - 1
    return max(0, min(fit, _MOST_BESIDE, max(1, len(os.sched_getaffinity(0)) // _CORES)))


class _Asked(NamedTuple):
    """A run."""

    changes: tuple[Change, ...] = ()
    is_nudged: bool = False


class _Beside(NamedTuple):
    """A run with a change, beside one without it."""

    candidate: Candidate
    ran: Ran
    ratio: float | None
    """Of a step's time to that without it; None where one of them was not timed."""


class Search:
    """The runs of one search."""

    def __init__(
        self,
        trials: Trials,
        step: Repeated,
        windows: Windows,
        first: Answer,
        until: float,
        tell: Callable[[TriedChange], None],
    ) -> None:
        """`first`: what the first run saw; `until`: the time of `time.monotonic` after which nothing more is begun;
        `tell` gets each row.
        """
        self._trials, self._step, self._windows = trials, step, windows
        self._at_once = at_once(first)
        self._until, self._tell = until, tell
        self._ends = math.inf
        """When runs are ended: those of the program as it is, and those of all kept changes together, never are."""
        self._lately: deque[float] = deque(maxlen=_LATELY)
        """How long the last runs took."""
        self._same: list[float] = []
        self._moves = Moves()
        self._plain: list[float] = []
        self.kept: list[Candidate] = []
        self.eager: float | None = None
        self.peak_bytes = first.peak_bytes
        self.steps = 0
        """Number of steps that were timed of the program as it is."""

    @property
    def runs(self) -> int:
        """Of the program as it is."""
        return len(self._plain)

    @property
    def seconds(self) -> float:
        """Of a step of the program as it is."""
        return statistics.median(self._plain)

    @property
    def noise(self) -> float:
        """The part of a step that a gain must be above."""
        return max(noise(self._same, _PAIRS), LEAST)

    def begin(self, without: Candidate | None) -> str:
        """Run the program as it is beside itself, and without torch.compile; returns why that cannot be done."""
        plain = _Asked()
        asked = [(plain, _Asked(is_nudged=True)), *[(plain, plain)] * (_SAME - 1)]
        if without is not None:
            asked.insert(1, (plain, _Asked(without.changes)))

        def run() -> tuple[list[tuple[Ran, Ran]], str]:
            ran = [pair for group in self._pairs(asked) for pair in group]
            same = (pair for (_, other), pair in zip(asked, ran, strict=False) if not other.changes)
            return ran, _first_failure(same)

        ran, failure = run()
        if self._at_once and failure:  # both want one port, or all the memory
            self._at_once = 0
            ran, failure = run()
        if failure:
            return failure
        again: list[Sequence[Distance]] = []
        for (_, other), pair in zip(asked, ran, strict=False):
            distances = [() if one.answer is None else one.answer.distances for one in pair]
            again.append(distances[0])
            found = _ratio(*pair)
            if other.changes:
                self.eager = None if found is None else self.seconds * found
                self._moves.eager = farthest(distances[1:])
            elif other.is_nudged:
                self._moves.nudged = farthest(distances[1:])
            else:
                again.append(distances[1])
            if not other.changes and found is not None:
                self._same.append(found)
        self._moves.again = farthest(again)
        self._ends = self._until
        return ""

    def search(self, candidates: Iterable[Candidate], *, with_precision: bool) -> None:
        """Try each; those that were tried before something else was kept are tried again on top of it, at once where
        they are likelier to help then.
        """
        waiting = list(candidates)
        while waiting:
            nothing: list[tuple[Candidate, int]] = []
            while waiting:
                kept = len(self.kept)
                if not self._has_time(runs=1 + (_FEWEST_PAIRS if kept else 0)):
                    return
                group = self._next_of(waiting)
                waiting = [one for one in waiting if one not in group]
                hopeful = []
                for one in self._beside(group):
                    if one.ratio is None and time.monotonic() >= self._until:
                        continue  # it was cut off: nothing is known of it
                    if (outcome := self._first_look(one)) is None:
                        hopeful.append(one)
                    elif outcome == NO_GAIN:
                        nothing.append((one.candidate, kept))
                for one in sorted(hopeful, key=lambda one: one.ratio or 1.0):
                    if len(self.kept) > kept:  # it was seen on top of less
                        waiting.insert(0, one.candidate)
                    elif self._judge(one, with_precision=with_precision) == NO_GAIN:
                        nothing.append((one.candidate, kept))
                if len(self.kept) > kept:
                    likelier = [one for one, _ in nothing if is_likelier(one, self.kept[-1])]
                    nothing = [one for one in nothing if one[0] not in likelier]
                    waiting = sorted([*likelier, *waiting], key=lambda one: not is_likelier(one, self.kept[-1]))
            waiting = [candidate for candidate, kept in nothing if kept < len(self.kept)]

    def _next_of(self, waiting: Sequence[Candidate]) -> list[Candidate]:
        """What is tried at once; what compiles long would hold up the others."""
        group = waiting[: max(1, self._at_once)]
        return [one for one in group if not one.compiles_long] or list(group[:1])

    def together(self) -> Gain | None:
        """What all that was kept saves of the program as it is; None if nothing was kept."""
        if not self.kept:
            return None
        self._ends = math.inf
        ratios = self._measured(_Asked(), _Asked(self._changes()), [])
        return gain(ratios, self._same) if ratios else None

    def is_gain(self, found: Gain) -> bool:
        """Whether it can be claimed."""
        return found.part > found.plus_minus and found.part >= self.noise

    def _first_look(self, one: _Beside) -> str | None:
        """The outcome, if one run is enough to know it."""
        if one.ratio is None:
            return self._row(one.candidate, FAILED, why=_why_not(one.ran) or "it could not be timed")
        assert one.ran.answer is not None
        found = gain([one.ratio], self._same)
        if found.part + found.plus_minus < LEAST or (found.part <= 0 and one.candidate.predicted is None):
            return self._row(one.candidate, NO_GAIN, found, one.ran)
        judged = numbers(one.ran.answer.distances, self._moves)
        if judged.verdict == DIFFER and not one.candidate.is_precision:
            return self._row(one.candidate, NUMBERS, found, one.ran, judged)
        return None

    def _judge(self, one: _Beside, *, with_precision: bool) -> str:
        """A change that looks faster: measured more often."""
        candidate, ran = one.candidate, one.ran
        assert one.ratio is not None
        assert ran.answer is not None
        changes = self._changes()
        ratios = self._measured(_Asked(changes), _Asked((*changes, *candidate.changes)), [one.ratio])
        judged = numbers(ran.answer.distances, self._moves)
        measured = gain(ratios, self._same)
        if not self.is_gain(measured):
            return self._row(candidate, NO_GAIN, measured, ran, judged)
        if candidate.is_precision and not with_precision:
            return self._row(candidate, PRECISION, measured, ran, judged)
        if judged.verdict in (RANDOM, NOT_COMPARED):
            return self._row(candidate, NOT_COMPARED, measured, ran, judged)
        self.kept.append(candidate)
        return self._row(candidate, KEPT, measured, ran, judged)

    def _is_open(self, ratios: Sequence[float]) -> bool:
        """Could more runs change what is said?"""
        found = gain(ratios, self._same)
        is_clear = found.part - found.plus_minus > self.noise or found.part + found.plus_minus < self.noise
        return len(ratios) < _FEWEST_PAIRS or not is_clear

    def _changes(self) -> tuple[Change, ...]:
        return tuple(change for one in self.kept for change in one.changes)

    def _measured(self, before: _Asked, after: _Asked, ratios: list[float]) -> list[float]:
        """`ratios`, and those of more runs until enough is known."""
        for group in self._pairs([(before, after)] * (_PAIRS - len(ratios))):
            ratios = [*ratios, *(found for pair in group if (found := _ratio(*pair)) is not None)]
            if not self._is_open(ratios):
                break
        return ratios

    def _pairs(self, asked: Sequence[tuple[_Asked, _Asked]]) -> Iterator[list[tuple[Ran, Ran]]]:
        """The runs of each pair, beside each other; several pairs at once where they fit."""
        width = max(1, (self._at_once + 1) // 2)
        for start in range(0, len(asked), width):
            if start and not self._has_time(runs=1):
                return
            ran = self._run([one for pair in asked[start : start + width] for one in pair])
            yield list(zip(ran[::2], ran[1::2], strict=True))

    def _beside(self, candidates: Sequence[Candidate]) -> list[_Beside]:
        """Run each on top of what was kept, beside one run without any of them."""
        changes = self._changes()
        plain, *ran = self._run([_Asked(changes), *(_Asked((*changes, *one.changes)) for one in candidates)])
        return [self._compared(*each, plain) for each in zip(candidates, ran, strict=True)]

    def _compared(self, candidate: Candidate, ran: Ran, plain: Ran) -> _Beside:
        """What fails beside others is run again without them: they may have had its port, or its memory."""
        changes = self._changes()
        if self._at_once and _why_not(ran) and self._has_time(runs=1):
            (ran,) = self._run([_Asked((*changes, *candidate.changes))], at_once=False)
            if not _why_not(ran):
                (plain,) = self._run([_Asked(changes)], at_once=False)
        return _Beside(candidate, ran, _ratio(plain, ran))

    def _run(self, asked: Sequence[_Asked], *, at_once: bool = True) -> list[Ran]:
        ran = self._trials.run(
            [one._asdict() for one in asked],
            at_once=at_once and self._at_once > 0,
            until=self._ends,
            step=self._step,
            **self._windows._asdict(),
        )
        self._lately.append(max(one.seconds for one in ran))
        for request, one in zip(asked, ran, strict=True):
            if not request.changes and one.answer is not None and one.answer.windows:
                self._plain.append(statistics.median(window.seconds for window in one.answer.windows))
                self.steps += len(one.answer.windows) * self._windows.steps
        return ran

    def _has_time(self, runs: int) -> bool:
        return time.monotonic() + runs * max(self._lately, default=0.0) < self._until

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
            promised_by=candidate.promised_by,
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


def _ratio(before: Ran, after: Ran) -> float | None:
    if before.answer is None or after.answer is None or after.failure:
        return None
    return ratio(before.answer.windows, after.answer.windows)


def _first_failure(pairs: Iterable[tuple[Ran, Ran]]) -> str:
    return next((why for pair in pairs for ran in pair if (why := _why_not(ran))), "")


def _why_not(ran: Ran) -> str:
    """Why its steps were not timed; empty if they were."""
    if ran.failure or (ran.answer is not None and ran.answer.windows):
        return ran.failure
    return "it ended before its steps could be timed"
