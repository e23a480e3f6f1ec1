"""The memory of one graph as SVG: bytes live after each line, and below it each piece of memory as a bar."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.memory.holders import Holder
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, line, text, tip
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.tables.text import byte_text, number_of, place_text

WIDTH: Final = 1180
LEFT: Final = 86
RIGHT: Final = 250
"""Space for the names of the bars."""
CURVE: Final = 190
TOP: Final = 66
BAR: Final = 15
MOST: Final = 160
"""Maximum number of bars; of more, only the largest are drawn."""
COLOURS: Final = {
    "allocated": ("#d9ecf9", "#0072b2", "allocated by the wrapper"),
    "extern": ("#e4dcf1", "#5b3f8c", "returned by an extern kernel"),
    "pool": ("#cdeee1", "#00785a", "a pool of several buffers"),
    "nested": ("#fbe3c0", "#b56a00", "returned by a nested graph"),
    "given": ("#eeeeee", "#56636f", "saved by the forward; freeing it makes room"),
}
_PEAK: Final = "#c23b22"
_TICKS: Final = 10
_TEXT: Final = 46
"""Characters of a bar's name."""


def memory_chart(found: Memory, held: list[Holder], title: str) -> str:
    """The whole picture; any text of the dump is escaped."""
    places = {step.index: position for position, step in enumerate(found.steps)}
    shown = sorted(sorted(held, key=lambda row: -row.bytes)[:MOST], key=lambda row: (row.first, row.last or 1 << 60))
    chart = _Chart(found, places, len(shown))
    height = TOP + CURVE + 46 + BAR * len(shown) + (20 if len(held) > len(shown) else 0) + 18
    parts = [
        text(16, 22, title, size=15, weight="bold"),
        text(16, 40, _peak_text(found), fill=FAINT),
        *_legend({row.origin for row in shown}),
        *chart.curve(),
        *chart.bars(shown),
    ]
    if len(held) > len(shown):
        left = number_of(len(held) - len(shown), "smaller piece")
        parts.append(text(LEFT, height - 12, f"… and {left} of memory", fill=FAINT))
    return document(WIDTH, height, parts, size=11)


def _peak_text(found: Memory) -> str:
    where = f" after line {found.peak_line} of the output code" if found.peak_line else ""
    summary = f"peak {found.peak:,} B{where}, relative to the start of the call"
    if found.unplanned is not None and found.unplanned != found.peak:
        summary += f"; {found.unplanned:,} B without memory planning"
    return summary


def _legend(origins: set[str]) -> Iterator[str]:
    left = 16
    for origin, (fill, stroke, meaning) in COLOURS.items():
        if origin in origins:
            yield f'<rect x="{left}" y="49" width="11" height="9" fill="{fill}" stroke="{stroke}"/>'
            yield text(left + 16, 57, meaning, fill=FAINT)
            left += 34 + 6 * len(meaning)


class _Chart:
    """Coordinates: steps from left to right, bytes from the bottom up."""

    def __init__(self, found: Memory, places: dict[int, int], bars: int) -> None:
        self._found, self._places, self._count, self._bars = found, places, max(len(found.steps), 1), bars
        lives = [step.live for step in found.steps]
        self._lowest, self._highest = min(0, *lives, 0), max(found.peak, *lives, 1)

    def _x(self, position: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * position / self._count

    def _y(self, live: int) -> float:
        return TOP + 12 + (CURVE - 12) * (self._highest - live) / (self._highest - self._lowest)

    def curve(self) -> Iterator[str]:
        """The curve of live bytes, with a scale, lines of the output code, and the peak."""
        steps = self._found.steps
        for live in sorted({self._lowest, 0, self._highest // 2, self._highest}):
            yield line(LEFT, self._y(live), WIDTH - RIGHT, self._y(live), "#e3e7ea")
            yield text(LEFT - 6, self._y(live) + 4, byte_text(live), fill=FAINT, anchor="end")
        corners = [f"{self._x(0):.1f},{self._y(0):.1f}"]
        for position, step in enumerate(steps):
            corners += [f"{self._x(at):.1f},{self._y(step.live):.1f}" for at in (position, position + 1)]
        corners.append(f"{self._x(len(steps)):.1f},{self._y(0):.1f}")
        yield f'<polygon points="{" ".join(corners)}" fill="#d9ecf9" stroke="#0072b2" stroke-width="1"/>'
        yield line(LEFT, self._y(0), WIDTH - RIGHT, self._y(0), FAINT)
        for position in range(0, len(steps), max(1, len(steps) // _TICKS)):
            if (number := steps[position].line) is not None:
                yield text(self._x(position), TOP + CURVE + 16, str(number), fill=FAINT)
        yield text(LEFT - 6, TOP + CURVE + 16, "line", fill=FAINT, anchor="end")
        peak = self._places.get(-1 if self._found.peak_index is None else self._found.peak_index)
        if peak is not None:
            x = self._x(peak + 0.5)
            bars = TOP + CURVE + 28
            for above, below in ((TOP, TOP + CURVE), (bars, bars + BAR * self._bars)):  # not through numbers of lines
                yield line(x, above, x, below, _PEAK, dash="3 3")
            side = "end" if x > WIDTH / 2 else "start"
            label = f"peak {byte_text(self._found.peak)}"
            yield text(x + (-5 if side == "end" else 5), TOP + 8, label, fill=_PEAK, anchor=side, weight="bold")

    def bars(self, shown: list[Holder]) -> Iterator[str]:
        """A bar for each piece of memory, with its buffers and the source line after it."""
        top = TOP + CURVE + 28
        for row in shown:
            first = self._before(row.first)
            last = self._count if row.last is None else self._before(row.last) + 1
            left, right = self._x(first), max(self._x(last), self._x(first) + 2)
            fill, stroke, _ = COLOURS.get(row.origin, COLOURS["allocated"])
            tooltip = f"{row.bytes:,} B  {row.named}\nlines {row.span}\n{row.node}  {place_text(row.where)}"
            yield (
                f'<g>{tip(tooltip)}<rect x="{left:.1f}" y="{top + 1}" width="{right - left:.1f}" '
                f'height="{BAR - 3}" fill="{fill}" stroke="{stroke}" stroke-width="0.8"/></g>'
            )
            for since in row.since[1:] if row.origin != "pool" else ():
                yield line(self._x(self._before(since)), top + 1, self._x(self._before(since)), top + BAR - 2, stroke)
            yield text(LEFT - 6, top + BAR - 4, byte_text(row.bytes), fill=FAINT, anchor="end")
            named = _short(f"{row.buffers[0] if row.buffers else row.node}  {place_text(row.where)}  {row.node}")
            yield text(WIDTH - RIGHT + 8, top + BAR - 4, named)
            top += BAR

    def _before(self, index: int) -> int:
        """The step of a Wrapper IR line, or the next if it changes nothing."""
        if index in self._places:
            return self._places[index]
        return next((place for other, place in self._places.items() if other > index), self._count) if index >= 0 else 0


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
