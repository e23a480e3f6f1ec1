"""Times one launch: on the host by its clock, on a CUDA device by events. Uses torch only through its arguments."""

import statistics
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from inspect_compile.facts import Fact, Launched, Measuring
from inspect_compile.facts.nesting import outermost
from inspect_compile.probe import let_pass

ALWAYS: Final = 64
SELDOM: Final = 16
"""This many calls of a graph are timed, then one in this many: the timers of its launches take time themselves."""
BEFORE: Final = "before"
"""What is timed before a call: guards, Dynamo's entry, wrappers."""
KEPT: Final = 1024
"""Number of times of one launch that are kept for its median; later ones replace the oldest."""

_SPIN_LEAST, _SPIN_MOST = 20.0, 1000.0
"""Microseconds that the device is kept busy before a timed launch: otherwise the host's launch time would be
included.
"""


class Counted(Protocol):
    """What knows how many calls of a graph had timers, and how many had none."""

    timed: int
    left_out: int


class Times:
    """The times of one launch so far, in milliseconds."""

    def __init__(
        self,
        graph: str,
        what: str,
        kernel: str,
        line: int | None,
        device: str,
        number: int = 0,
        turns: "Counted | None" = None,
    ) -> None:
        self.graph, self.what, self.kernel, self.line, self.device = graph, what, kernel, line, device
        self.number = number
        self.turns = turns
        self.forget()

    def forget(self) -> None:
        """Start again."""
        self.calls = self.timed = self.replayed = 0
        self.replays = 0
        """How many of the calls were parts of a CUDA graph's replay."""
        self.total = 0.0
        self.first: float | None = None
        self.least: float | None = None
        self.least_in_call: float | None = None
        self.times_in_call = 0
        self.in_call = 0.0
        """Milliseconds in the current call of the graph."""
        self._in_call = 0
        self._kept: list[float] = []

    def call_ended(self, *, is_first: bool) -> None:
        """A call of the graph has ended: what was timed in it is one number."""
        is_least = self.least_in_call is None or self.in_call < self.least_in_call
        if self._in_call and is_least and not is_first:
            self.least_in_call, self.times_in_call = self.in_call, self._in_call
        self.in_call, self._in_call = 0.0, 0

    def add(self, milliseconds: float, *, in_replay: bool = False) -> None:
        """Add a time: the first one is separate, because it includes compiles, unless it is in a replay."""
        self.in_call += milliseconds
        self._in_call += 1
        if self.first is None and not in_replay:
            self.first = milliseconds
            return
        kept = self._kept
        if len(kept) < KEPT:
            kept.append(milliseconds)
        else:
            kept[self.timed % KEPT] = milliseconds
        self.timed += 1
        self.replayed += in_replay
        self.total += milliseconds
        if self.least is None or milliseconds < self.least:
            self.least = milliseconds

    def fact(self) -> Launched:
        """The current row."""
        same = ("graph", "what", "kernel", "line", "device", "number", "timed", "replayed")
        return Launched(
            **{name: getattr(self, name) for name in same},
            calls=self.calls + self._left_out(),
            first=_rounded(self.first),
            least=_rounded(self.least),
            least_in_call=_rounded(self.least_in_call),
            times_in_call=self.times_in_call,
            milliseconds=_rounded(statistics.median(self._kept)) if self._kept else None,
            total=round(self.total, 6),
        )

    def _left_out(self) -> int:
        """How often it ran in calls of the graph without timers: as often in each as in those with them."""
        turns = self.turns
        if turns is None or not turns.left_out or not turns.timed:
            return 0
        return round((self.calls - self.replays) / turns.timed * turns.left_out)


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 6)


