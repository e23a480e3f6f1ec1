"""A process from its start to its last compile, as SVG: a lane for each kind of work, below each other on one clock.

Written directly: bars on a scale of time. Names from a dump are escaped.
"""

import sys
from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.frontend.startup import AOT, DYNAMO, IMPORTS, INDUCTOR, Bar, Startup
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, line, text, tip
from inspect_compile.diagrams.timeline import BAR, COLOURS, OTHERS, SHORTEST, WIDTH, label, ticks
from inspect_compile.knowledge.frontend import compile_stages as stages
from inspect_compile.tables.text import number_of, one_line, seconds_text

LEFT: Final = 150
RIGHT: Final = 16
TOP: Final = 72
_NARROWEST: Final = 0.4
_MOST: Final = 3000
_MOST_THREADS: Final = 24
"""Threads of one lane that have a line of their own; further ones share the last."""
_COLOUR_OF: Final = {
    IMPORTS: ("#dfe7d3", "#4b6b1f"),
    DYNAMO: COLOURS[stages.DYNAMO],
    AOT: COLOURS[stages.AOT],
    INDUCTOR: COLOURS[stages.LOWERING],
    stages.BUILDING: COLOURS[stages.BUILDING],
    stages.TUNING: COLOURS[stages.TUNING],
}


def startup_svg(found: Startup, title: str) -> str:
    """The picture of a run."""
    whole = min(max(found.seconds, SHORTEST), sys.float_info.max)
    scale = (WIDTH - LEFT - RIGHT) / whole
    wide = [bar for bar in found.bars if bar.seconds * scale >= _NARROWEST and bar.start + bar.seconds > 0]
    shown = wide if len(wide) <= _MOST else sorted(wide, key=lambda bar: -bar.seconds)[:_MOST]
    threads: dict[str, list[int]] = {lane.lane: [] for lane in found.lanes}
    for bar in shown:
        if bar.thread not in (own := threads[bar.lane]) and len(own) < _MOST_THREADS:
            own.append(bar.thread)
    tops: dict[str, int] = {}
    height = TOP
    for name, own in threads.items():
        tops[name] = height
        height += BAR * max(len(own), 1) + 8
    told = f"{seconds_text(whole)} from the start of the process; {seconds_text(found.elsewhere)} in none of the lanes"
    body = [
        text(16, 24, title, size=15, weight="bold"),
        text(16, 42, told, fill=FAINT),
        *ticks(whole, scale, TOP, height, LEFT),
        *_names(found, tops),
        *(_bar(bar, scale, tops[bar.lane] + BAR * _line(threads[bar.lane], bar.thread)) for bar in shown),
    ]
    if left := len(found.bars) - len(shown):
        body.append(text(16, height + 10, f"{number_of(left, 'shorter bar')} left out", fill=FAINT))
    return document(WIDTH, height + 20, body, size=11)


def _line(threads: list[int], thread: int) -> int:
    return threads.index(thread) if thread in threads else len(threads) - 1


def _names(found: Startup, tops: dict[str, int]) -> Iterator[str]:
    for lane in found.lanes:
        top = tops[lane.lane]
        yield line(16, top - 4, WIDTH - RIGHT, top - 4, "#e3e7ea")
        yield text(16, top + BAR - 5, lane.lane)
        yield text(LEFT - 8, top + BAR - 5, seconds_text(lane.seconds), fill=FAINT, size=10, anchor="end")


def _bar(bar: Bar, scale: float, top: int) -> str:
    fill, stroke = _COLOUR_OF.get(bar.lane, OTHERS)
    start = max(bar.start, 0.0)
    width = max((bar.start + bar.seconds - start) * scale, 0.6)
    name = one_line(bar.name if bar.lane == IMPORTS or not bar.graph else f"{bar.graph} {bar.name}")
    told = f"{name}\n{bar.lane}, {seconds_text(bar.seconds)} from {seconds_text(start)} on"
    x = LEFT + start * scale
    return (
        f'<g>{tip(told)}<rect x="{x:.1f}" y="{top + 1}" width="{width:.1f}" height="{BAR - 2}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="0.6"/>{label(name, x, width, top)}</g>'
    )
