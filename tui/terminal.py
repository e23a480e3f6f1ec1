"""What a program prints to its terminal, as lines: supports progress bars, colours and prompts."""

import codecs
import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rich.cells import cell_len

from inspect_compile.tables.columns import Span
from inspect_compile.tui.models.sheet import STYLE, Sheet

MOST_LINES: Final = 20_000
"""Older lines are dropped; script.log has them all."""

TOKEN: Final = re.compile(
    r"\x1b\[(?P<parameters>[0-9;:<=>?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\|(?=\x1b[^\\]))"
    r"|\x1b[ -/]*(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
)
"""An escape sequence, a control character, or text without either. A title ends where another sequence begins."""

LONGEST_WAIT: Final = 4096
"""Maximum characters of an incomplete escape sequence that are kept for the next output."""


class Attributes(NamedTuple):
    """The look of text, as SGR sequences set it."""

    foreground: str = ""
    background: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False

    @property
    def role(self) -> str:
        """The role of a span; empty if nothing is set."""
        words = [name for name in ("bold", "dim", "italic", "underline", "reverse") if getattr(self, name)]
        words += [self.foreground] if self.foreground else []
        words += [f"on {self.background}"] if self.background else []
        return STYLE + " ".join(words) if words else ""


PLAIN: Final = Attributes()
FLAGS: Final = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}
UNFLAGS: Final = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",)}


@dataclass
class _Line:
    cells: list[str] = field(default_factory=list)
    """One character per cell, with its combining characters; empty after one that is two columns wide."""
    looks: list[Attributes] = field(default_factory=list)

    def put(self, column: int, text: str, look: Attributes) -> None:
        """Write characters that are one column wide."""
        self.reach(column)
        self.cells[column : column + len(text)] = text
        self.looks[column : column + len(text)] = [look] * len(text)

    def reach(self, column: int) -> None:
        """Fill with blanks up to `column`."""
        missing = column - len(self.cells)
        if missing > 0:
            self.cells += " " * missing
            self.looks += [PLAIN] * missing

    def cut(self, first: int, last: int | None) -> None:
        """Blank from column `first` to `last`, or to the end if that is None."""
        if last is None:
            del self.cells[first:], self.looks[first:]
        else:
            end = min(last, len(self.cells))
            self.cells[first:end] = " " * (end - first)
            self.looks[first:end] = [PLAIN] * (end - first)


