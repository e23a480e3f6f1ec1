"""Where the steps of a program begin and end in a profile."""

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from inspect_compile.analysis.runtime.host_activity import PROFILER_STEP, STEP
from inspect_compile.knowledge.cost.operator_order import REGION
from inspect_compile.profiles import Profile, Span

_FUNCTION: Final = re.compile(r"(?P<file>.*)\((?P<line>\d+)\): ", re.DOTALL)
_MOST_PERIOD: Final = 512
"""Maximum number of compiled calls of one step that are looked for."""


class Steps(NamedTuple):
    """The moments at which one step ends and the next begins, in microseconds on the profile's clock."""

    by: str
    """What a step ends with; empty if nothing repeats."""
    ends: tuple[float, ...]


def steps_of(profile: Profile, main: int, given: str | None = None) -> Steps:
    """The steps that the thread `main` takes: those that the program marked, its optimizer's, or the compiled calls
    that repeat. With `given`, `train.py:41`, a step is a call of the function that has this line.

    What comes before the first end belongs to no step: a profiler itself starts in it.
    """
    own = sorted((span for span in profile.spans if span.thread == main), key=attrgetter("start"))
    if given is not None:
        calls = _given(profile.functions, main, given)
        return Steps(given if calls else "", tuple(span.end for span in calls))
    marked = [span for span in own if span.name.startswith(PROFILER_STEP)]
    if marked:
        return Steps(PROFILER_STEP, (marked[0].start, *(span.end for span in marked)))
    optimizer = [span for span in own if span.name.startswith(STEP)]
    rarest = min((_named(optimizer, name) for name in {span.name for span in optimizer}), key=len, default=[])
    calls = _outermost([span for span in own if span.name.startswith(REGION)])
    if len(rarest) > 1:
        # One class may do several steps in one of the program's: which is told by what comes again.
        both = [span.name for span in sorted([*calls, *optimizer], key=attrgetter("start"))]
        each = both[: _period(both)].count(rarest[0].name) or 1
        ends = rarest[each - 1 :: each] if len(rarest) > each else rarest
        return Steps(rarest[0].name, tuple(span.end for span in ends))
    names = [span.name for span in calls]
    period = _period(names)
    ends = calls[period - 1 :: period] if period else _named(calls, max(names, key=names.count, default=""))
    return Steps(ends[0].name, tuple(span.end for span in ends)) if len(ends) > 1 else Steps("", ())


def _given(functions: Sequence[Span], main: int, given: str) -> list[Span]:
    """The calls of the function with this line: of those of its file, the one that begins last before it."""
    file, _, line = given.rpartition(":")
    if not line.isdecimal():
        return []
    named: dict[tuple[int, str], list[Span]] = {}
    for span in functions:
        found = _FUNCTION.match(span.name)
        if found and span.thread == main and f"/{found['file']}".endswith(f"/{file.removeprefix('./')}"):
            named.setdefault((int(found["line"]), span.name), []).append(span)
    before = [key for key in named if key[0] <= int(line)]
    return _outermost(sorted(named[max(before)], key=attrgetter("start"))) if before else []


def _named(spans: Sequence[Span], name: str) -> list[Span]:
    return [span for span in spans if span.name == name]


def _outermost(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for span in spans:
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def _period(names: Sequence[str]) -> int:
    """The number of calls after which the same ones come again, up to the end; 0 if there is none."""
    for period in range(1, min(_MOST_PERIOD, len(names) // 2) + 1):
        if all(name == names[index % period] for index, name in enumerate(names)):
            return period
    return 0
