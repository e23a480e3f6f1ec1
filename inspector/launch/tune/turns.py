"""Trials that run beside each other and take turns: while one is timed, the others wait.

A machine whose speed drifts, and what else runs on it, then meets all of them alike, and they start at the same time.
"""

import contextlib
import select
import socket
import time
from collections.abc import Sequence
from typing import Final

from inspect_compile.launch.logged import Program

_GLANCE: Final = 0.5
"""Seconds between two looks whether a program has ended: a process that it left behind can hold its socket open."""


class Player:
    """One of them."""

    def __init__(self) -> None:
        self.program: Program | None = None
        self._ours, self._theirs = socket.socketpair()

    @property
    def descriptor(self) -> int:
        """What the program inherits."""
        return self._theirs.fileno()

    def started(self, program: Program) -> None:
        """It has its end of the socket; ours of it is closed, so that the end of the program is seen."""
        self.program = program
        self._theirs.close()

    def close(self) -> None:
        """Nothing more is asked of it."""
        self._ours.close()
        self._theirs.close()

    def waits(self, until: float) -> bool:
        """Wait until it waits for its turn: True; False where it ended before, or does neither until then."""
        assert self.program is not None
        while time.monotonic() < until:
            try:
                if select.select([self._ours], [], [], _GLANCE)[0]:
                    return bool(self._ours.recv(1))
            except OSError:
                return False
            if self.program.poll() is not None:
                return False
        return False

    def go(self) -> None:
        """It is its turn."""
        with contextlib.suppress(OSError):  # it has ended, which `waits` will find
            self._ours.send(b".")


def take_turns(players: Sequence[Player], until: float) -> None:
    """Let each run in its turn until all have ended; every other round the last one begins.

    `until`: the time of `time.monotonic` after which nobody gets a turn any more.
    """
    waiting = [one for one in players if one.waits(until)]
    while waiting:
        left = []
        for one in waiting:
            one.go()
            if one.waits(until):
                left.append(one)
        waiting = left[::-1]
