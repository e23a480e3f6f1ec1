"""Profiles some steps of the program by itself, if the user asked for measuring: once nothing is compiled any more.

Some calls of compiled functions are timed as they are, then others are profiled by torch.profiler; a reader finds the
steps in the profile. Behind these, a few calls are for the lines that call operators outside of graphs. A program that
profiles itself is left alone.
"""

import gzip
import os
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

from inspect_compile.codegen.runtime import operator_lines
from inspect_compile.codegen.runtime.measure import MEASURE
from inspect_compile.dump import paths
from inspect_compile.facts import Fact, OperatorLine, StepsProfiled
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.probe import Probes, argument, let_pass
from inspect_compile.torch_compat import call_path as call_names
from inspect_compile.torch_compat import runtime as names

PROBE: Final = "codegen.steps"

_WARM: Final = 4
"""Number of calls without a compile before the first that is timed."""
_TIMED: Final = 8
_PROFILED: Final = 16
_LOCATED: Final = 4
_LEAST: Final = 3
"""Calls that are timed, profiled or located, and so few if they take longer than `_LONG`."""
_LONG: Final = 3.0
"""Seconds."""
_TRIES: Final = 8
"""How often a compile in the middle makes it begin again."""
_QUIET: Final = "KINETO_LOG_LEVEL"
_NO_WORDS: Final = "6"
"""The profiler else writes to stderr that it began."""

_WARMING, _TIMING, _PROFILING, _LOCATING, _DONE = range(5)


