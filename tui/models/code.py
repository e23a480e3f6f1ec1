"""A text with line numbers: source files, kernels, generated code, IR; and lines of ours between its lines. Highlighted
in pieces, when it is drawn.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

from rich.cells import cell_len

from inspect_compile.tables.columns import Span
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import clean
from inspect_compile.tui.models.open_strings import opened_in
from inspect_compile.tui.models.sheet import Sheet, Subject

LONGEST: Final = 2_000
"""Maximum characters shown of a line: a very long line must not block the screen."""

PIECE: Final = 120
"""Number of lines highlighted at once."""

ROLES: Final[dict[str, str]] = {
    "Token.Comment": "comment",
    "Token.Keyword": "keyword",
    "Token.Keyword.Constant": "number",
    "Token.Keyword.Namespace": "keyword",
    "Token.Keyword.Type": "type",
    "Token.Literal.Number": "number",
    "Token.Literal.String": "string",
    "Token.Name.Builtin": "type",
    "Token.Name.Builtin.Pseudo": "keyword",
    "Token.Name.Class": "function",
    "Token.Name.Decorator": "keyword",
    "Token.Name.Function": "function",
    "Token.Operator.Word": "keyword",
}
"""Token type → role; a type without one has its parent's."""

MOST_CHARACTERS: Final = 100_000
"""Maximum characters highlighted at once: longer text stays plain, so that no generated line blocks the screen."""


class CodeLine(NamedTuple):
    """A line of a text."""

    text: str
    number: int | None = None
    note: str = ""
    """Shown between line number and text."""
    subject: Subject | None = None
    language: str = ""
    opened: str = ""
    """What opened the string that the line begins in, if its excerpt does not show that: `\"\"\"`."""
    begins: bool = False
    """A text of its own begins with it, such as a kernel's inside of the generated code."""


SheetLine = StyledLine | CodeLine
"""A line of ours, or of the text."""


class Code(Sheet):
    """Lines of code, possibly of several languages. First drawn plain; `colour` is called on another thread."""

    def __init__(self, lines: Sequence[SheetLine], file: Path | None = None) -> None:
        """`file` is the one that the numbers of the lines are of, if it can be opened."""
        self.lines = lines
        self.file = file
        self._ours = {index: line for index, line in enumerate(lines) if isinstance(line, StyledLine)}
        self._text = [line if isinstance(line, CodeLine) else CodeLine(line.plain) for line in lines]
        self.width = max((cell_len(line.text[:LONGEST]) for line in self._text), default=0)
        self._digits = max((len(str(line.number)) for line in self._text if line.number), default=0)
        self._notes = max((cell_len(line.note) for line in self._text), default=0)
        self._coloured: dict[int, list[Span]] = {}
        self._opened: dict[int, str] = {}
        """First line of a piece → what opened the string that it begins in; filled for a whole run of lines at once."""
        self._wanted: set[int] = set()
        self._colouring = threading.Lock()  # a view that is drawn again begins anew, while a thread is still at work

    def __len__(self) -> int:
        return len(self.lines)

    def fixed(self, index: int) -> list[Span]:
        """Line number and note."""
        if not self._digits or index in self._ours:
            return []
        line = self._text[index]
        role = "number-marked" if line.subject is not None else "dim"
        spans = [Span(f"{line.number if line.number is not None else '':>{self._digits}} ", role)]
        if self._notes:
            spans.append(Span(f"{line.note:>{self._notes}} ", "accent"))
        return spans

    def spans(self, index: int, width: int) -> list[Span]:
        """The line, highlighted if `colour` has reached it."""
        if (coloured := self._coloured.get(index)) is not None:
            return coloured
        if (ours := self._ours.get(index)) is not None:
            return [Span(clean(span.text[:LONGEST]), span.role) for span in ours.spans]
        line = self._text[index]
        if line.language:
            self._wanted.add(index)
        return [Span(clean(line.text[:LONGEST]))]

    @property
    def wants_colour(self) -> bool:
        """True if lines were drawn that are not highlighted yet."""
        return bool(self._wanted)

    def colour(self) -> None:
        """Highlight the lines that were drawn, and those around them."""
        with self._colouring:
            while self._wanted:
                index = self._wanted.pop()
                if index not in self._coloured:
                    self._colour(index)

    def plain(self, index: int) -> str:
        """The line."""
        return self._text[index].text

    def number(self, index: int) -> int | None:
        """The line's number; None if it has none."""
        return self._text[index].number

    def key(self, index: int) -> str:
        """The line's number; its position if it has none."""
        number = self.number(index)
        return f"{number}" if number is not None else f"at {index}"

    def subject(self, index: int) -> Subject | None:
        """What the line stands for."""
        return self._text[index].subject

    def is_heading(self, index: int) -> bool:
        """True for a title."""
        return index in self._ours and self._ours[index].role == "title"

    def _colour(self, index: int) -> None:
        """Highlight the piece around `index`: contiguous lines of the same language, at most PIECE of them."""
        start = index - index % PIECE
        language = self._text[index].language
        first = index
        while first > start and self._joins(first - 1, first, language):
            first -= 1
        last = index + 1
        while last < min(len(self.lines), start + PIECE) and self._joins(last - 1, last, language):
            last += 1
        texts = [clean(line.text[:LONGEST]) for line in self._text[first:last]]
        opened = self._opened_before(first, language)
        shown = highlighted([opened, *texts], language)[1:] if opened else highlighted(texts, language)
        for position, spans in enumerate(shown, first):
            self._coloured[position] = spans

    def _opened_before(self, index: int, language: str) -> str:
        """What opened the string or comment that line `index` begins in; empty if it begins in none."""
        if index in self._opened:
            return self._opened[index]
        first, last = index, index + 1
        while first > 0 and self._joins(first - 1, first, language):
            first -= 1
        if first == index:
            return self._text[index].opened
        while last < len(self.lines) and self._joins(last - 1, last, language):
            last += 1
        before = self._text[first].opened
        opened = opened_in([before, *(line.text for line in self._text[first:last])], language)
        self._opened |= {place: opened.get(place - first + 1, "") for place in range(first, last) if not place % PIECE}
        return self._opened.get(index, "")

    def _joins(self, above: int, below: int, language: str) -> bool:
        one, other = self._text[above], self._text[below]
        if other.begins or not one.language == other.language == language:
            return False
        return one.number is None or other.number == one.number + 1


