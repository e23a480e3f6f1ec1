"""Unique names for compiles: after `torch._dynamo.reset()` torch's CompileIds start again and repeat."""

import threading
from typing import Any

from inspect_compile.facts import Fact
from inspect_compile.facts.compile_id import compile_name
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.compile_names"


class CompileNames:
    """Maps CompileIds to names of compiles by identity: a repeated id is a different object.

    Each thread has its CompileId at hand, and a backward that is compiled later gets its forward's object back. The
    objects are kept alive, so that no other object can have their identity: they hold three numbers.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[Any, str]] = {}
        self._latest: dict[str, str] = {}
        """torch's id → name of the latest compile with that id."""
        self._counted: set[str] = set()
        """The ids of the current numbering."""
        self._count = 1
        self._lock = threading.Lock()

    def begun(self, compile_id: Any) -> str:
        """torch made this CompileId for a new compile; returns the compile's name."""
        with self._lock:
            return self._begun(compile_id)

    def counted_anew(self) -> None:
        """torch was reset: compiles from now on belong to a new count."""
        with self._lock:
            self._next()

    def facts(self) -> list[Fact]:
        """Empty: the names are recorded in other facts."""
        return []

    def forget(self) -> None:
        """Another dump begins, after a fork or in the next capture: its first count has plain names again."""
        with self._lock:
            self._names.clear()
            self._latest.clear()
            self._counted.clear()
            self._count = 1

    def name(self, compile_id: Any) -> str:
        """The name of its compile. A copy of a CompileId, which torch sometimes makes, means the latest compile with
        that id.
        """
        found = self._names.get(id(compile_id))
        if found is not None and found[0] is compile_id:
            return found[1]
        with self._lock:
            text = str(compile_id)
            return self._latest[text] if text in self._counted else self._begun(compile_id)

    def latest(self, torch_id: str) -> str:
        """The latest compile with that id of torch's; the id itself if there was none."""
        return self._latest.get(torch_id, torch_id)

    def call(self, compile_id: Any, name: str) -> None:
        """Give a CompileId the name that its compile has in the process that traced it."""
        with self._lock:
            self._names[id(compile_id)] = compile_id, name

    def _begun(self, compile_id: Any) -> str:
        text = str(compile_id)
        if text in self._counted:  # a reset that was not seen
            self._next()
        self._counted.add(text)
        name = self._latest[text] = compile_name(text, self._count)
        self._names[id(compile_id)] = compile_id, name
        return name

    def _next(self) -> None:
        if self._counted:
            self._count += 1
            self._counted.clear()


NAMES = CompileNames()
"""The names of this process."""


def install_counted(probes: Probes) -> None:
    """Hook the place where torch numbers a compile."""

    def counted(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        NAMES.begun(result)

    probes.accounts.append(NAMES)
    probes.wrap(PROBE, names.COUNTS_COMPILE, after=counted)


def install_resets(probes: Probes) -> None:
    """Hook the places where torch resets its numbers."""

    def reset(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        NAMES.counted_anew()

    probes.wrap(PROBE, names.COUNTS_ANEW, after=reset)
