"""Where the time of compiling went, as SVG: each of torch's timers as a bar below the one that it ran in.

Written directly: bars on a scale of time. Names from a dump are escaped.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.frontend.times import Part
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, line, text, tip
from inspect_compile.knowledge.frontend import compile_stages as stages
from inspect_compile.tables.text import number_of, one_line, seconds_text

WIDTH: Final = 1180
LEFT: Final = 16
TOP: Final = 84
BAR: Final = 17
_LETTER: Final = 6.1
"""Width of a letter at the size of the bars' names."""
_NARROWEST: Final = 0.4
"""Bars that would be narrower in the picture, in points, are left out."""
_MOST: Final = 3000
SHORTEST: Final = 1e-9
"""Seconds that the picture is wide at least."""
_TICKS: Final = (
    1e-4,
    2e-4,
    5e-4,
    1e-3,
    2e-3,
    5e-3,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
)
COLOURS: Final = {
    stages.DYNAMO: ("#d9ecf9", "#0072b2"),
    stages.GUARDS: ("#e3f1fb", "#3b8fc4"),
    stages.AOT: ("#e4dcf1", "#5b3f8c"),
    stages.PARTITION: ("#efe8f8", "#7b62a6"),
    stages.PASSES: ("#fbdce9", "#a8336f"),
    stages.LOWERING: ("#fbe3c0", "#b56a00"),
    stages.SCHEDULING: ("#f6f1bb", "#8a7a00"),
    stages.CODEGEN: ("#cdeee1", "#00785a"),
    stages.BUILDING: ("#f6b3a2", "#a8200d"),
    stages.TUNING: ("#fad2c8", "#c23b22"),
}
"""Stage → fill and border; the others are grey."""
OTHERS: Final = ("#e8edf1", "#56636f")


def timeline(parts: Sequence[Part], title: str) -> str:
    """The picture of a run; `parts` are all of its timers, in the order of `times.parts`."""
    parts = [part for part in parts if math.isfinite(part.start + part.seconds)]
    first = min((part.start for part in parts), default=0.0)
    whole = max((part.start + part.seconds - first for part in parts), default=0.0)
    whole = min(max(whole, SHORTEST), sys.float_info.max)
    scale = (WIDTH - 2 * LEFT) / whole
    wide = [part for part in parts if part.seconds * scale >= _NARROWEST]
    shown = wide if len(wide) <= _MOST else sorted(wide, key=lambda part: -part.seconds)[:_MOST]
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


def ticks(whole: float, scale: float, top: int, height: int, left: int) -> Iterator[str]:
    """Lines at round times, with the times above them."""
    step = next((tick for tick in _TICKS if whole / tick <= 12), _TICKS[-1])
    for number in range(min(int(whole / step), 200) + 1):
        x = left + number * step * scale
        yield line(x, top - 8, x, height, "#e3e7ea")
        yield text(x + 2, top - 8, seconds_text(number * step) if number else "0", fill=FAINT, size=9)


def _bar(part: Part, first: float, scale: float, top: int) -> str:
    fill, stroke = COLOURS.get(part.stage, OTHERS)
    width = max(part.seconds * scale, 0.6)
    name = one_line(part.name)
    of = f", compile {part.graph}" if part.graph else ""
    lasted = f"{seconds_text(part.seconds)}, of that {seconds_text(part.own)} in no other timer"
    told = f"{name}\n{part.stage}{of}\n{lasted}"
    x = LEFT + (part.start - first) * scale
    return (
        f'<g>{tip(told)}<rect x="{x:.1f}" y="{top + 1}" width="{width:.1f}" height="{BAR - 2}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="0.6"/>{label(name, x, width, top)}</g>'
    )


def label(name: str, x: float, width: float, top: int) -> str:
    """The name in a bar, as far as there is room for it."""
    fits = int((width - 6) / _LETTER)
    if fits < 4:
        return ""
    return text(x + 3, top + BAR - 5, name if len(name) <= fits else f"{name[: fits - 1]}…", size=10)
