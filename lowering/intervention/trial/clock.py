"""The clock of steps: finds what the program repeats, or times windows of steps that are bounded by it."""

import itertools
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

from inspect_compile.facts.trials import WARM, Place, Repeated, Request
from inspect_compile.lowering.intervention.trial.places import caller


class Clock:
    """Takes the time whenever the program does what can bound a step."""

    def __init__(self, request: Request, finished: Callable[[], None]) -> None:
        """`finished()` is called once the trial has seen enough; it does not return where it ends the program."""
        self._request = request
        self._finished = finished
        self._marks: dict[tuple[str, str, Place], list[float]] = {}
        self._last_compile = math.inf
        """The end of the last one; until there is one, the first time that anything was done."""
        self._compiling: float | None = None
        self._steps = 0
        """Since the last compile."""
        self._window: float | None = None
        self._is_done = False
        self.windows: list[float] = []
        self.compiles = 0
        self.compile_seconds = 0.0

    def compile_began(self, *_: Any) -> None:
        """A compile begins: the steps before it were not steady."""
        self._compiling = time.perf_counter()

    def compile_ended(self, *_: Any) -> None:
        """A compile has ended."""
        self._last_compile = time.perf_counter()
        if self._compiling is not None:
            self.compile_seconds += self._last_compile - self._compiling
        self.compiles += 1
        self._steps, self._window = 0, None
        self.windows.clear()

    def mark(self, what: str, name: str, depth: int) -> None:
        """The program does `what` now; `depth`: frames up to torch's or the program's."""
        if self._is_done:
            return
        asked = self._request.step
        if asked is not None:
            if what == asked.what and name == asked.name and caller(depth + 1) == asked.where:
                self._stepped()
            return
        now = time.perf_counter()
        if math.isinf(self._last_compile):
            self._last_compile = now
        self._marks.setdefault((what, name, caller(depth + 1)), []).append(now)
        if now - self._last_compile > self._request.seconds:
            self._done()

    def _stepped(self) -> None:
        self._steps += 1
        behind = self._steps - WARM - 1
        if behind < 0 or behind % self._request.steps:
            return
        _finish_work()
        now = time.perf_counter()
        if self._window is not None:
            self.windows.append((now - self._window) / self._request.steps)
        if len(self.windows) >= self._request.windows:
            self._done()
            return
        self._window = time.perf_counter()

    def _done(self) -> None:
        self._is_done = True
        self._finished()

    def repeated(self) -> tuple[Repeated, ...]:
        """What the program did at least twice, as often as it did."""
        return tuple(
            Repeated(what, name, where, len(marks), marks[-1] - marks[0], *self._steady(marks))
            for (what, name, where), marks in self._marks.items()
            if len(marks) > 1
        )

    def _steady(self, marks: list[float]) -> tuple[int, float]:
        after = [mark for mark in marks if mark > self._last_compile]
        between = [b - a for a, b in itertools.pairwise(after)]
        return len(after), statistics.median(between) if between else 0.0


def _finish_work() -> None:
    """Wait for what was launched on a GPU: a window is what its steps take, not how soon they are launched."""
    import torch

    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
