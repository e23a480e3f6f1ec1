"""The ranks of a run beside each other, as SVG: what each compiled, what it costs and calls, and where they differ.

Written directly: a table of boxes. Everything from a dump is escaped.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Final

from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.analysis.compare.rank_grid import Cell, GraphCell, RankColumn, RankGrid, Row
from inspect_compile.analysis.runtime.collectives import by_operation, earlier
from inspect_compile.diagrams.look import FAINT, INK
from inspect_compile.diagrams.schedule.words import function_text, shortened
from inspect_compile.diagrams.svg import document, line, text, tip
from inspect_compile.tables.text import byte_text, number_of, one_line, seconds_text

LARGEST: Final = 8
"""Rows from which on those are folded that are the same on all ranks."""
MOST: Final = 200
"""Rows that are drawn."""

_LEFT, _TOP, _GAP = 16, 66, 12
_NAMES: Final = 178
"""Width of the column with the program's functions."""
_WIDTH: Final = 286
"""Width of a rank's column."""
_PAD: Final = 8
_LETTERS: Final = 52
"""Characters of a line in a cell."""
_STEP: Final = 13
"""From one line of a cell to the next, in points."""
_BAR: Final = 92
_SHOWN: Final = 3
"""Lines of what only one side has."""

_RED, _AMBER = "#c8102e", "#8a5200"
_BAD: Final = ("#fdf1ef", "#c8102e")
_PLAIN: Final = ("#f7fafc", "#8795a1")
_BOX: Final = {
    "forward": ("#d9ecf9", "#0072b2"),
    "inference": ("#d9ecf9", "#0072b2"),
    "backward": ("#e4dcf1", "#5b3f8c"),
}
_OTHER: Final = ("#eeeeee", "#56636f")


@dataclass(frozen=True)
class _Line:
    """One line of text in a cell."""

    words: str
    fill: str = INK
    weight: str = ""
    box: tuple[str, str] | None = None
    """Fill and border of the box that it is the first line of."""
    lines: int = 0
    """How many lines that box has."""


def ranks_picture(grid: RankGrid, title: str, verdict: str, *, fold: bool | None = None) -> str:
    """The picture of a run; `fold`: rows that are the same on all ranks are counted, None: if there are many."""
    is_folded = len(grid.rows) > LARGEST if fold is None else fold
    right = _LEFT + _NAMES + len(grid.columns) * (_WIDTH + _GAP)
    differs = not all(row.is_same for row in grid.rows) or any(column.settings for column in grid.columns)
    body = [
        text(_LEFT, 26, shortened(title, 110), size=15, weight="bold"),
        text(_LEFT, 44, shortened(verdict, 150), fill=_RED if differs else FAINT),
    ]
    legend = f"compared with {grid.columns[0].name}; in red: what differs" if len(grid.columns) > 1 else ""
    more = (
        f"{number_of(grid.left_out, 'more group')} of ranks that compiled something different" if grid.left_out else ""
    )
    body.append(text(_LEFT, 58, "; ".join(filter(None, (legend, more))), fill=FAINT, size=10))
    top = _TOP + _header(grid, body)
    drawn = 0
    for is_same, rows in groupby(grid.rows, lambda row: is_folded and row.is_same):
        own = list(rows)
        if is_same:
            top += _folded(own, top, right, body)
            continue
        for row in own[: max(0, MOST - drawn)]:
            top += _row(row, grid, top, body)
        drawn += len(own)
    if drawn > MOST:
        body.append(text(_LEFT, top + 12, f"{drawn - MOST} more compiles: show ranks has them all", fill=FAINT))
        top += 24
    top += _outside(grid, top, body)
    return document(right - _GAP + _LEFT, top + 6, body, size=11)


def _columns(grid: RankGrid) -> Iterator[tuple[int, RankColumn]]:
    for number, column in enumerate(grid.columns):
        yield _LEFT + _NAMES + number * (_WIDTH + _GAP), column


