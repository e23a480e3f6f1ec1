"""Which compile a CompileId of torch's means. Torch counts anew after `torch._dynamo.reset()`: ids occur again."""

import threading
from typing import Any

from inspect_compile.facts import Fact
from inspect_compile.facts.compile_id import compile_name
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.compile_names"


class CompileNames:
    """CompileIds → names of compiles, by identity: an id that occurs again is another object.

    Each thread has its CompileId at hand, and a backward that is compiled later gets the one of its forward back.
    Objects are kept, so that none is taken for another: they hold three numbers.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[Any, str]] = {}
        self._latest: dict[str, str] = {}
        """torch's id → the name of the last compile that had it."""
        self._counted: set[str] = set()
        """Ids of the count that runs."""
        self._count = 1
        self._lock = threading.Lock()

    def begun(self, compile_id: Any) -> str:
        """Torch has made this CompileId for a new compile."""
        with self._lock:
            return self._begun(compile_id)

    def counted_anew(self) -> None:
        """Torch was reset: what begins from now on is of another count."""
        with self._lock:
            self._next()

    def facts(self) -> list[Fact]:
        """None: the names stand in the facts of others."""
        return []

    def forget(self) -> None:
        """Another dump begins, of a fork or of the next capture: its first count has plain names again."""
        with self._lock:
            self._names.clear()
            self._latest.clear()
            self._counted.clear()
            self._count = 1

    def name(self, compile_id: Any) -> str:
        """That of its compile. A copy, which torch makes of some, means the last compile of that id."""
        found = self._names.get(id(compile_id))
        if found is not None and found[0] is compile_id:
            return found[1]
        with self._lock:
            text = str(compile_id)
            return self._latest[text] if text in self._counted else self._begun(compile_id)

    def latest(self, torch_id: str) -> str:
        """The last compile that torch called so; what it told itself, where there was none."""
        return self._latest.get(torch_id, torch_id)

    def call(self, compile_id: Any, name: str) -> None:
        """Give it the name that its compile has in another process, which traced it."""
        with self._lock:
            self._names[id(compile_id)] = compile_id, name

    def _begun(self, compile_id: Any) -> str:
        text = str(compile_id)
        if text in self._counted:  # a reset that nobody saw
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
"""Of this process."""


def install_counted(probes: Probes) -> None:
    """Hear where torch counts a compile."""

    def counted(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        NAMES.begun(result)

    probes.accounts.append(NAMES)
    probes.wrap(PROBE, names.COUNTS_COMPILE, after=counted)


def install_resets(probes: Probes) -> None:
    """Hear where torch begins to count anew."""

    def reset(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        NAMES.counted_anew()

    probes.wrap(PROBE, names.COUNTS_ANEW, after=reset)