NARROWEST: Final = 24
"""Minimum width of a sentence, in columns."""


def wrapped(words: str, width: int, role: str = "", *, indent: int = 0, hyphens: bool = True) -> list[StyledLine]:
    """A sentence in a width of columns; what goes on below is indented by so many."""
    lines = wrap(words, max(width, NARROWEST), subsequent_indent=" " * indent, break_on_hyphens=hyphens)
    return [styled(line, role) for line in lines]


def code_of(text: str, language: str, file: Path | None = None) -> Code:
    """A whole text in one language."""
    return Code(lines_of(text, language), file)


def lines_of(text: str, language: str) -> list[CodeLine]:
    """Its lines, numbered."""
    return [CodeLine(line, number, language=language) for number, line in enumerate(text.splitlines(), 1)]


def highlighted(lines: list[str], language: str) -> list[list[Span]]:
    """`lines` of code in `language` (a pygments name), each as spans that add up to it."""
    from textual.highlight import HighlightTheme, highlight

    code = "\n".join(lines)
    if len(code) > MOST_CHARACTERS or not language:
        return [[Span(line)] for line in lines]

    class Roles(HighlightTheme):
        STYLES = {token: ROLES[str(token)] for token in HighlightTheme.STYLES if str(token) in ROLES}  # noqa: RUF012

    found = highlight(code, language=language, theme=Roles)
    roles = [(span.start, span.end, str(span.style)) for span in found.spans if str(span.style) in ROLES.values()]
    shown: list[list[Span]] = []
    start, next_role = 0, 0
    for line in lines:
        spans, at, end = [], start, start + len(line)
        while next_role < len(roles) and roles[next_role][1] <= start:
            next_role += 1
        for first, last, role in roles[next_role:]:
            if first >= end:
                break
            if first > at:
                spans.append(Span(code[at:first]))
            spans.append(Span(code[max(first, at) : min(last, end)], role))
            at = min(last, end)
        if at < end:
            spans.append(Span(code[at:end]))
        shown.append(spans)
        start = end + 1
    return shown


NOTHING: Final = Code(())
