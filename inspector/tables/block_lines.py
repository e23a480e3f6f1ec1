"""Blocks as lines of a width: what a terminal and a text file show.

May not know rich's rendering or textual.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rich.cells import cell_len, chop_cells, set_cell_size

from inspect_compile.tables.columns import Cell, Column, Span, cell, cells, plain, text_lines
from inspect_compile.tables.layout import GAP, UNLIMITED, fitted, is_unlimited, natural_widths, widths_in
from inspect_compile.tables.styled_text import Block, Claim, StyledLine, Table, between, flat
from inspect_compile.tables.text import clean

_LONGEST: Final = 10_000
"""Maximum length of a text that is wrapped in a cell."""
_HANG: Final = 3
"""Blank columns before what of a claim goes on below."""
_WORD: Final = re.compile(r"\S+\s*")


def laid_out(block: Block, width: int, *, is_wrapped: bool = True) -> Iterator[Cell]:
    """The lines of a block, safe for a terminal and no wider than `width`; unless `is_wrapped`, lines of text are as
    long as they are.
    """
    for part in flat(block, width):
        match part:
            case StyledLine():
                yield from _line(part, width if is_wrapped else UNLIMITED)
            case Claim():
                yield from _claim(part, width)
            case Table():
                if part.title is not None:
                    yield from _line(part.title, width)
                if part.rows and part.columns:
                    yield from _unlimited_rows(part) if is_unlimited(width) else _rows(part, width)
                for note in part.notes:
                    yield from _line(note, width)


def plain_text(block: Block, width: int = UNLIMITED) -> str:
    """The same as text without styles, for a file or a pipe."""
    lines = map(plain, laid_out(block, width))
    # What fills a line up to an unlimited width would be as long as the longest line.
    return "".join(f"{line.rstrip(' ') if is_unlimited(width) else line}\n" for line in lines)


def cleaned(spans: Iterable[Span]) -> Cell:
    """Text from a dump, safe for a terminal."""
    return tuple(Span(clean(span.text), span.role) for span in spans)


def cut_off(spans: Cell, width: int) -> Cell:
    """A line with `…` at its end if it is wider."""
    if sum(cell_len(span.text) for span in spans) <= width:
        return spans
    shown: list[Span] = []
    left = width - 1
    for span in spans:
        size = cell_len(span.text)
        if size > left:
            return (*shown, Span(f"{set_cell_size(span.text, max(left, 0))}…", span.role))
        shown.append(span)
        left -= size
    return tuple(shown)


def wrapped(spans: Cell, width: int) -> list[Cell]:
    """A line, and what of it has to go on below, broken between words; a word that is wider is cut where it is full."""
    text, width = plain(spans), max(width, 1)
    if cell_len(text) <= width:
        return [spans]
    ends = [*_breaks(text, width), len(text)]
    lines = []
    for start, end in zip([0, *ends], ends, strict=False):
        blank = end - start - len(text[start:end].rstrip())
        lines.append(between(spans, start, end - min(blank, max(0, end - start - width))))
    return lines


def _breaks(text: str, width: int) -> Iterator[int]:
    """Where lines begin that go on below."""
    used = begin = 0
    for found in _WORD.finditer(text):
        word, start, begin = text[begin : found.end()], begin, found.end()
        size = cell_len(word.rstrip())
        if size <= width - used:
            used += cell_len(word)
        elif size > width:
            pieces = chop_cells(word, width)
            for piece in pieces:
                if start:
                    yield start
                start += len(piece)
            used = cell_len(pieces[-1])
        elif used and start:
            yield start
            used = cell_len(word)


def _without_end(spans: Cell) -> Cell:
    """A line without the blanks at its end."""
    return between(spans, 0, len(plain(spans).rstrip()))


def _line(line: StyledLine, width: int) -> Iterator[Cell]:
    spans = cleaned(line.spans)
    indent = cell(" " * line.indent)
    for part in _lines_of(spans) if any("\n" in span.text for span in spans) else [spans]:
        if is_unlimited(width):
            yield (*indent, *part)
        elif line.is_cut:
            yield cut_off((*indent, *part), width)
        else:
            yield from ((*indent, *below) for below in wrapped(part, width - line.indent))


def _lines_of(spans: Cell) -> Iterator[Cell]:
    start, text = 0, plain(spans)
    for line in text.removesuffix("\n").split("\n"):
        yield between(spans, start, start + len(line))
        start += len(line) + 1


def _claim(claim: Claim, width: int) -> Iterator[Cell]:
    spans, evidence = cleaned(claim.spans), cleaned(claim.evidence)
    if is_unlimited(width):
        yield (*spans, *cell("   " if evidence else ""), *evidence)
        return
    size, left = cell_len(plain(spans)), width - cell_len(plain(evidence))
    if size <= width and not evidence:
        yield spans
    elif left - size >= _HANG and evidence:
        yield (*spans, Span(" " * (left - size)), *evidence)
    else:
        for number, line in enumerate(wrapped(spans, width - _HANG)):
            yield (*cell(" " * _HANG * bool(number)), *_without_end(line))
        if evidence:
            yield from wrapped((*cell(" " * left), *evidence), width)


def _unlimited_rows(table: Table[Any]) -> Iterator[Cell]:
    """The rows with the whole text of each cell."""
    yield from map(cell, text_lines(table.columns, table.rows)[0 if table.has_titles else 1 :])


def _rows(table: Table[Any], width: int) -> Iterator[Cell]:
    """The titles and the rows, each cell as wide as its column."""
    rows = [cells(table.columns, row) for row in table.rows]
    sizes = widths_in(width, table.columns, natural_widths(table.columns, rows))
    shown = [index for index, size in enumerate(sizes) if size]
    columns, widths = [table.columns[index] for index in shown], [sizes[index] for index in shown]
    if table.has_titles:
        titles = [cut_off(cell(column.title, "strong"), size) for column, size in zip(columns, widths, strict=True)]
        yield _beside(titles, columns, widths)
    for row in rows:
        found = [
            _cell_lines(row[index], column, size) for index, column, size in zip(shown, columns, widths, strict=True)
        ]
        for number in range(max(map(len, found))):
            yield _beside([lines[number] if number < len(lines) else () for lines in found], columns, widths)


def _cell_lines(spans: Cell, column: Column[Any], size: int) -> list[Cell]:
    if column.wraps:
        return wrapped(tuple(fitted(spans, _LONGEST)), size)
    shown = tuple(fitted(spans, size, middle=column.middle))
    return [_without_end(shown) if column.right else shown]


def _beside(parts: Sequence[Cell], columns: Sequence[Column[Any]], widths: Sequence[int]) -> Cell:
    line: list[Span] = []
    for place, (part, column, size) in enumerate(zip(parts, columns, widths, strict=True)):
        blank = Span(" " * max(0, size - sum(cell_len(span.text) for span in part)))
        line += [*([Span(" " * GAP)] if place else []), *((blank, *part) if column.right else (*part, blank))]
    return tuple(line)
