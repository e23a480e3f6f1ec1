"""The detail of one finding: what it is, where, why, what to do."""

from textwrap import wrap
from typing import Final

from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.tables.columns import plain
from inspect_compile.tables.fusion.why_text import part_cell
from inspect_compile.tables.overview.findings import sure_words, to_do_words
from inspect_compile.tables.text import one_line
from inspect_compile.tui.models.code import Code, CodeLine

_TITLE: Final = 7
"""Width of the title of a line."""
_NARROWEST: Final = 24
"""Minimum width of a sentence, in columns."""


def finding_lines(row: Finding, width: int) -> Code:
    """The finding, wrapped to a width in columns."""
    lines = [CodeLine(line, role="title") for line in wrap(one_line(row.what), max(width, _NARROWEST))]
    for part in row.parts:
        code = one_line(part.where.code) if part.where is not None else ""
        lines.append(CodeLine(f"{plain(part_cell(part))}   {code}".strip()))
    told = ("why", row.why, "warn"), ("to do", to_do_words(row), "good"), ("sure", sure_words(row), "dim")
    for title, words, role in told:
        for index, line in enumerate(wrap(one_line(words), max(width - _TITLE, _NARROWEST))):
            lines.append(CodeLine(f"{'' if index else title:{_TITLE}}{line}", role=role))
    return Code(tuple(lines))
