"""Trials that run beside each other and take turns: while one is timed, the others wait.

A machine whose speed drifts, and what else runs on it, then meets all of them alike, and they start at the same time.
Searches of one user on the same devices take turns with each other, too.
"""

import contextlib
import fcntl
import os
import select
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.facts.trials import IS_TIMED
from inspect_compile.launch.logged import Running

_TRY_AGAIN: Final = 0.005
"""Seconds until the next try for a turn that another search has."""
_GLANCE: Final = 0.5
"""Seconds between two looks whether a program has ended: a process that it left behind can hold its socket open."""


class Player:
    """One of them."""

    def __init__(self) -> None:
        self.program: Running | None = None
        self.is_timed = False
        """It has had all its turns, and waits to be let go."""
        self._ours, self._theirs = socket.socketpair()

    @property
    def descriptor(self) -> int:
        """What the program inherits."""
        return self._theirs.fileno()

    def started(self, program: Running) -> None:
        """It has its end of the socket; ours of it is closed, so that the end of the program is seen."""
        self.program = program
        self._theirs.close()

    def close(self) -> None:
        """Nothing more is asked of it."""
        self._ours.close()
        self._theirs.close()

    def waits(self, until: float) -> bool:
        """Wait until it waits for its turn: True; False where it needs none or ended, or does neither until then."""
        assert self.program is not None
        while time.monotonic() < until:
            try:
                if select.select([self._ours], [], [], _GLANCE)[0]:
                    said = self._ours.recv(1)
                    self.is_timed = said == IS_TIMED
                    return bool(said) and not self.is_timed
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

    One that has had all its turns ends when the others have, too: what ends would disturb them. `until`: the time of
    `time.monotonic` after which nobody gets a turn any more.
    """
    waiting = [one for one in players if one.waits(until)]
    while waiting:
        left = []
        for one in waiting:
            with alone(until):
                one.go()
                if one.waits(until):
                    left.append(one)
        waiting = left[::-1]
    for one in players:
        if one.is_timed:
            one.go()


@contextlib.contextmanager
def alone(until: float) -> Iterator[None]:
    """No other search of this user times anything meanwhile, unless one still does at `until` of `time.monotonic`."""
    with open(_lock_path(), "ab", opener=_without_links) as lock:
        while time.monotonic() < until:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_TRY_AGAIN)
        yield


def _lock_path() -> str:
    """The file that is locked while a trial is timed: one for each user and set of GPUs that a program may use."""
    devices = "".join(one if one.isalnum() else "-" for one in os.environ.get("CUDA_VISIBLE_DEVICES", "all"))[:100]
    return os.path.join(tempfile.gettempdir(), f"inspect-compile-{os.getuid()}-turns-{devices}")


def _without_links(path: str, flags: int) -> int:
    """Opens the file, but no link that someone else put in its place."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
