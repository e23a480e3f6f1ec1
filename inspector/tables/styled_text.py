"""Styled text for a terminal, and renderables below each other."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from inspect_compile.tables.layout import is_unlimited
from inspect_compile.tables.text import clean

_LONGEST: Final = 2000
"""Maximum length of a claim in characters: a very long name from the dump would hide all others."""


def styled(words: str, style: str = "") -> Text:
    """Text from a dump as rich text: never parsed as markup, and without control characters."""
    return Text(clean(words), style)


def joined(*parts: str | tuple[str, str] | Text, one_line: bool = False) -> Text:
    """Words, or (words, style), one after the other; with `one_line` the end is cut off if there is no room."""
    found = Text.assemble(
        *(part if isinstance(part, Text) else styled(*((part,) if isinstance(part, str) else part)) for part in parts)
    )
    if one_line:
        found.no_wrap, found.overflow = True, "ellipsis"
    return found


def heading(words: str, about: str) -> Text:
    """What stands above a table: `12 guards  shape 8, type 4`, on one line."""
    return joined((words, "bold"), "  ", (about, "dim"), one_line=True)


def pointer(words: str, command: str) -> Text:
    """What else there is, with the command that shows it."""
    return joined((words, "dim"), "   ", (command, "cyan"))


def indented(lines: Iterable[str], style: str = "dim") -> list[Text]:
    """Lines below a heading."""
    return [styled(f"  {line}", style) for line in lines]


class Stack:
    """Renderables below each other, optionally separated by an empty line."""

    def __init__(self, parts: Iterable[RenderableType], *, gap: bool = True) -> None:
        self._parts: Sequence[RenderableType] = list(parts)
        self._gap = gap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, part in enumerate(self._parts):
            if index and self._gap:
                yield Text("")
            yield part


class Claim:
    """A sentence with the command that shows its evidence flush right, or on the next line if there is no room."""

    def __init__(self, text: Text, evidence: str = "") -> None:
        shown = text if len(text) <= _LONGEST else joined(text[:_LONGEST], "…")
        self._text = Text(" ").join(shown.split("\n")) if "\n" in shown.plain else shown
        self._evidence = evidence if len(evidence) <= _LONGEST else ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        evidence, left = styled(self._evidence, "cyan"), options.max_width - cell_len(self._evidence)
        if is_unlimited(options.max_width):
            yield joined(self._text, "   " * bool(self._evidence), evidence)
            return
        gap = left - cell_len(self._text.plain)
        if cell_len(self._text.plain) <= options.max_width and not self._evidence:
            yield self._text
        elif gap >= 3 and self._evidence:
            yield joined(self._text, " " * gap, evidence)
        else:
            first, *rest = lines = self._text.wrap(console, options.max_width - 3)
            for line in lines:
                line.rstrip()
            yield from (first, *(joined("   ", line) for line in rest))
            if self._evidence:
                yield joined(" " * max(0, left), evidence)
