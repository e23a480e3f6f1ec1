"""Styled text for a terminal, and renderables below each other."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from inspect_compile.tables.text import clean


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


class Stack:
    """Renderables below each other, optionally separated by an empty line."""

    def __init__(self, parts: Sequence[RenderableType], *, gap: bool = True) -> None:
        self._parts = parts
        self._gap = gap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, part in enumerate(self._parts):
            if index and self._gap:
                yield Text("")
            yield part