class Watch:
    """Times the launches on one device."""

    how = ""

    def __init__(self, device: str, tell: Callable[["Watch"], None]) -> None:
        self.device = device
        self.watched: list[Times] = []
        self.overhead = 0.0
        """Milliseconds that measuring adds to each time."""
        self.timed = 0
        self.seconds = 0.0
        self.trouble = ""
        """What went wrong; nothing is timed from then on."""
        self._tell = tell
        self.is_paused = False
        """While steps are timed or profiled as a whole, no launch is made to wait."""
        self._next = 64

    def timers(self, times: Times) -> tuple[Any, Any]:
        """The functions called before and after the launch; the second receives the result of the first."""
        raise NotImplementedError

    def forget(self) -> None:
        """Start again."""
        for times in self.watched:
            times.forget()
        self.timed, self.seconds, self._next = 0, 0.0, 64

    def tell(self) -> None:
        """Have the rows written when the number of times has doubled since the last time. Never raises."""
        if self.timed >= self._next:
            self._next = 2 * self.timed
            try:
                self._tell(self)
            except Exception as error:
                self._stop(error)

    def _stop(self, error: Exception) -> None:
        let_pass(error)
        self.trouble = f"{type(error).__name__}: {error}"

    def facts(self) -> list[Fact]:
        """The current rows of what ran."""
        rows: list[Fact] = [times.fact() for times in self.watched if times.calls or times.timed]
        if rows:
            seconds, overhead = round(self.seconds, 6), round(self.overhead, 6)
            own = Measuring(device=self.device, how=self.how, overhead=overhead, timed=self.timed, seconds=seconds)
            rows.append(own)
        return rows


class _Thread(threading.local):
    """What happened last on a thread."""

    since: int | None = None
    """When a compiled function was called, or the generated code of a graph ended after that, by the clock."""


class HostWatch(Watch):
    """Times launches that run on the host."""

    how = "clock"

    def __init__(self, tell: Callable[[Watch], None]) -> None:
        super().__init__("cpu", lambda watch: None)
        self._thread = _Thread()
        self._parts: dict[str, list[Times]] = {}
        """Outermost graph → everything that is timed in it; and what is left of its calls, the last."""
        spare = Times("", "", "", None, "")
        begin, end = self.timers(spare)
        self.watched.clear()
        started = time.perf_counter()
        for _ in range(KEPT):
            end(begin())
        self._each = (time.perf_counter() - started) / KEPT
        self.overhead = spare.fact().milliseconds or 0.0
        self.forget()
        self._tell = tell

    def timers(self, times: Times) -> tuple[Any, Any]:
        self.watched.append(times)
        clock = time.perf_counter_ns

        def end(since: int) -> None:
            spent = clock() - since
            times.calls += 1
            times.add(spent / 1e6)
            self.timed += 1
            if self.timed >= self._next:
                self.tell()

        if times.what != "call":
            return clock, end
        before, thread = Times(times.graph, BEFORE, "", None, self.device, turns=times.turns), self._thread
        self.watched.append(before)

        def begin() -> int:
            if thread.since is not None:
                before.calls += 1
                before.add((clock() - thread.since) / 1e6)
            return clock()

        def end_call(since: int) -> None:
            spent = clock() - since
            end(since)
            self._ended(times, spent / 1e6)
            if thread.since is not None:
                thread.since = clock()

        return begin, end_call

    def entered(self) -> None:
        """A compiled function is called on this thread."""
        self._thread.since = time.perf_counter_ns()

    def left_out(self) -> None:
        """A graph that is not timed is called on this thread: what the next one finds since then is not its own."""
        self._thread.since = None

    def _ended(self, call: Times, milliseconds: float) -> None:
        """Take note of the end of a call: what each part of it took, and what is left of it."""
        if call.graph not in self._parts:
            inside = [
                one
                for one in self.watched
                if outermost(one.graph) == call.graph and one.what not in (call.what, BEFORE)
            ]
            rest = Times(call.graph, "rest", "", None, self.device, turns=call.turns)
            self.watched.append(rest)
            self._parts[call.graph] = [*inside, rest]
        *inside, rest = self._parts[call.graph]
        rest.calls += 1
        rest.add(max(0.0, milliseconds - sum(one.in_call for one in inside)))
        for one in (call, *inside, rest):
            one.call_ended(is_first=not call.timed)

    def facts(self) -> list[Fact]:
        """The current rows, with the cost of measuring estimated from the cost of one time."""
        self.seconds = self.timed * self._each
        return super().facts()


