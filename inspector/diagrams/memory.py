"""The memory of one graph as SVG: bytes live after each line, below it a bar for each piece or a lane for each source
line.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.memory.holders import Holder
from inspect_compile.analysis.memory.lanes import Lane, StepMemory
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, line, text, tip
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.tables.text import byte_text, code_text, number_of, place_text

WIDTH: Final = 1180
LEFT: Final = 86
RIGHT: Final = 330
"""Space for the names of the bars."""
CURVE: Final = 190
TOP: Final = 66
BAR: Final = 15
MOST: Final = 160
"""Maximum number of bars; of more, only the largest are drawn."""
LANE: Final = 34
BAND: Final = 54
"""Height of a lane, and of the band of all saved memory."""
MOST_LANES: Final = 40
FOLDED: Final = 40
"""From so many pieces on they are folded unless asked otherwise."""
SAVED: Final = ("#cdeee1", "#00785a")
HELD: Final = ("#d9ecf9", "#0072b2")
COLOURS: Final = {
    "allocated": ("#d9ecf9", "#0072b2", "allocated by the wrapper"),
    "extern": ("#e4dcf1", "#5b3f8c", "returned by an extern kernel"),
    "pool": ("#cdeee1", "#00785a", "a pool of several buffers"),
    "nested": ("#fbe3c0", "#b56a00", "returned by a nested graph"),
    "given": ("#eeeeee", "#56636f", "saved by the forward; freeing it makes room"),
}
_PEAK: Final = "#c23b22"
_TICKS: Final = 10
_TEXT: Final = 60
"""Characters of a bar's name."""
_LEAST: Final = 0.01
"""Lanes below this part of the largest are counted, not drawn."""


def memory_chart(found: Memory, held: list[Holder], title: str) -> str:
    """The whole picture; any text of the dump is escaped."""
    shown = sorted(sorted(held, key=lambda row: -row.bytes)[:MOST], key=lambda row: (row.first, row.last or 1 << 60))
    files = {row.where.file for row in shown if row.where is not None}
    chart = _Chart(found, BAR * len(shown), files.pop() if len(files) == 1 else "")
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


def folded_chart(found: Memory, rows: list[Lane], step: StepMemory, title: str) -> str:
    """The same with a lane for each source line, all on one scale; what is saved for the backward is one band."""
    least = _LEAST * max((row.most for row in rows), default=0)
    large = [row for row in rows if row.most >= least]
    saved, rest = [row for row in large if row.is_saved], [row for row in large if not row.is_saved]
    shown = [*saved[:MOST_LANES], *rest[: MOST_LANES - len(saved[:MOST_LANES])]]
    is_given = any(piece.origin == "given" for row in saved for piece in row.pieces)
    band = "saved by the forward, freed here" if is_given else "saved for the backward"
    below = LANE * len(shown) + BAND * bool(saved)
    left = [row for row in rows if row not in shown]
    chart = _Chart(found, below)
    height = TOP + CURVE + 46 + below + 20 * bool(left) + 18
    parts = [
        text(16, 22, title, size=15, weight="bold"),
        text(16, 40, " · ".join((*_step_texts(step), _peak_text(found))), fill=FAINT),
        *_keys(
            [(SAVED, f"{band}, by source line")] * bool(saved) + [(HELD, "freed or returned in the call")] * bool(rest)
        ),
        *chart.curve(),
        *chart.lanes(shown, band, [row for row in rows if row.is_saved]),
    ]
    if left:
        most = byte_text(sum(row.most for row in left))
        words = f"… and {number_of(len(left), 'smaller lane')}, at most {most} together"
        parts.append(text(LEFT, height - 12, words, fill=FAINT))
    return document(WIDTH, height, parts, size=11)


def _step_texts(step: StepMemory) -> Iterator[str]:
    if step.static is not None:
        yield f"parameters and buffers {byte_text(step.static)}"
    if step.optimizer is not None:
        yield f"optimizer state {byte_text(step.optimizer)}"
    elif step.static is not None or step.saved is not None:
        yield "optimizer state not known: its step is not compiled"
    if step.saved is not None:
        yield f"saved for the backward {byte_text(step.saved)}"


def _peak_text(found: Memory) -> str:
    where = f", at line {found.peak_line} of the output code" if found.peak_line else ""
    summary = f"peak of this call {byte_text(found.peak)} above its start{where}"
    if found.unplanned is not None and found.unplanned != found.peak:
        summary += f"; {byte_text(found.unplanned)} without memory planning"
    return summary


def _legend(origins: set[str]) -> Iterator[str]:
    yield from _keys(
        [((fill, stroke), meaning) for origin, (fill, stroke, meaning) in COLOURS.items() if origin in origins]
    )


