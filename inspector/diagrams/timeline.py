"""Where the time of compiling went, as SVG: each of torch's timers as a bar below the one that it ran in.

Written directly: bars on a scale of time. Names from a dump are escaped.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.frontend.times import TimerRun
from inspect_compile.diagrams.bars import BAR, COLOURS, OTHERS, SHORTEST, WIDTH, bar, ticks, wide_enough
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, text
from inspect_compile.knowledge.frontend import compile_stages as stages
from inspect_compile.tables.text import number_of, one_line, seconds_text

LEFT: Final = 16
TOP: Final = 84


def timeline(parts: Sequence[TimerRun], title: str) -> str:
    """The picture of a run; `parts` are all of its timers, in the order of `times.parts`."""
    parts = [part for part in parts if math.isfinite(part.start + part.seconds)]
    first = min((part.start for part in parts), default=0.0)
    whole = max((part.start + part.seconds - first for part in parts), default=0.0)
    whole = min(max(whole, SHORTEST), sys.float_info.max)
    scale = (WIDTH - 2 * LEFT) / whole
    shown = wide_enough(parts, scale)
    threads = dict.fromkeys(part.thread for part in parts)
    deepest: dict[int, int] = {}
    for part in shown:
        deepest[part.thread] = max(deepest.get(part.thread, 0), part.depth)
    tops: dict[int, int] = {}
    height = TOP
    for thread in threads:
        if thread in deepest:
            tops[thread] = height
            height += BAR * (deepest[thread] + 1) + 10
    left_out = len(parts) - len(shown)
    body = [
        text(LEFT, 24, title, size=15, weight="bold"),
        text(LEFT, 42, f"compiling, {seconds_text(whole)}: each bar is one run of one of torch's timers", fill=FAINT),
        *_legend({part.stage for part in shown}),
        *ticks(whole, scale, TOP, height, LEFT),
        *(_bar(part, first, scale, tops[part.thread] + BAR * part.depth) for part in shown),
    ]
    if left_out:
        body.append(text(LEFT, height + 10, f"{number_of(left_out, 'shorter run')} left out", fill=FAINT))
    return document(WIDTH, height + 20, body, size=11)


def _legend(present: set[str]) -> Iterator[str]:
    left = float(LEFT)
    for stage in stages.STAGES:
        if stage in present:
            fill, stroke = COLOURS.get(stage, OTHERS)
            yield f'<rect x="{left:.1f}" y="52" width="11" height="9" fill="{fill}" stroke="{stroke}"/>'
            yield text(left + 15, 60, stage, fill=FAINT, size=10)
            left += 28 + 5.4 * len(stage)


def _bar(part: TimerRun, first: float, scale: float, top: int) -> str:
    name = one_line(part.name)
    of = f", compile {part.graph}" if part.graph else ""
    lasted = f"{seconds_text(part.seconds)}, of that {seconds_text(part.own)} in no other timer"
    tooltip = f"{name}\n{part.stage}{of}\n{lasted}"
    x = LEFT + (part.start - first) * scale
    return bar(name, tooltip, x, part.seconds * scale, top, COLOURS.get(part.stage, OTHERS))
