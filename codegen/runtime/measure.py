"""Times each launch of the generated code, if the user asked for it.

The loaded module's functions get a timer around each launch; the file that torch generated stays as it is. After the
first calls the functions have their timers in one call of several only, and no more than a count in the others.
"""

import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_compile.codegen.runtime.stopwatch import ALWAYS, SELDOM, CudaWatch, HostWatch, Times, Watch
from inspect_compile.codegen.runtime.timed_code import CHECKS, MEMORY, Timers, put_timers
from inspect_compile.codegen.wrapper.wrapper import CALLS, Calls
from inspect_compile.facts import Fact, Hook, Remark
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import call_path as call_names
from inspect_compile.torch_compat import runtime as names

PROBE = "codegen.measure"


class Turns:
    """Which calls of one graph are timed: the first ones, then one of several, and none while it is paused."""

    def __init__(self, left_out: Callable[[], None]) -> None:
        self._left_out = left_out
        """Called in a call that is not timed."""
        self.timers: Timers | None = None
        self._is_paused = False
        self._is_next = self._is_inside = True
        """Whether the next call is timed, and the functions that it calls."""
        self.forget()

    def forget(self) -> None:
        """Start again."""
        self.timed = self.left_out = 0
        """How many calls had timers, and how many had none."""

    def count(self) -> None:
        """A call begins."""
        is_timed = self._is_next
        if is_timed:
            self.timed += 1
        else:
            self.left_out += 1
            self._left_out()
        if self.timers is not None and self.timers.can_go:
            if self._is_inside is not is_timed:
                self._is_inside = is_timed
                self.timers.turn_inside(is_timed)
            calls = self.timed + self.left_out
            self._turn(not self._is_paused and (calls < ALWAYS or (calls + 1) % SELDOM == 0))

    def pause(self, is_paused: bool) -> None:
        """Time no call for a while, and go on."""
        self._is_paused = is_paused
        if is_paused:
            self._turn(False)

    def time_next(self) -> None:
        """The next call is timed, whichever it is."""
        self._turn(True)

    def _turn(self, is_on: bool) -> None:
        if self.timers is not None and self.timers.can_go and self._is_next is not is_on:
            self._is_next = is_on
            self.timers.turn_call(is_on)


class Measure:
    """The watches of this process, by device."""

    def __init__(self) -> None:
        self.turns: list[Turns] = []
        self._watches: dict[str, Watch] = {}
        self.add: Callable[[Fact], None] = lambda fact: None
        """Receives rows while the program runs."""
        self._lock = threading.Lock()

    def _tell(self, watch: Watch) -> None:
        for fact in watch.facts():
            self.add(fact)

    def of(self, device: str) -> Watch | None:
        """The watch of a device; None if it cannot be timed."""
        kind, _, index = (device or "cpu").partition(":")
        with self._lock:
            if kind == "cpu":
                if "cpu" not in self._watches:
                    self._watches["cpu"] = HostWatch(self._tell)
                return self._watches["cpu"]
            cuda, spin = torch_object(names.CUDA), torch_object(names.SPIN)
            if kind != "cuda" or cuda is None or spin is None:
                return None
            name = f"cuda:{index or cuda.current_device()}"
            if name not in self._watches:
                self._watches[name] = CudaWatch(
                    name, cuda, spin, self._tell, captures=bool(torch_object(names.BUILT_FOR))
                )
            return self._watches[name]

    def entered(self) -> None:
        """A compiled function is called on this thread."""
        host = self._watches.get("cpu")
        if isinstance(host, HostWatch):
            host.entered()

    def pause(self, is_paused: bool) -> None:
        """Let launches run untimed for a while, and go on."""
        for watch in self._watches.values():
            watch.is_paused = is_paused
        for turns in self.turns:
            turns.pause(is_paused)

    def left_out(self) -> None:
        """A call is not timed on this thread."""
        host = self._watches.get("cpu")
        if isinstance(host, HostWatch):
            host.left_out()

    def cuda(self) -> list[CudaWatch]:
        """The watches of CUDA devices."""
        return [watch for watch in self._watches.values() if isinstance(watch, CudaWatch)]

    def facts(self) -> list[Fact]:
        """The current rows of everything that ran."""
        found: list[Fact] = []
        for watch in self._watches.values():
            found += watch.facts()
            if watch.trouble:
                found.append(Hook(probe=PROBE, target=watch.device, state="failed", reason=watch.trouble[:300]))
        return found

    def forget(self) -> None:
        """Start again."""
        for watch in self._watches.values():
            watch.forget()
        for turns in self.turns:
            turns.forget()


MEASURE = Measure()
"""The measurements of this process."""


