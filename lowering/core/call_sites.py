"""Where the calls of the program are that lead to an FX node, a break or a compile: each is recorded once.

torch's stack of a node begins with the frame that was compiled. What called that frame was on Python's own stack when
its compile began: it is recorded then, and joined by the name of the compile, also for a backward compiled later.
"""

import sys
import threading
from collections.abc import Iterable
from typing import Any, Final, Protocol

import msgspec

from inspect_compile.facts import CallSite, Fact, Location
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes

_MOST_FRAMES: Final = 64
"""Maximum number of frames of Python's stack that are recorded, innermost first."""
_MOST_TEXTS: Final = 8192


class _Sink(Protocol):
    def add(self, fact: Fact, /) -> None: ...


class CallSites:
    """The calls that this process has recorded in its dump."""

    def __init__(self) -> None:
        self._sink: _Sink | None = None
        self._lock = threading.RLock()
        self.forget()

    def record_in(self, sink: _Sink) -> None:
        """Record what is found from now on."""
        self._sink = sink

    def facts(self) -> list[Fact]:
        """Empty: each call is recorded when it is first met."""
        return []

    def forget(self) -> None:
        """Another dump begins: nothing is recorded in it yet."""
        with self._lock:
            self._sites: dict[tuple[int, str, int, str], int] = {}
            self._texts: dict[tuple[str, int], Location | None] = {}
            self._in_modules: dict[tuple[str, int, int, str], Location] = {}
            self._callers: dict[str, Location] = {}
            """Compile → the line that called the compiled frame."""

    def compiling(self, caller: Location | None) -> None:
        """A frame is being compiled on this thread; `caller` is the line that called it."""
        if caller is not None and (name := compile_id()) is not None:
            self._callers[name] = caller

    def caller_of(self, name: str) -> Location | None:
        """The line that called the frame of a compile."""
        return self._callers.get(name)

    def traced_line(self, stack_trace: str) -> Location | None:
        """The innermost line in a stack trace text that is not torch's, or its last line if all are; of an empty text
        the line that called the compiled frame.

        Cached, as nodes of all stages share a few of these texts.
        """
        caller = self._callers.get(compile_id() or "")
        if not stack_trace:
            return caller
        key = stack_trace, caller.site if caller is not None else 0
        if key not in self._texts:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[key] = self._located(values.locations(stack_trace), key[1])
        return self._texts[key]

    def in_module(self, where: Location, module: str) -> Location:
        """The same line of a library, of an operator that ran in this nn.Module. One object for all nodes there."""
        key = where.file, where.line, where.site, module
        found = self._in_modules.get(key)
        if found is None:
            if len(self._in_modules) >= _MOST_TEXTS:
                self._in_modules.clear()
            found = self._in_modules[key] = msgspec.structs.replace(where, module=module)
        return found

    def line(self, frames: tuple[Location, ...]) -> Location | None:
        """The same for frames of the frame that is being compiled on this thread, outermost first."""
        caller = self._callers.get(compile_id() or "")
        return self._located(frames, caller.site if caller is not None else 0)

    def caller(self) -> Location | None:
        """The program's innermost frame on the current thread."""
        found: list[Location] = []
        frame: Any = sys._getframe(1)
        while frame is not None and len(found) < _MOST_FRAMES:
            if values.is_program(frame):
                found.append(values.location(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        return self.located(tuple(reversed(found)))

    def located(self, frames: tuple[Location, ...]) -> Location | None:
        """The innermost of these frames of Python's stack, outermost first, with the calls that led to it."""
        return self._located(frames, 0)

    def _located(self, frames: tuple[Location, ...], caller: int) -> Location | None:
        where = values.user_line(frames)
        if where is None:
            return None
        site = self.record(frames, caller)
        return Location(where.file, where.line, where.function, where.code, site)

    def record(self, frames: Iterable[Location], site: int) -> int:
        """The site of the last of the frames, which `site` called; 0 if nothing is recorded."""
        if self._sink is None:
            return 0
        with self._lock:
            for frame in frames:
                key = site, frame.file, frame.line, frame.function
                found = self._sites.get(key)
                if found is None:
                    found = self._sites[key] = len(self._sites) + 1
                    self._sink.add(
                        CallSite(
                            site=found,
                            caller=site,
                            file=frame.file,
                            line=frame.line,
                            function=frame.function,
                            code=frame.code,
                        )
                    )
                site = found
        return site


CALL_SITES = CallSites()
"""The calls of this process."""


def install(probes: Probes) -> None:
    """Record calls with what the probes find."""
    CALL_SITES.record_in(probes.sink)
    probes.accounts.append(CALL_SITES)
