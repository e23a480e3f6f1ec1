"""Tells what happens while a program runs, at most some lines a second."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from inspect_compile.at_start import AtStart
from inspect_compile.child.live.events import Event, Watched
from inspect_compile.child.live.metrics import Metrics
from inspect_compile.child.live.words import line_of
from inspect_compile.child.stderr import Stderr
from inspect_compile.child.surroundings import rank
from inspect_compile.facts import Fact, Frame
from inspect_compile.interrupts import let_pass

AT_ONCE: Final = 20
A_SECOND: Final = 2.0
"""So many lines are printed at once, and so many more each second; the others are counted."""
_PAUSE: Final = 1.0
"""Seconds between two writes of the figures."""


class Live:
    """Is given every fact of its process as it is recorded. It raises nothing of its own: what fails ends the lines,
    and nothing else.
    """

    def __init__(
        self,
        say: Callable[[str], bool] | None,
        *,
        as_json: bool = False,
        metrics: Metrics | None = None,
        leader: int | None = None,
        after_fork: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = AtStart.monotonic,
    ) -> None:
        """`say` prints; None: nothing is. `leader`: the process whose lines do not say which one they are of."""
        self._say = say
        self._as_json = as_json
        self._metrics = metrics
        self._leader = leader
        self._after_fork = after_fork
        self._clock = clock
        self.trouble: str | None = None
        """Why there are no lines any more."""
        self._renew()

    def _renew(self) -> None:
        self._watched = Watched()
        self._room, self._at = float(AT_ONCE), self._clock()
        self._left_out = 0
        self._written = self._at

    def forked(self) -> None:
        """In the child of a fork."""
        self._after_fork()
        if self._metrics is not None:
            self._metrics.forget()
        self._renew()

    def saw(self, fact: Fact) -> None:
        """Tell what is worth it."""
        if self.trouble is not None:
            return
        try:
            if self._say is not None:
                for event in self._watched.saw(fact):
                    self._tell(event)
            if self._metrics is not None:
                self._metrics.saw(fact)
                if isinstance(fact, Frame) and self._clock() - self._written >= _PAUSE:
                    self._written = self._clock()
                    self._metrics.write(rank())
        except Exception as error:
            self._end(error)

    def close(self) -> None:
        """At the end: what was left out is told, and the figures are written."""
        if self.trouble is not None:
            return
        try:
            if self._left_out and self._say is not None:
                self._print(Event(event="left out", count=self._left_out))
                self._left_out = 0
            if self._metrics is not None:
                self._metrics.write(rank())
        except Exception as error:
            self._end(error)

    def _end(self, error: Exception) -> None:
        let_pass(error)
        self.trouble = f"--live ended early: {type(error).__name__}: {error}"

    def _tell(self, event: Event) -> None:
        now = self._clock()
        self._room = min(self._room + (now - self._at) * A_SECOND, float(AT_ONCE))
        self._at = now
        if self._room < 1:
            self._left_out += 1
            return
        self._room -= 1
        if self._left_out and self._print(Event(event="left out", count=self._left_out)):
            self._left_out = 0
        self._left_out += not self._print(event)

    def _print(self, event: Event) -> bool:
        assert self._say is not None
        pid, of = os.getpid(), rank()
        if self._as_json:
            event = msgspec.structs.replace(event, pid=pid, rank=of, time=round(AtStart.time(), 3))
            return self._say(msgspec.json.encode(event, enc_hook=str).decode() + "\n")
        process = f"rank {of}" if of is not None else "" if pid == self._leader else f"process {pid}"
        return self._say(line_of(event, process) + "\n")


def of(live: str, metrics: str, *, stderr: Stderr | None, leader: int | None) -> Live | None:
    """What `--live` and `--live-metrics` ask for; None where neither does."""
    if not live and not metrics:
        return None
    return Live(
        None if stderr is None else stderr.say,
        as_json=live == "json",
        metrics=Metrics(Path(metrics)) if metrics else None,
        leader=leader,
        after_fork=(lambda: None) if stderr is None else stderr.after_fork,
    )