class StepProfile:
    """What is known of the program's steps in this process."""

    def __init__(self) -> None:
        self.write: Callable[[str, bytes], None] = lambda name, data: None
        """Writes a file into the dump."""
        self._profiler: Any = None
        self.forget()

    def forget(self) -> None:
        """Start again."""
        self._abandon("")
        self._state, self._calls, self._tries = _WARMING, 0, 0
        self._thread = 0
        self._is_used = False
        """Whether a compiled function was called at all."""
        self._began = 0.0
        self._times: list[float] = []
        """When the calls that are timed began."""
        self._found = StepsProfiled()
        self._lines: list[OperatorLine] = []
        self._why_not = ""

    def entered(self) -> None:
        """A compiled function is called."""
        if self._state == _DONE or (self._thread and self._thread != threading.get_ident()):
            return
        self._calls += 1
        self._is_used = True
        try:
            if self._state == _WARMING and self._calls > _WARM:
                self._time()
            elif self._state == _TIMING:
                self._times.append(time.perf_counter())
                if self._is_enough(_TIMED):
                    self._profile()
            elif self._state == _PROFILING and self._is_enough(_PROFILED):
                self._end()
                self._locate()
            elif self._state == _LOCATING and self._is_enough(_LOCATED):
                self._located()
        except Exception as error:
            let_pass(error)
            self._abandon(f"{type(error).__name__}: {error}"[:300])

    def compiled(self) -> None:
        """A graph was compiled: the steps before it were not steady."""
        if self._state == _LOCATING:
            self._located()
            return
        if self._state == _DONE:
            return
        self._tries += self._state != _WARMING
        self._abandon("the program continues to compile" if self._tries > _TRIES else "")

    def profiled(self) -> None:
        """The program begins to profile itself."""
        if self._state == _LOCATING:
            self._located()
        elif self._state != _DONE and not self._is_own:
            self._abandon("the program uses torch.profiler itself")

    def facts(self) -> list[Fact]:
        """What was timed and profiled, at the end of the program."""
        if self._state == _PROFILING and self._calls > _LEAST and self._thread == threading.get_ident():
            try:
                self._end()
            except Exception as error:
                let_pass(error)
                self._abandon(f"{type(error).__name__}: {error}"[:300])
        if self._state == _LOCATING:
            self._located()
        if self._state in (_LOCATING, _DONE) and not self._why_not:
            return [self._found, *self._lines]
        why_not = self._why_not or f"after the last compile compiled functions were called {self._calls:,} times only"
        self._abandon(why_not)
        return [StepsProfiled(why_not=why_not)] if self._is_used else []

    def _is_enough(self, calls: int) -> bool:
        return self._calls > calls or (self._calls > _LEAST and time.perf_counter() - self._began > _LONG)

    def _time(self) -> None:
        self._thread = threading.get_ident()
        MEASURE.pause(True)
        self._next(_TIMING)

    def _profile(self) -> None:
        each = tuple(round(end - start, 7) for start, end in pairwise([self._began, *self._times]))
        self._found = StepsProfiled(calls=self._calls - 1, seconds=self._elapsed(), each=each)
        if torch_object(names.PROFILES)():
            self._abandon("the program uses torch.profiler itself")
            return
        own = torch_object(names.PROFILER)
        devices = own.ProfilerActivity
        activities = [devices.CPU, devices.CUDA] if _cuda() is not None else [devices.CPU]
        before = os.environ.get(_QUIET)
        os.environ.setdefault(_QUIET, _NO_WORDS)
        self._is_own = True
        try:
            profiler = own.profile(activities=activities, acc_events=True)
            profiler.start()
            self._profiler = profiler
        finally:
            self._is_own = False
            if before is None:
                os.environ.pop(_QUIET, None)
        self._next(_PROFILING)

    def _end(self) -> None:
        """Stop the profiler, and put what it saw into the dump."""
        calls, seconds = self._calls - 1, self._elapsed()
        profiler, self._profiler = self._profiler, None
        profiler.stop()
        self._state = _DONE
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.json")
            profiler.export_chrome_trace(str(path))
            self.write(paths.STEPS_TRACE, gzip.compress(path.read_bytes(), 5))
        self._found = msgspec.structs.replace(self._found, profiled_calls=calls, profiled_seconds=seconds)

    def _locate(self) -> None:
        """Begin to look at lines. Where that fails, the profile stays."""
        try:
            operator_lines.start()
        except Exception as error:
            let_pass(error)
            MEASURE.pause(False)
        else:
            self._next(_LOCATING)

    def _located(self) -> None:
        """Put the lines into the dump, on the thread that they were seen on: another one cannot end it."""
        if self._thread != threading.get_ident():
            return
        self._state = _DONE
        MEASURE.pause(False)
        try:
            self._lines = operator_lines.stop()
        except Exception as error:
            let_pass(error)

    def _next(self, state: int) -> None:
        self._state, self._calls = state, 1
        _synchronize()
        self._times = []
        self._began = time.perf_counter()

    def _elapsed(self) -> float:
        _synchronize()
        return time.perf_counter() - self._began

    def _abandon(self, why_not: str) -> None:
        """Stop, for good if there is a reason."""
        profiler, self._profiler = self._profiler, None
        self._is_own = False
        MEASURE.pause(False)
        self._state, self._calls, self._thread = _DONE if why_not else _WARMING, 0, 0
        self._why_not = why_not
        if profiler is not None:
            try:
                profiler.stop()
            except Exception as error:
                let_pass(error)


STEPS = StepProfile()
"""The steps of this process."""


def install(probes: Probes) -> None:
    """Hook the calls of compiled functions, and the profiles of the program's own."""
    probes.accounts.append(STEPS)
    STEPS.write = lambda name, data: probes.sink.file(name, data)

    def entered(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if argument(args, kwargs, 0, "callback") not in (None, False):
            STEPS.entered()

    def profiled(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        STEPS.profiled()

    probes.wrap(PROBE, names.ENTERED, before=entered, patient=True)
    probes.wrap(PROBE, names.PROFILE_BEGINS, before=profiled, patient=True)


def install_compiles(probes: Probes) -> None:
    """Hook the loading of what was compiled."""

    def compiled(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        STEPS.compiled()

    probes.wrap(PROBE, call_names.LOAD, before=compiled, patient=True)


def _cuda() -> Any:
    """torch.cuda, if the program uses it and captures nothing."""
    cuda = torch_object(names.CUDA)
    return cuda if cuda is not None and cuda.is_initialized() else None


def _synchronize() -> None:
    cuda = _cuda()
    if cuda is not None and not cuda.is_current_stream_capturing():
        cuda.synchronize()