def _header(grid: RankGrid, body: list[str]) -> int:
    """Name, state and sums of each rank; returns its height."""
    bars: tuple[tuple[str, Callable[[RankColumn], list[float]], Callable[[float], str]], ...] = (
        ("compiling", lambda of: [row.seconds for row in of.summaries if row.seconds is not None], seconds_text),
        ("kernels move", lambda of: [float(row.bytes) for row in of.summaries[:1]], lambda size: byte_text(int(size))),
        ("peak of a graph", lambda of: [float(of.peak)], lambda size: byte_text(int(size))),
        (
            "kernels take",
            lambda of: [row.kernel_seconds for row in of.summaries if row.kernel_seconds is not None],
            seconds_text,
        ),
    )
    shown = [bar for bar in bars if any(map(math.isfinite, (one for column in grid.columns for one in bar[1](column))))]
    settings = max(len(_settings(column)) for column in grid.columns)
    height = 44 + 16 * len(shown) + _STEP * settings
    for left, column in _columns(grid):
        first = column.summaries[0]
        fill, stroke = _BAD if first.unlike or column.settings else _PLAIN
        body.append(_rect(left, _TOP, _WIDTH, height, fill, stroke))
        body.append(text(left + _PAD, _TOP + 17, column.name, size=13, weight="bold"))
        status = ", ".join(dict.fromkeys(one_line(row.status) for row in column.summaries))
        body.append(text(left + _WIDTH - _PAD, _TOP + 17, shortened(status, 24), fill=FAINT, size=10, anchor="end"))
        counts = [number_of(first.graphs, "graph"), number_of(first.kernels, "kernel")]
        counts += [number_of(first.recompiles, "recompile")] if first.recompiles else []
        counts += [number_of(first.graph_breaks, "graph break")] if first.graph_breaks else []
        body.append(text(left + _PAD, _TOP + 33, ", ".join(counts), size=10))
        for number, (name, values, words) in enumerate(shown):
            known = [[value for value in values(one) if math.isfinite(value)] for one in (column, *grid.columns)]
            most = max((value for own in known for value in own), default=0.0)
            body += _bar(left + _PAD, _TOP + 40 + 16 * number, name, known[0], most, words)
        for number, one in enumerate(_settings(column)):
            y = _TOP + 52 + 16 * len(shown) + _STEP * number
            body.append(text(left + _PAD, y, one.words, fill=one.fill, size=9))
    return height + _GAP


def _settings(column: RankColumn) -> list[_Line]:
    return [each for row in column.settings for each in _difference(row)]


def _bar(
    left: int, top: int, name: str, values: list[float], most: float, words: Callable[[float], str]
) -> Iterator[str]:
    yield text(left, top + 10, name, fill=FAINT, size=9)
    if not values:
        yield text(left + 80, top + 10, "not known", fill=FAINT, size=9)
        return
    low, high = min(values), max(values)
    width = _BAR * high / most if most > 0 else 0.0
    yield _rect(left + 80, top + 2, max(width, 1.0), 9, "#cdd7df", "#8795a1")
    label = words(high) if words(low) == words(high) else f"{words(low)} to {words(high)}"
    yield text(left + 86 + width, top + 10, label, size=9)


def _row(row: Row, grid: RankGrid, top: int, body: list[str]) -> int:
    """One compile on all ranks; returns its height."""
    cells = [_placed(_cell(cell, row, grid)) for cell in row.cells]
    names = [
        *wrap(shortened(function_text(row.function) if row.function else row.where, 84), 28)[:3],
        *([shortened(row.where, 30)] if row.where else []),
    ]
    height = max(10 + _STEP * len(names), *(below for _, below in cells))
    for number, words in enumerate(names):
        is_place = bool(row.where) and number == len(names) - 1
        weight, fill = ("", FAINT) if is_place else ("bold", INK)
        body.append(text(_LEFT, top + 15 + _STEP * number, words, size=10, weight=weight, fill=fill))
    body.append(line(_LEFT, top - _GAP / 2, _LEFT + _NAMES - _GAP, top - _GAP / 2, "#e3e7ea"))
    for (left, _), cell, (lines, _) in zip(_columns(grid), row.cells, cells, strict=True):
        tooltip = "\n".join(_tooltip(cell))
        body.append(f"<g>{tip(tooltip)}" if tooltip else "<g>")
        colours = _BAD if cell.differences else _PLAIN
        body.append(_rect(left, top, _WIDTH, height, *colours, is_dashed=cell.is_empty))
        for below, one in lines:
            y = top + below
            if one.box is not None:
                body.append(_rect(left + 4, y - 2, _WIDTH - 8, _STEP * one.lines + 5, *one.box))
            body.append(text(left + _PAD, y + 10, one.words, fill=one.fill, size=10, weight=one.weight))
        body.append("</g>")
    return height + _GAP


def _placed(lines: Iterable[_Line]) -> tuple[list[tuple[int, _Line]], int]:
    """Lines with their places below the top of a cell, with room around boxes; and the height of the cell."""
    found: list[tuple[int, _Line]] = []
    top, end = 5, 0
    for number, one in enumerate(lines):
        if one.box is not None or number == end > 0:
            top += 7
        if one.box is not None:
            end = number + one.lines
        found.append((top, one))
        top += _STEP
    return found, top + 5


def _cell(cell: Cell, row: Row, grid: RankGrid) -> Iterator[_Line]:
    if cell.is_empty:
        yield _Line("nothing of it", FAINT)
    frame = cell.frame
    if frame is not None:
        yield _Line(shortened(f"{frame.compile_id}: {frame.status}", _LETTERS), weight="bold")
        for reason in frame.recompiles:
            yield from _wrapped(f"compiled again: {reason}", _AMBER)
        for reason in frame.breaks:
            yield from _wrapped(f"graph break: {reason}", FAINT)
    for graph in cell.graphs:
        yield from _graph(graph)
    if cell.differences and (cell.is_empty or row.cells[0].is_empty):
        first = grid.columns[0].name
        yield _Line(f"{first} compiled it" if cell.is_empty else f"{first} has nothing of it", _RED, "bold")
        return
    for difference in cell.differences:
        yield from _difference(difference, f"{row.function} {row.where}".strip())


