"""Styled text: lines of spans, and the blocks that a page is made of. A page is made once; the terminal, text files,
HTML and the app show it.

May not know rich or textual, nor how wide what shows it is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic

from inspect_compile.tables.columns import Cell, Column, Row, Span, cell, plain, used

_LONGEST: Final = 2000
"""Maximum length of a claim in characters: a very long name from the dump would hide all others."""


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A title, a sentence, a note: what there is no room for goes on below."""

    spans: Cell = ()
    is_cut: bool = False
    """Its end is cut off instead."""
    is_aligned: bool = False
    """It stands below another line that it belongs to; what scrolls sideways does not wrap it."""
    indent: int = 0
    """Blank columns before it."""

    @property
    def plain(self) -> str:
        """Its text."""
        return plain(self.spans)

    @property
    def role(self) -> str:
        """The role of its end."""
        return self.spans[-1].role if self.spans else ""


class Claim:
    """A sentence with the command that shows its evidence flush right, or on the next line if there is no room."""

    def __init__(self, sentence: StyledLine, evidence: str = "") -> None:
        spans = shortened(sentence.spans, _LONGEST)
        self.spans: Cell = tuple(Span(span.text.replace("\n", " "), span.role) for span in spans)
        self.evidence = cell(evidence, "accent") if len(evidence) <= _LONGEST else ()

    @property
    def whole(self) -> StyledLine:
        """Both on one line."""
        return StyledLine((*self.spans, *cell("   " if self.evidence else ""), *self.evidence))


class Table(Generic[Row]):
    """Rows under columns, with a title above and notes below."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        rows: Iterable[Row],
        *,
        title: StyledLine | None = None,
        notes: Iterable[StyledLine] = (),
    ) -> None:
        self.rows = list(rows)
        self.columns = used(columns, self.rows)
        self.title = title
        self.notes = list(notes)

    @property
    def has_titles(self) -> bool:
        """Whether any column has a title."""
        return any(column.title for column in self.columns)


class Stack:
    """Blocks below each other, optionally separated by an empty line."""

    def __init__(self, blocks: Iterable["Block"], *, gap: bool = True) -> None:
        self.blocks: Sequence[Block] = list(blocks)
        self.gap = gap


@dataclass(frozen=True)
class Fitted:
    """Blocks that depend on the width, counted in columns of a terminal."""

    blocks: Callable[[int], Iterable["Block"]]


Block = StyledLine | Claim | Table[Any] | Stack | Fitted


def styled(words: str, role: str = "") -> StyledLine:
    """A line of one span."""
    return StyledLine(cell(words, role))


def joined(*parts: str | tuple[str, str] | StyledLine, is_cut: bool = False, is_aligned: bool = False) -> StyledLine:
    """The parts, each words, (words, role) or a line, one after the other."""
    spans: list[Span] = []
    for part in parts:
        spans += part.spans if isinstance(part, StyledLine) else cell(part) if isinstance(part, str) else cell(*part)
    return StyledLine(tuple(spans), is_cut, is_aligned)


def heading(words: str, about: str) -> StyledLine:
    """What stands above a table: `12 guards  shape 8, type 4`, on one line."""
    return joined((words, "strong"), "  ", (about, "dim"), is_cut=True)


def pointer(words: str, command: str) -> StyledLine:
    """What else there is, with the command that shows it."""
    return joined((words, "dim"), "   ", (command, "accent"))


def indented(lines: Iterable[str], role: str = "dim") -> list[StyledLine]:
    """Lines below a heading."""
    return [styled(f"  {line}", role) for line in lines]


def shortened(spans: Cell, most: int) -> Cell:
    """The first characters of a text that is longer, and `…`."""
    if sum(len(span.text) for span in spans) <= most:
        return spans
    return (*between(spans, 0, most), Span("…"))


def between(spans: Iterable[Span], start: int, end: int) -> Cell:
    """The part of a line between two of its characters."""
    shown: list[Span] = []
    at = 0
    for span in spans:
        if text := span.text[max(0, start - at) : max(0, end - at)]:
            shown.append(Span(text, span.role))
        at += len(span.text)
    return tuple(shown)


def flat(block: Block, width: int) -> Iterator[StyledLine | Claim | Table[Any]]:
    """What blocks of this width consist of, in order; an empty line for each gap."""
    match block:
        case Stack():
            for index, part in enumerate(block.blocks):
                if index and block.gap:
                    yield StyledLine()
                yield from flat(part, width)
        case Fitted():
            for part in block.blocks(width):
                yield from flat(part, width)
        case _:
            yield block
