"""The tables of `show` as HTML: the same renderables, walked instead of printed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from inspect_compile.report.markup import Markup, element, escaped, joined
from inspect_compile.tables.columns import Cell, Column, cells
from inspect_compile.tables.layout import UNLIMITED
from inspect_compile.tables.terminal_table import STYLES, TerminalTable

PAGE: Final = 200
"""Rows of one part of a table: the page's script shows one part at a time."""

LONGEST: Final = 500
"""Maximum characters of a cell, and of a line."""

LONG_NAME: Final = 40
"""Maximum characters of a word that is not broken."""

_COLOURS: Final = {"green": "good", "yellow": "warn", "red": "bad", "cyan": "accent", "blue": "bar"}
_TOGETHER: Final = 4000
"""Lines of text below each other in one element."""


@dataclass(frozen=True)
class Shown:
    """A renderable as HTML."""

    html: Markup
    rows: int
    """Rows of the tables in it."""
    lines: int
    """Lines of text outside of its tables."""
    words: str
    """Its first line of text."""


def shown(found: RenderableType) -> Shown:
    """Everything in `found`: tables as tables, all else as lines of text."""
    console = Console(width=UNLIMITED, color_system="truecolor", force_terminal=True, legacy_windows=False)
    blocks: list[Markup] = []
    lines: list[Markup] = []
    rows, line_count, words = 0, 0, ""

    def flush() -> None:
        if any(lines):
            blocks.append(element("pre", joined(*lines, between="\n"), class_="text"))
        lines.clear()

    for part in _parts(found, console):
        if isinstance(part, TerminalTable):
            if part.title is not None:
                lines.append(_line(part.title, console))
            words = words or (part.title.plain if part.title is not None else "")
            if part.rows and part.columns:
                flush()
                blocks.append(table(part.columns, part.rows))
                rows += len(part.rows)
            lines.extend(_line(note if isinstance(note, Text) else Text(note, "dim"), console) for note in part.notes)
        else:
            words = words or part.plain
            line_count += 1
            lines.append(_line(part, console))
            if len(lines) >= _TOGETHER:
                flush()
    flush()
    return Shown(joined(*blocks, between="\n"), rows, line_count, words)


def table(columns: Iterable[Column[Any]], rows: Iterable[Any]) -> Markup:
    """A table; columns that are flush right say so in its class, counted from 1."""
    listed = list(columns)
    right = " ".join(f"r{place}" for place, column in enumerate(listed, 1) if column.right)
    head = "".join(element("th", column.title, scope="col") for column in listed) if _titled(listed) else ""
    lines = [f"<tr>{''.join(map(_cell, cells(listed, row)))}" for row in rows]
    parts = ("\n".join(lines[start : start + PAGE]) for start in range(0, len(lines), PAGE))
    body = "".join(f"<tbody>\n{part}\n</tbody>" for part in parts)
    opened = f'<table class="{right}">' if right else "<table>"
    return Markup(f'<div class="wide">{opened}{f"<thead><tr>{head}</thead>" if head else ""}{body}</table></div>')


def _titled(columns: Iterable[Column[Any]]) -> bool:
    return any(column.title for column in columns)


def _cell(found: Cell) -> str:
    """A cell; the end tag of a table's cells and rows is optional in HTML."""
    parts, left = [], LONGEST
    for span in found:
        text = span.text if len(span.text) <= left else f"{span.text[:left]}…"
        html = _breakable(text)
        parts.append(f"<i class={span.role}>{html}</i>" if span.role in STYLES else html)
        left -= len(text)
        if left <= 0:
            break
    return f"<td>{''.join(parts)}"


def _breakable(text: str) -> Markup:
    """Text in which a long name may be broken at its underscores: else it takes the room of all other columns."""
    if len(text) <= LONG_NAME:
        return escaped(text)
    words = (word.replace("_", "_<wbr>") if len(word) > LONG_NAME else word for word in escaped(text).split(" "))
    return Markup(" ".join(words))


def _parts(found: Any, console: Console) -> Iterator[TerminalTable[Any] | Text]:
    """The tables and lines of a renderable, in order."""
    if isinstance(found, TerminalTable | Text):
        yield found
    elif isinstance(found, str):
        yield Text(found)
    elif isinstance(found, Padding):
        for part in _parts(found.renderable, console):
            yield Text.assemble(" " * found.left, part) if isinstance(part, Text) else part
    elif isinstance(found, Segment):
        yield Text(found.text.rstrip("\n"))
    else:
        for inner in (
            console.render(found)
            if not hasattr(found, "__rich_console__")
            else found.__rich_console__(console, console.options)
        ):
            yield from _parts(inner, console)


def _line(text: Text, console: Console) -> Markup:
    """A line of text with its styles."""
    cut = text[:LONGEST] if len(text) > LONGEST else text
    segments = (segment for segment in cut.render(console) if segment.text)
    parts = [_styled(segment.text, segment.style) for segment in segments]
    return joined(*parts, "…" if cut is not text else "")


def _styled(text: str, style: Style | None) -> Markup:
    if style is None:
        return escaped(text)
    colour = _COLOURS.get(style.color.name, "") if style.color is not None else ""
    names = [name for name, given in (("strong", style.bold), ("dim", style.dim), (colour, colour)) if given]
    return element("i", text, class_=" ".join(names)) if names else escaped(text)