def _graph(cell: GraphCell) -> Iterator[_Line]:
    of = cell.content
    counts = (number_of(len(of.nodes), "node"), number_of(cell.launches.kernels, "kernel"))
    took = f"{seconds_text(cell.seconds)} to compile" if cell.seconds is not None else of.status
    lines = [f"{', '.join(counts)}, moves {byte_text(cell.launches.bytes)}", f"peak {byte_text(cell.peak)}, {took}"]
    called = Counter(_collective(one) for one in of.collectives)
    if called:
        lines.append("calls " + ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in called.items()))
    yield _Line(
        shortened(f"{of.kind} {of.graph}", _LETTERS - 2), weight="bold", box=_BOX.get(of.kind, _OTHER),
        lines=1 + len(lines),
    )  # fmt: skip
    yield from (_Line(shortened(one, _LETTERS)) for one in lines)


def _collective(node: str) -> str:
    """`all_reduce` of `_c10d_functional.all_reduce.default (%, sum, 0) → …`."""
    target = node.split(" ", 1)[0].split(".")
    return (target[1] if len(target) > 1 else target[0]).rstrip("_")  # all_reduce_ is all_reduce in place


def _difference(row: Difference, of: str = "") -> Iterator[_Line]:
    """`of` is what the difference is told of, and stands beside it already."""
    message = row.message.removeprefix(f"{row.graph or of}: ")
    yield from _wrapped(f"{row.kind.replace('_', ' ')}: {message}", _RED, weight="bold")
    for sign, lines in (("−", row.a), ("+", row.b)):
        for one in lines[:_SHOWN]:
            yield _Line(shortened(f"{sign} {one}", _LETTERS), _RED)
        if len(lines) > _SHOWN:
            yield _Line(f"{sign} … {number_of(len(lines) - _SHOWN, 'more line')}", _RED)


def _tooltip(cell: Cell) -> Iterator[str]:
    """The tooltip: what only one side has, in full as far as that is short."""
    for row in cell.differences:
        yield shortened(row.message, 300)
        for name, lines in ((row.a_name, row.a), (row.b_name, row.b)):
            yield from (f"  only {name}: {shortened(one, 160)}" for one in lines[:12])


def _folded(rows: Sequence[Row], top: int, right: int, body: list[str]) -> int:
    graphs = sum(len(row.cells[0].graphs) for row in rows)
    label = f"{number_of(len(rows), 'compile')} with {number_of(graphs, 'graph')}: the same on all ranks"
    body.append(_rect(_LEFT, top, right - _GAP - _LEFT, 20, "#eef3f6", "#c3ccd4"))
    body.append(text(_LEFT + _PAD, top + 14, label, size=10, fill=FAINT))
    return 20 + _GAP


def _outside(grid: RankGrid, top: int, body: list[str]) -> int:
    """What ranks sent to each other without a compiled graph; returns its height."""
    if not any(column.outside for column in grid.columns):
        return 0
    expected = by_operation(grid.columns[0].outside)
    cells = []
    for column in grid.columns:
        found = by_operation(column.outside)
        lines = [
            _Line(
                shortened(f"{one_line(op)} ×{count:,}, {byte_text(size)}", _LETTERS),
                INK if (op, count, size) in expected else _RED,
            )
            for op, count, size in found[:8]
        ]
        lines += [_Line(f"{len(found) - 8} more kinds", FAINT)] if len(found) > 8 else []
        lines += [_Line(f"− {one_line(op)}", _RED) for op, *_ in expected if op not in {known for known, *_ in found}]
        if earlier(column.outside):
            lines.append(_Line(f"{earlier(column.outside):,} earlier ones are not known", _AMBER))
        if column.others_outside:
            lines += _wrapped(f"other calls: {', '.join(map(str, column.others_outside))}", _RED)
        cells.append((lines or [_Line("none", FAINT)], found == expected and not column.others_outside))
    height = 10 + _STEP * max(3, *(len(lines) for lines, _ in cells))
    for number, words in enumerate(("collectives outside", "of compiled graphs")):
        body.append(text(_LEFT, top + 15 + _STEP * number, words, size=10, weight="bold"))
    for (left, _), (lines, is_same) in zip(_columns(grid), cells, strict=True):
        body.append(_rect(left, top, _WIDTH, height, *(_PLAIN if is_same else _BAD)))
        for number, one in enumerate(lines):
            body.append(text(left + _PAD, top + 15 + _STEP * number, one.words, fill=one.fill, size=10))
    return height + _GAP


def _wrapped(words: str, fill: str, weight: str = "") -> Iterator[_Line]:
    lines = wrap(one_line(words)[:300], _LETTERS - 4 * bool(weight))
    if len(lines) > 3:
        lines = [*lines[:2], shortened(" ".join(lines[2:]), _LETTERS - 4 * bool(weight))]
    yield from (_Line(one, fill, weight) for one in lines)


def _rect(x: float, y: float, width: float, height: float, fill: str, stroke: str, *, is_dashed: bool = False) -> str:
    dash = ' stroke-dasharray="4 3"' if is_dashed else ""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}"{dash}/>'
