"""Records torch's own compile timers: each when it ends, and those of whole stages also when they begin; and how long
the first call of each compiled graph took.
"""

import threading
from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.facts import FirstCall, Timed, TimerBegan
from inspect_compile.knowledge.frontend.compile_stages import AHEAD, BUILDING, TUNING, is_stage, stage_of
from inspect_compile.lowering.core.compile_names import NAMES
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import call_path as call_names
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.times"
_BILLION = 1e9
_LONG: Final = frozenset({BUILDING, TUNING})
"""Stages in which other processes work, and nothing else is recorded for long: that they began is written at once."""
_PAUSE: Final = 0.05
"""Seconds between two writes because of other stages."""


_THREADS: Final[dict[int, int]] = {}


class _Open(threading.local):
    """Timers running on this thread, each with the time that probes had taken when it began."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, float]] = []


def install(probes: Probes) -> None:
    """Hook the events that torch logs for each compile."""
    opened = _Open()
    has_compiled = False
    stage, written = "", 0.0

    def began(logger: Any, args: tuple[Any, ...], result: Any) -> None:
        nonlocal has_compiled, stage, written
        name = str(args[0])
        opened.parts.append((name, probes.spent))
        has_compiled = has_compiled or name == AHEAD
        if not is_stage(name) or ((meant := compile_id()) is None and not has_compiled):
            return
        probes.sink.add(TimerBegan(graph=meant or "", name=name, start=args[1] / _BILLION))
        before, stage = stage, stage_of(name)
        now = AtStart.monotonic()
        if stage in _LONG or (stage != before and now - written > _PAUSE):
            written = now
            probes.sink.flush()

    def ended(logger: Any, args: tuple[Any, ...], result: Any) -> None:
        nonlocal has_compiled
        name, now, _, start, *more = args
        spent = probes.spent
        while opened.parts:  # torch forgets those that an exception left open
            part, before = opened.parts.pop()
            if part == name:
                spent = before
                break
        given = more[1] if len(more) > 1 else None
        meant = compile_id() if given is None else NAMES.name(given)
        has_compiled = has_compiled or meant is not None
        if not has_compiled:  # a process that compiles nothing records nothing
            return
        sink = probes.sink
        sink.add(
            Timed(
                graph="" if meant is None else meant,
                name=str(name),
                start=start / _BILLION,
                seconds=round((now - start) / _BILLION, 6),
                probes=round(probes.spent - spent, 6),
                thread=thread_number(),
            )
        )
        if not opened.parts:  # the program goes on, and may be killed before there is anything else to write
            sink.flush()

    probes.follow(PROBE, names.TIME_BEGINS, began)
    probes.follow(PROBE, names.TIME_ENDS, ended)


def install_first_calls(probes: Probes) -> None:
    """Hook the first call of each compiled graph."""

    def ready(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str]:
        given = argument(args, kwargs, 2, "graph_kwargs") or {}
        return compile_id() or "", "backward" if given.get("is_backward") else "forward"

    def called(state: tuple[str, str], start: float, seconds: float) -> None:
        graph, part = state
        probes.sink.add(
            FirstCall(graph=graph, part=part, start=start, seconds=round(seconds, 6), thread=thread_number())
        )

    probes.first_calls(PROBE, call_names.POST_COMPILE, call_names.CALLED, ready, called)


def thread_number() -> int:
    """The number of the running thread."""
    return _THREADS.setdefault(threading.get_ident(), len(_THREADS))