class CudaWatch(Watch):
    """Times launches on one CUDA device: an event before and after, with the device busy until both are queued.

    If the device `captures` events, a captured launch gets two that become part of the CUDA graph, and are read after
    its replays. The timers are called by the generated code, and must not raise.
    """

    how = "CUDA events"

    def __init__(self, device: str, cuda: Any, spin: Any, tell: Callable[[Watch], None], *, captures: bool) -> None:
        super().__init__(device, tell)
        self.captured = threading.local()
        """`.pairs`: what was captured on this thread since the last capture began."""
        self._cuda = cuda
        self._spin = spin
        self._captures = captures
        self._cycles = 1000.0
        """Cycles of the device's clock per microsecond."""
        self._is_calibrated = False

    def event(self, *, external: bool = False) -> Any:
        """An event that records when it was passed."""
        return self._cuda.Event(enable_timing=True, external=True) if external else self._cuda.Event(enable_timing=True)

    def timers(self, times: Times) -> tuple[Any, Any]:
        self.watched.append(times)
        capturing, clock = self._cuda.is_current_stream_capturing, time.perf_counter
        needed = _SPIN_LEAST
        """Microseconds that the host needed for the last launch."""

        def before() -> tuple[Any, Any, float, float, bool] | None:
            times.calls += 1
            if capturing():
                if not self._captures:
                    return None
                first, second = self.event(external=True), self.event(external=True)
                first.record()
                return first, second, 0.0, 0.0, True
            if self.is_paused or (times.calls > ALWAYS and times.calls % SELDOM):
                return None
            came = clock()
            if times.first is not None:
                self.spin(needed)
            first, second = self.event(), self.event()
            first.record()
            return first, second, came, clock(), False

        def after(state: tuple[Any, Any, float, float, bool]) -> None:
            nonlocal needed
            first, second, came, begun, is_captured = state
            second.record()
            if is_captured:
                times.calls -= 1  # it did not run; its replays will
                self.captured.__dict__.setdefault("pairs", []).append((times, first, second))
                return
            launched = clock()
            second.synchronize()
            times.add(first.elapsed_time(second))
            needed = 2e6 * (launched - begun) if times.timed else _SPIN_LEAST
            self.timed += 1
            self.seconds += clock() - came
            self.tell()

        def begin() -> tuple[Any, Any, float, float, bool] | None:
            try:
                return None if self.trouble else before()
            except Exception as error:
                self._stop(error)
                return None

        def end(state: tuple[Any, Any, float, float, bool] | None) -> None:
            if state is not None:
                try:
                    after(state)
                except Exception as error:
                    self._stop(error)

        return begin, end

    def spin(self, microseconds: float) -> None:
        """Keep the current stream busy at least as long as the host needs to launch."""
        if not self._is_calibrated:
            self._is_calibrated = True
            self._calibrate()
        self._spin(int(min(max(microseconds, _SPIN_LEAST), _SPIN_MOST) * self._cycles))

    def _calibrate(self) -> None:
        """Measure the cycles per microsecond, and what two events add to a kernel's time."""
        cycles = 200_000
        for _ in range(2):
            first, second = self.event(), self.event()
            first.record()
            self._spin(cycles)
            second.record()
            second.synchronize()
            self._cycles = cycles / max(1000.0 * first.elapsed_time(second), 1.0)
        one, eleven = self._small(1), self._small(11)
        self.overhead = max(0.0, one - (eleven - one) / 10)

    def _small(self, count: int) -> float:
        """What two events measure around `count` kernels that do nothing."""
        found: list[float] = []
        for _ in range(21):
            first, second = self.event(), self.event()
            self._spin(int(400 * self._cycles))
            first.record()
            for _ in range(count):
                self._spin(1)
            second.record()
            second.synchronize()
            found.append(first.elapsed_time(second))
        return statistics.median(found)
