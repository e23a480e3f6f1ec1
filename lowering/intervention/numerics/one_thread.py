"""Calls around launches that only the thread which checks makes."""

import threading
from typing import Any, Protocol

from inspect_compile.lowering.intervention.numerics.buffers import Launch


class Watcher(Protocol):
    """Called around the launches; see `codegen.runtime.checked`."""

    def before(self, launch: Launch, local: dict[str, Any]) -> Any:
        """The launch is next."""

    def after(self, launch: Launch, state: Any, local: dict[str, Any]) -> None:
        """It has been made."""


class OneThread:
    """Passes on the launches of the thread that made it: another may run the same code meanwhile."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._thread = threading.get_ident()

    def before(self, launch: Launch, local: dict[str, Any]) -> Any:
        """See `Watcher`."""
        return self._watcher.before(launch, local) if threading.get_ident() == self._thread else None

    def after(self, launch: Launch, state: Any, local: dict[str, Any]) -> None:
        """See `Watcher`."""
        if threading.get_ident() == self._thread:
            self._watcher.after(launch, state, local)
