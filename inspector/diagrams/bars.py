"""Bars on a scale of time, for charts that are written directly as SVG."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeVar

from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import line, text, tip
from inspect_compile.knowledge.frontend import compile_stages as stages
from inspect_compile.tables.text import seconds_text

WIDTH: Final = 1180
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
    stages.EXPORT: ("#d3e3ea", "#2c6179"),
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
    stages.PACKAGES: ("#e9e2d0", "#6e5a24"),
    stages.CAPTURE: ("#d5e8d0", "#2f6b1f"),
}
"""Stage → fill and border; the others are grey."""
OTHERS: Final = ("#e8edf1", "#56636f")


class _Lasting(Protocol):
    @property
    def seconds(self) -> float: ...


L = TypeVar("L", bound=_Lasting)


def wide_enough(found: Sequence[L], scale: float) -> list[L]:
    """Those that are wide enough to be seen, in their order; of many the longest."""
    wide = [one for one in found if one.seconds * scale >= _NARROWEST]
    return wide if len(wide) <= _MOST else sorted(wide, key=lambda one: -one.seconds)[:_MOST]


def ticks(whole: float, scale: float, top: int, height: int, left: int) -> Iterator[str]:
    """Lines at round times, with the times above them."""
    step = next((tick for tick in _TICKS if whole / tick <= 12), _TICKS[-1])
    for number in range(min(int(whole / step), 200) + 1):
        x = left + number * step * scale
        yield line(x, top - 8, x, height, "#e3e7ea")
        yield text(x + 2, top - 8, seconds_text(number * step) if number else "0", fill=FAINT, size=9)


def bar(name: str, tooltip: str, x: float, width: float, top: int, colours: tuple[str, str]) -> str:
    """A bar with its name, as far as there is room for it, and a tooltip; `colours`: fill and border."""
    fill, stroke = colours
    width = max(width, 0.6)
    return (
        f'<g>{tip(tooltip)}<rect x="{x:.1f}" y="{top + 1}" width="{width:.1f}" height="{BAR - 2}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="0.6"/>{_label(name, x, width, top)}</g>'
    )


def _label(name: str, x: float, width: float, top: int) -> str:
    fits = int((width - 6) / _LETTER)
    if fits < 4:
        return ""
    return text(x + 3, top + BAR - 5, name if len(name) <= fits else f"{name[: fits - 1]}…", size=10)
