"""The clock of steps: finds what the program repeats, or times windows of steps that are bounded by it."""

import bisect
import itertools
import math
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

from inspect_compile.facts.trials import (
    COMPARING,
    COMPILING,
    IS_TIMED,
    STEPPING,
    TIMED,
    WAITING,
    WANTS_TURN,
    WARM,
    Place,
    Repeated,
    Request,
    Window,
)
from inspect_compile.lowering.intervention.trial.places import caller
from inspect_compile.lowering.intervention.trial.stages import Stages

_OFTEN: Final = 100
"""Repeated as often since the last compile, something has been seen enough."""


class Clock:
    """Takes the time whenever the program does what can bound a step."""

    def __init__(self, request: Request, stages: Stages, finished: Callable[[], None]) -> None:
        """`finished()` is called once the trial has seen enough; it does not return where it ends the program."""
        self._request = request
        self._stages = stages
        self._finished = finished
        self._marks: dict[tuple[str, str, Place], list[float]] = {}
        self._last_compile = math.inf
        """The end of the last one; until there is one, the first time that anything was done."""
        self._compiling: float | None = None
        self._steps = 0
        """Since the last compile."""
        self._next = WARM + 1
        """The step at which a window begins or ends."""
        self._turns = 0
        self._has_turn = False
        self._window: float | None = None
        """When it began; None where none is open."""
        self._is_done = False
        self.windows: list[Window] = []
        self.compiles = 0
        self.compile_seconds = 0.0

    def compile_began(self, *_: Any) -> None:
        """A compile begins: the steps before it were not steady."""
        self._compiling = time.perf_counter()
        self._stages.enter(COMPILING)

    def compile_ended(self, *_: Any) -> None:
        """A compile has ended."""
        self._last_compile = time.perf_counter()
        self._stages.enter(STEPPING)
        if self._compiling is not None:
            self.compile_seconds += self._last_compile - self._compiling
        self.compiles += 1
        self._steps, self._next, self._window = 0, WARM + 1, None
        self.windows.clear()

    def mark(self, what: str, name: str, depth: int) -> None:
        """The program does `what` now; `depth`: frames up to torch's or the program's."""
        if self._is_done:
            return
        self._stages.first_step()
        asked = self._request.step
        if asked is not None:
            if what == asked.what and name == asked.name and caller(depth + 1) == asked.where:
                self._stepped()
            return
        now = time.perf_counter()
        if math.isinf(self._last_compile):
            self._last_compile = now
        marks = self._marks.setdefault((what, name, caller(depth + 1)), [])
        marks.append(now)
        watched, most = now - self._last_compile, self._request.seconds
        is_often = watched > most / 3 and len(marks) - bisect.bisect(marks, self._last_compile) >= _OFTEN
        if watched > most or is_often:
            self._done()

    def _stepped(self) -> None:
        self._steps += 1
        if self._steps < self._next:
            return
        if self._window is not None:
            _finish_work()
            seconds = (time.perf_counter() - self._window) / self._request.steps
            self.windows.append(Window(self._turns, seconds))
            self._window, self._has_turn = None, False
            if len(self.windows) >= self._request.windows:
                self._say_and_wait(IS_TIMED)
                self._stages.enter(COMPARING)
                self._done()
                return
        if not self._has_turn:
            self._take_turn()
            self._next = self._steps + self._request.settle
            return
        self._next = self._steps + self._request.steps
        _finish_work()
        self._window = time.perf_counter()

    def _take_turn(self) -> None:
        """Wait until no other trial runs."""
        self._say_and_wait(WANTS_TURN)
        self._stages.enter(TIMED)
        self._turns += 1
        self._has_turn = True

    def _say_and_wait(self, what: bytes) -> None:
        if self._request.turns >= 0:
            self._stages.enter(WAITING)
            os.write(self._request.turns, what)
            os.read(self._request.turns, 1)

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