def install(probes: Probes) -> None:
    """Hook the loading of a graph's code."""
    probes.accounts.append(MEASURE)
    MEASURE.add = lambda fact: probes.sink.add(fact)

    def loaded(state: Any, lowered: Any, args: Any, kwargs: Any, module: Any) -> None:
        scope = SCOPES.of(lowered)
        calls = None if scope is None else scope.stash.pop(CALLS, None)
        if scope is None or calls is None:
            return
        missed = _timed(module, calls, scope.graph)
        if missed:
            probes.sink.add(
                Remark(graph=scope.graph, kind="missed", code="not-measured", message=f"not measured: {missed}")
            )

    probes.wrap(PROBE, call_names.LOAD, after=loaded, patient=True)


def _timed(module: Any, calls: Calls, graph: str) -> str:
    """Put timers into the module; returns what could not be timed, and why."""
    path = getattr(module, "__file__", None)
    if not path or not str(path).endswith(".py"):
        return "the generated code is not Python"
    source = Path(path).read_text(encoding="utf-8")
    before, is_there, _ = source.partition(calls.text)
    if not is_there:
        return "the loaded code is not the one that was generated"
    offset = before.count("\n")
    timers: dict[int, tuple[Any, Any]] = {}
    turns = Turns(MEASURE.left_out)
    without = set()
    elsewhere = next((device for *_, device in calls.launches if device not in ("", "cpu")), "cpu")
    for of, kernel, line, own in calls.launches:
        device = own or elsewhere  # an extern call may not say where it runs
        watch = MEASURE.of(device)
        if watch is None:
            without.add(device)
        elif line + offset not in timers:
            timers[line + offset] = watch.timers(Times(of, "launch", kernel, line, watch.device, turns=turns))
    whole, others = None, {}
    if elsewhere == "cpu" and (host := MEASURE.of("cpu")) is not None:
        whole = host.timers(Times(graph, "call", "", None, "cpu", turns=turns))
        others = {kind: host.timers(Times(graph, kind, "", None, "cpu", turns=turns)) for kind in (MEMORY, CHECKS)}
    turns.timers = put_timers(module, source, path, timers, whole, others, turns.count)
    MEASURE.turns.append(turns)
    found = turns.timers.found
    reasons = []
    if without:
        reasons.append(f"launches on {', '.join(sorted(without))}: only those on the CPU and on CUDA devices are")
    if lost := [str(line - offset) for line in timers if line not in found]:
        more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
        reasons.append(f"what line {', '.join(lost[:3])}{more} of the code launches: it is not in a Python function")
    return "; ".join(reasons)


def install_entries(probes: Probes) -> None:
    """Hook the calls of compiled functions: what goes by until generated code runs is what stands around it."""

    def entered(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if argument(args, kwargs, 0, "callback") not in (None, False):  # else it is a function that is not compiled
            MEASURE.entered()

    probes.wrap(PROBE, names.ENTERED, before=entered, patient=True)


class _Replays:
    """One CUDA graph: its own times, and the launches captured in it."""

    def __init__(self, times: Times, pairs: list[tuple[Times, Any, Any]], watch: CudaWatch) -> None:
        self.times, self.pairs, self.watch = times, pairs, watch


def install_replays(probes: Probes) -> None:
    """Hook the captures and replays of CUDA graphs."""
    graphs: weakref.WeakKeyDictionary[Any, _Replays] = weakref.WeakKeyDictionary()
    numbers: dict[str, int] = {}

    def begun(graph: Any, args: Any, kwargs: Any) -> None:
        for turns in MEASURE.turns:
            turns.time_next()  # what is captured is measured in its replays
        for watch in MEASURE.cuda():
            watch.captured.pairs = []

    def captured(state: Any, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        for watch in MEASURE.cuda():
            pairs = getattr(watch.captured, "pairs", [])
            watch.captured.pairs = []
            if pairs:
                of = pairs[0][0].outermost(graph)
                number = numbers[of] = numbers.get(of, -1) + 1
                times = Times(of, "replay", "", None, watch.device, number)
                watch.watched.append(times)
                graphs[graph] = _Replays(times, pairs, watch)

    def replaying(graph: Any, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        found = graphs.get(graph)
        if found is None:
            return None
        found.times.calls += 1
        for times, *_ in found.pairs:
            times.calls += 1
            times.replays += 1
        if found.watch.is_paused or (found.times.calls > ALWAYS and found.times.calls % SELDOM):
            return None
        first, second = found.watch.event(), found.watch.event()
        found.watch.spin(200.0)
        first.record()
        return first, second

    def replayed(state: tuple[Any, Any] | None, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        if state is None:
            return
        first, second = state
        found = graphs[graph]
        second.record()
        second.synchronize()
        found.times.add(first.elapsed_time(second), in_replay=found.times.calls > 1)
        for times, begin, end in found.pairs:
            times.add(begin.elapsed_time(end), in_replay=True)
        found.watch.timed += 1 + len(found.pairs)

    probes.wrap(PROBE, names.CAPTURE_BEGIN, before=begun, patient=True)
    probes.wrap(PROBE, names.CAPTURE_END, after=captured, patient=True)
    probes.wrap(PROBE, names.REPLAY, before=replaying, after=replayed, patient=True)
