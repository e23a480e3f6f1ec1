"""A process from its start to its last compile and the first calls, as SVG: a lane for each kind of work, below each
other on one clock.

Written directly: bars on a scale of time. Names from a dump are escaped.
"""

import sys
from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.frontend.startup import AOT, DYNAMO, FIRST_CALLS, IMPORTS, INDUCTOR, Bar, Startup
from inspect_compile.analysis.frontend.whole_start import ENDING, OWN, QUEUED, WAITING
from inspect_compile.diagrams.bars import BAR, COLOURS, OTHERS, SHORTEST, WIDTH, bar, ticks, wide_enough
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, line, text
from inspect_compile.knowledge.frontend import compile_stages as stages
from inspect_compile.tables.text import number_of, one_line, seconds_text, unplaced_text

LEFT: Final = 150
RIGHT: Final = 16
TOP: Final = 72
_MOST_THREADS: Final = 24
"""Threads of one lane that have a line of their own; further ones share the last."""
_COLOUR_OF: Final = {
    IMPORTS: ("#dfe7d3", "#4b6b1f"),
    stages.EXPORT: COLOURS[stages.EXPORT],
    DYNAMO: COLOURS[stages.DYNAMO],
    AOT: COLOURS[stages.AOT],
    INDUCTOR: COLOURS[stages.LOWERING],
    stages.BUILDING: COLOURS[stages.BUILDING],
    stages.TUNING: COLOURS[stages.TUNING],
    FIRST_CALLS: ("#cfeaec", "#1d6b73"),
    stages.PACKAGES: COLOURS[stages.PACKAGES],
    stages.CAPTURE: COLOURS[stages.CAPTURE],
    OWN: ("#e6dcf7", "#54358a"),
    QUEUED: ("#fbe3c4", "#8f5f14"),
    WAITING: ("#f1f3f5", "#8a949d"),
    ENDING: ("#e4e8ea", "#56646c"),
}


def startup_svg(found: Startup, title: str) -> str:
    """The picture of a run."""
    whole = min(max(found.seconds, SHORTEST), sys.float_info.max)
    scale = (WIDTH - LEFT - RIGHT) / whole
    shown = wide_enough([one for one in found.bars if one.start + one.seconds > 0], scale)
    threads: dict[tuple[str, str], list[int]] = {(lane.process, lane.lane): [] for lane in found.lanes}
    for one in shown:
        if one.thread not in (own := threads[one.process, one.lane]) and len(own) < _MOST_THREADS:
            own.append(one.thread)
    tops: dict[tuple[str, str], int] = {}
    height, process = TOP, ""
    for name, own in threads.items():
        if name[0] != process:
            process = name[0]
            height += BAR
        tops[name] = height
        height += BAR * max(len(own), 1) + 8
    took = seconds_text(whole)
    until = f"ready after {took}" if found.is_ready else f"{took} from the start of the process"
    note = f"{until}; {seconds_text(found.elsewhere)} unattributed"
    body = [
        text(16, 24, title, size=15, weight="bold"),
        text(16, 42, note, fill=FAINT),
        *ticks(whole, scale, TOP, height, LEFT),
        *_names(found, tops),
        *(
            _bar(one, scale, tops[one.process, one.lane] + BAR * _line(threads[one.process, one.lane], one.thread))
            for one in shown
        ),
    ]
    if left := len(found.bars) - len(shown):
        body.append(text(16, height + 10, f"{number_of(left, 'shorter bar')} left out", fill=FAINT))
    if found.unplaced:
        body.append(text(16, 58, unplaced_text(found.unplaced), fill=FAINT))
    return document(WIDTH, height + 20, body, size=11)


def _line(threads: list[int], thread: int) -> int:
    return threads.index(thread) if thread in threads else len(threads) - 1


def _names(found: Startup, tops: dict[tuple[str, str], int]) -> Iterator[str]:
    process = ""
    for lane in found.lanes:
        top = tops[lane.process, lane.lane]
        if lane.process != process:
            process = lane.process
            yield text(16, top - 9, one_line(process), weight="bold")
        yield line(16, top - 4, WIDTH - RIGHT, top - 4, "#e3e7ea")
        yield text(16, top + BAR - 5, lane.lane)
        yield text(LEFT - 8, top + BAR - 5, seconds_text(lane.seconds), fill=FAINT, size=10, anchor="end")


def _bar(of: Bar, scale: float, top: int) -> str:
    start = max(of.start, 0.0)
    name = one_line(of.name if of.lane == IMPORTS or not of.graph else f"{of.graph} {of.name}")
    tooltip = f"{name}\n{of.lane}, {seconds_text(of.seconds)} from {seconds_text(start)} on"
    width = (of.start + of.seconds - start) * scale
    return bar(name, tooltip, LEFT + start * scale, width, top, _COLOUR_OF.get(of.lane, OTHERS))
