"""A program that is started once, up to its import of torch, and from there on is forked for each trial.

Only Linux says what a process holds open; elsewhere each trial is a process of its own.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from inspect_compile.launch.logged import Running, end, start
from inspect_compile.launch.replace import hold_interrupts, release_interrupts

IS_POSSIBLE: Final = sys.platform == "linux"
_LONGEST: Final = 1 << 16
_GLANCE: Final = 0.01
"""Seconds between two looks whether a fork has ended."""


class ForkError(Exception):
    """What is to be forked has ended."""


class Forked:
    """A fork, as a program that was started."""

    def __init__(self, pid: int, ask: Callable[[Mapping[str, object]], dict[str, Any]]) -> None:
        self._pid, self._ask = pid, ask
        self._status: int | None = None

    def poll(self) -> int | None:
        """Its exit status, or the negative number of a signal; None while it runs."""
        if self._status is None:
            # What it is forked from is its parent; where that has ended, nobody knows its status any more.
            self._status = self._ask({"poll": self._pid}).get("status", -signal.SIGKILL)
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """The same once it has ended; raises subprocess.TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired("fork", timeout or 0.0)
            time.sleep(_GLANCE)
        return status

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self._pid, number)


class Forks:
    """The program that is forked."""

    def __init__(
        self, path: str, argv: Sequence[str], environment: Callable[[int], Mapping[str, str]], log: Path
    ) -> None:
        """`environment` gets the number of the descriptor over which it is asked."""
        self._programs: list[Running] = []
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            start(path, argv, environment(theirs.fileno()), log, self._programs, [theirs.fileno()])
        finally:
            theirs.close()

    def why_not(self, seconds: float) -> str:
        """Wait until it has imported torch; returns why it cannot be forked, empty if it can."""
        self._ours.settimeout(seconds)
        try:
            said = self._ours.recv(_LONGEST)
        except OSError:
            return "it did not import torch in time"
        self._ours.settimeout(None)
        return str(json.loads(said)["why_not"]) if said else "it ended before it could be forked"

    def start(self, request: Path, log: Path, turns: int, programs: list[Running]) -> None:
        """Fork it, and add the fork to `programs`; raises ForkError where it is no longer there."""
        with open(log, "wb") as output:
            mask = hold_interrupts()
            try:
                said = self._ask({"request": str(request)}, [turns, output.fileno()])
                if "pid" in said:
                    programs.append(Forked(said["pid"], self._ask))
            finally:
                release_interrupts(mask)
        if "pid" not in said:
            raise ForkError

    def _ask(self, what: Mapping[str, object], descriptors: Sequence[int] = ()) -> dict[str, Any]:
        with contextlib.suppress(OSError):
            socket.send_fds(self._ours, [json.dumps(what).encode()], descriptors)
            if said := self._ours.recv(_LONGEST):
                return dict(json.loads(said))
        return {}

    def close(self) -> None:
        """Nothing more is asked of it."""
        self._ours.close()
        end(self._programs)