def _keys(meanings: Sequence[tuple[tuple[str, str], str]]) -> Iterator[str]:
    left = 16
    for (fill, stroke), meaning in meanings:
        yield f'<rect x="{left}" y="49" width="11" height="9" fill="{fill}" stroke="{stroke}"/>'
        yield text(left + 16, 57, meaning, fill=FAINT)
        left += 34 + 6 * len(meaning)


class _Chart:
    """Coordinates: steps from left to right, bytes from the bottom up."""

    def __init__(self, found: Memory, below: int, file: str = "") -> None:
        """`below`: the height of what is below the curve; `file`: that of all source lines, if it is one."""
        self._found, self._count, self._below, self._file = found, max(len(found.steps), 1), below, file
        self._places = {step.index: position for position, step in enumerate(found.steps)}
        lives = [step.live for step in found.steps]
        self._lowest, self._highest = min(0, *lives, 0), max(found.peak, *lives, 1)

    def _x(self, position: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * position / self._count

    def _y(self, live: int) -> float:
        return TOP + 12 + (CURVE - 12) * (self._highest - live) / (self._highest - self._lowest)

    def curve(self) -> Iterator[str]:
        """The curve of live bytes, with a scale, lines of the output code, and the peak."""
        steps = self._found.steps
        drawn: list[float] = []
        for live in (0, self._highest, self._lowest, self._highest // 2):
            if any(abs(self._y(live) - other) < BAR for other in drawn):
                continue
            drawn.append(self._y(live))
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
            for above, below in ((TOP, TOP + CURVE), (bars, bars + self._below)):  # not through numbers of lines
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
            name = row.buffers[0] if row.buffers else row.node
            place = place_text(row.where) if not self._file else f"line {row.where.line}" if row.where else ""
            named = _short(f"{name}  {row.node}  {place} {code_text(row.where)}")
            yield text(WIDTH - RIGHT + 8, top + BAR - 4, named)
            top += BAR

    def lanes(self, shown: Sequence[Lane], band: str, saved: Sequence[Lane]) -> Iterator[str]:
        """The band of all that is `saved` with its lines below it, then the others; all heights are of one scale."""
        top = TOP + CURVE + 28.0
        most = max((row.most for row in shown), default=1) or 1
        if saved:
            every = [sum(live) for live in zip(*(row.live for row in saved), strict=True)]
            count = sum(len(row.pieces) for row in saved)
            lines_of = number_of(len(saved), "source line")
            words: tuple[str, ...] = (band, f"{number_of(count, 'piece')} of {lines_of}")
            yield from self._lane(top, BAND, every, max(every, default=1) or 1, SAVED, words)
            top += BAND
        for row in shown:
            place = place_text(row.where) or "no source line"
            nodes = ", ".join(row.nodes)
            layers = f"{row.layers[0]} … {row.layers[-1]} ×{len(row.layers)}" if row.layers else ""
            about = " · ".join(part for part in (place, layers, number_of(len(row.pieces), "piece")) if part)
            words = (code_text(row.where) or nodes, about, nodes)
            yield from self._lane(top, LANE, row.live, most, SAVED if row.is_saved else HELD, words)
            top += LANE

    def _lane(
        self, top: float, height: int, live: Sequence[int], most: int, colours: tuple[str, str], words: tuple[str, ...]
    ) -> Iterator[str]:
        floor = top + height - 5
        corners = [f"{self._x(0):.1f},{floor:.1f}"]
        before = 0
        for position, now in enumerate(live):
            if now != before:
                corners += [f"{self._x(position):.1f},{floor - (height - 9) * one / most:.1f}" for one in (before, now)]
            before = now
        end = self._x(len(live))
        corners += [f"{end:.1f},{floor - (height - 9) * before / most:.1f}", f"{end:.1f},{floor:.1f}"]
        fill, stroke = colours
        held = byte_text(max(live, default=0))
        yield (
            f'<g>{tip(f"{held}  " + "  ".join(words))}<polygon points="{" ".join(corners)}" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="0.8"/></g>'
        )
        yield text(LEFT - 6, floor - 2, held, fill=FAINT, anchor="end")
        yield text(WIDTH - RIGHT + 8, floor - 10, _short(words[0]))
        yield text(WIDTH - RIGHT + 8, floor + 2, _short(words[1]), fill=FAINT)

    def _before(self, index: int) -> int:
        """The step of a Wrapper IR line, or the next if it changes nothing."""
        if index in self._places:
            return self._places[index]
        return next((place for other, place in self._places.items() if other > index), self._count) if index >= 0 else 0


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