class Terminal(Sheet):
    """A screen of `rows` × `columns`, with everything that has scrolled off above it."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.rows, self.width = rows, columns
        self._lines: list[_Line] = [_Line()]
        self._top = 0
        self._row, self._column = 0, 0
        self._look = PLAIN
        self._saved = (0, 0)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self.forgotten = 0
        """Number of lines dropped at the beginning."""

    # As a Sheet

    def __len__(self) -> int:
        return len(self._lines)

    def spans(self, index: int, width: int) -> list[Span]:
        """A line in its colours."""
        line = self._lines[index]
        spans: list[Span] = []
        start = 0
        for end in range(1, len(line.cells) + 1):
            if end == len(line.cells) or line.looks[end] != line.looks[start]:
                spans.append(Span("".join(line.cells[start:end]), line.looks[start].role))
                start = end
        return spans

    def plain(self, index: int) -> str:
        """A line's text."""
        return "".join(self._lines[index].cells).rstrip()

    def key(self, index: int) -> str:
        """The line's number since the program began."""
        return str(index + self.forgotten)

    # As a terminal

    def resize(self, rows: int, columns: int) -> None:
        """Output from now on is for a screen of this size."""
        self.rows, self.width = max(1, rows), max(1, columns)
        self._top = max(self._top, len(self._lines) - self.rows)
        self._row = min(self._row, self.rows - 1)

    def feed(self, data: bytes) -> None:
        """Process what the program printed; an incomplete sequence waits for the rest."""
        text = self._waiting + self._decoder.decode(data)
        self._waiting = ""
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                if len(text) - at < LONGEST_WAIT and text[at] == "\x1b":
                    self._waiting = text[at:]
                    return
                at += 1
                continue
            at = match.end()
            if (piece := match["text"]) is not None:
                self._write(piece)
            elif (control := match["control"]) is not None:
                self._control(control)
            elif (final := match["final"]) is not None:
                self._sequence(match["parameters"], final)
            elif (escape := match["escape"]) is not None:
                self._escape(escape)

    def _line(self) -> _Line:
        index = self._top + self._row
        while len(self._lines) <= index:
            self._lines.append(_Line())
        return self._lines[index]

    def _down(self) -> None:
        if self._row < self.rows - 1:
            self._row += 1
        else:
            self._top += 1
        self._line()
        too_many = len(self._lines) - MOST_LINES
        if too_many > MOST_LINES // 10:
            del self._lines[:too_many]
            self._top -= too_many
            self.forgotten += too_many

    def _write(self, text: str) -> None:
        if text.isascii():
            while text:
                if self._column >= self.width:
                    self._column = 0
                    self._down()
                piece, text = text[: self.width - self._column], text[self.width - self._column :]
                self._line().put(self._column, piece, self._look)
                self._column += len(piece)
            return
        for character in text:
            self._write_one(character)

    def _write_one(self, character: str) -> None:
        size = cell_len(character)
        if size == 0:
            line = self._line()
            if 0 < self._column <= len(line.cells):
                line.cells[self._column - 1] += character
            return
        if self._column + size > self.width:
            self._column = 0
            self._down()
        line = self._line()
        line.put(self._column, character, self._look)
        if size == 2:
            line.put(self._column + 1, " ", self._look)
            line.cells[self._column + 1] = ""
        self._column += size

    def _control(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        elif control in "\n\v\f":
            self._down()
        elif control == "\b":
            self._column = max(0, min(self._column, self.width) - 1)
        elif control == "\t":
            self._column = min(self.width - 1, self._column // 8 * 8 + 8)

    def _escape(self, escape: str) -> None:
        if escape == "M":
            self._row = max(0, self._row - 1)
        elif escape in "DE":
            self._column = 0 if escape == "E" else self._column
            self._down()
        elif escape == "7":
            self._saved = (self._row, self._column)
        elif escape == "8":
            self._row, self._column = self._saved
        elif escape == "c":
            self._look = PLAIN
            self._clear()

    def _clear(self) -> None:
        """Clear the screen; its contents scroll off."""
        used = max((index + 1 for index, line in enumerate(self._lines) if line.cells), default=0)
        self._top = max(self._top, used)
        self._row = self._column = 0
        self._line()

    def _sequence(self, parameters: str, final: str) -> None:
        if final == "m":
            self._look = styled(self._look, parameters)
            return
        if parameters[:1] in "<=>?" and parameters:
            if parameters in ("?1049", "?47", "?1047"):
                self._clear()
            return
        numbers = [int(number) if number.isdecimal() else 0 for number in parameters.split(";")]
        first = max(1, min(numbers[0], 9999))
        match final:
            case "A" | "F":
                self._row = max(0, self._row - first)
                self._column = 0 if final == "F" else self._column
            case "B" | "E":
                self._row = min(self.rows - 1, self._row + first)
                self._column = 0 if final == "E" else self._column
            case "C":
                self._column = min(self.width - 1, self._column + first)
            case "D":
                self._column = max(0, min(self._column, self.width) - first)
            case "G" | "`":
                self._column = min(self.width, first) - 1
            case "d":
                self._row = min(self.rows, first) - 1
            case "H" | "f":
                second = max(1, numbers[1]) if len(numbers) > 1 else 1
                self._row, self._column = min(self.rows, first) - 1, min(self.width, second) - 1
            case "K":
                self._erase_in_line(numbers[0])
            case "J":
                self._erase_in_screen(numbers[0])
            case "X":
                self._line().cut(self._column, self._column + first)
            case "P":
                line = self._line()
                del line.cells[self._column : self._column + first], line.looks[self._column : self._column + first]
            case "s":
                self._saved = (self._row, self._column)
            case "u":
                self._row, self._column = self._saved

    def _erase_in_line(self, which: int) -> None:
        line = self._line()
        if which == 0:
            line.cut(self._column, None)
        elif which == 1:
            line.cut(0, self._column + 1)
        else:
            line.cut(0, None)

    def _erase_in_screen(self, which: int) -> None:
        if which == 2:
            self._clear()
        elif which == 0:
            self._line().cut(self._column, None)
            for line in self._lines[self._top + self._row + 1 :]:
                line.cut(0, None)


def styled(look: Attributes, parameters: str) -> Attributes:
    """`look` after the SGR sequence with these parameters."""
    numbers = [int(number) if number.isdecimal() else 0 for number in parameters.replace(":", ";").split(";")]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            look = PLAIN
        elif number in FLAGS:
            look = Attributes(**{**look._asdict(), FLAGS[number]: True})
        elif number in UNFLAGS:
            look = Attributes(**{**look._asdict(), **dict.fromkeys(UNFLAGS[number], False)})
        elif number in (38, 48):
            colour = _colour(numbers)
            look = look._replace(foreground=colour) if number == 38 else look._replace(background=colour)
        elif 30 <= number <= 37 or 90 <= number <= 97:
            look = look._replace(foreground=f"color({number - 30 if number < 40 else number - 82})")
        elif 40 <= number <= 47 or 100 <= number <= 107:
            look = look._replace(background=f"color({number - 40 if number < 50 else number - 92})")
        elif number == 39:
            look = look._replace(foreground="")
        elif number == 49:
            look = look._replace(background="")
    return look


def _colour(numbers: list[int]) -> str:
    """The colour after 38 or 48: `5;n` or `2;r;g;b`; removes its numbers from the list."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 5 and numbers:
        return f"color({min(255, numbers.pop(0))})"
    if kind == 2 and len(numbers) >= 3:
        red, green, blue = (min(255, numbers.pop(0)) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    return ""
