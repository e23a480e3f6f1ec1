"""Blocks as HTML: tables as tables, all else as lines of text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from inspect_compile.report.markup import Markup, element, escaped, joined
from inspect_compile.tables.columns import Cell, cell, cells
from inspect_compile.tables.layout import UNLIMITED
from inspect_compile.tables.styled_text import Block, Claim, StyledLine, Table, flat, shortened

PAGE: Final = 200
"""Rows of one part of a table: the page's script shows one part at a time."""

LONGEST: Final = 500
"""Maximum characters of a cell, and of a line."""

LONG_NAME: Final = 40
"""Maximum characters of a word that is not broken."""

_CLASSES: Final = ("dim", "title", "accent", "good", "warn", "bad", "bar", "strong")
"""Roles that the page's style sheet has; the others look like the rest."""
_OF_LINES: Final = {"title": "strong", "alarm": "strong bad"}
"""Role → classes, where a line's are others."""
_TOGETHER: Final = 4000
"""Lines of text below each other in one element."""


@dataclass(frozen=True)
class Shown:
    """A block as HTML."""

    html: Markup
    rows: int
    """Rows of the tables in it."""
    lines: int
    """Lines of text outside of its tables."""
    words: str
    """Its first line of text."""
    characters: int
    """Length of its text outside of tables."""


def shown(block: Block, links: Mapping[str, str] = {}) -> Shown:
    """Everything in a block. `links`: what a cell or a word of a line says → the place in the page that it leads to."""
    parts: list[Markup] = []
    lines: list[StyledLine] = []
    rows, line_count, words, characters = 0, 0, "", 0

    def flush() -> None:
        nonlocal characters
        if any(line.plain for line in lines):
            parts.append(element("pre", joined(*(_line(line, links) for line in lines), between="\n"), class_="text"))
        characters += sum(len(line.plain) for line in lines)
        lines.clear()

    for part in flat(block, UNLIMITED):
        if isinstance(part, Table):
            if part.title is not None:
                lines.append(part.title)
                words = words or part.title.plain
            if part.rows and part.columns:
                flush()
                parts.append(table(part, links))
                rows += len(part.rows)
            lines.extend(part.notes)
        else:
            line = part.whole if isinstance(part, Claim) else part
            words = words or line.plain
            line_count += 1
            lines.append(line)
            if len(lines) >= _TOGETHER:
                flush()
    flush()
    return Shown(joined(*parts, between="\n"), rows, line_count, words, characters)


def table(block: Table[Any], links: Mapping[str, str] = {}) -> Markup:
    """The rows under their titles; columns that are flush right say so in its class, counted from 1."""
    right = " ".join(f"r{place}" for place, column in enumerate(block.columns, 1) if column.right)
    head = "".join(element("th", column.title, scope="col") for column in block.columns) if block.has_titles else ""
    lines = [f"<tr>{''.join(_cell(one, links) for one in cells(block.columns, row))}" for row in block.rows]
    parts = ("\n".join(lines[start : start + PAGE]) for start in range(0, len(lines), PAGE))
    body = "".join(f"<tbody>\n{part}\n</tbody>" for part in parts)
    opened = f'<table class="{right}">' if right else "<table>"
    return Markup(f'<div class="wide">{opened}{f"<thead><tr>{head}</thead>" if head else ""}{body}</table></div>')


def _cell(found: Cell, links: Mapping[str, str]) -> str:
    """A cell; the end tag of a table's cells and rows is optional in HTML."""
    parts, left = [], LONGEST
    for span in found:
        text = span.text if len(span.text) <= left else f"{span.text[:left]}…"
        html = _linked(text, _breakable(text), links)
        parts.append(f"<i class={span.role}>{html}</i>" if span.role in _CLASSES else html)
        left -= len(text)
        if left <= 0:
            break
    return f"<td>{''.join(parts)}"


def _linked(text: str, html: Markup, links: Mapping[str, str]) -> Markup:
    """`html`, which is that of `text`, as a link where the text is a name with a place in the page."""
    place = links.get(text.strip())
    return html if place is None else Markup(f'<a href="{escaped(place)}">{html}</a>')


def _breakable(text: str) -> Markup:
    """Text in which a long name may be broken at its underscores: else it takes the room of all other columns."""
    if len(text) <= LONG_NAME:
        return escaped(text)
    words = (word.replace("_", "_<wbr>") if len(word) > LONG_NAME else word for word in escaped(text).split(" "))
    return Markup(" ".join(words))


def _line(line: StyledLine, links: Mapping[str, str]) -> Markup:
    """A line of text with its styles."""
    parts = []
    for span in (*cell(" " * line.indent), *shortened(line.spans, LONGEST)):
        classes = _OF_LINES.get(span.role, span.role if span.role in _CLASSES else "")
        html = _linked(span.text, escaped(span.text), links)
        parts.append(element("i", html, class_=classes) if classes else html)
    return joined(*parts)
