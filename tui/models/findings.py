"""The detail of one finding: what it is, where, why, what to do."""

import re
from textwrap import TextWrapper
from typing import Final

from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.tables.fusion.why_text import part_cell
from inspect_compile.tables.overview.findings import source_line_text, sure_text, to_do_text
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import one_line
from inspect_compile.tui.models.code import NARROWEST, Code, CodeLine, SheetLine

_TITLE: Final = 7
"""Width of the title of a line."""


class _Wrapper(TextWrapper):
    """Breaks code behind a bracket or an equals sign too, rather than in the middle of a name."""

    wordsep_re = re.compile(r"(\s+|(?<=[(=])(?=\w))")


def _wrapped(text: str, width: int) -> list[str]:
    return _Wrapper(max(width, NARROWEST)).wrap(text)


def finding_lines(row: Finding, width: int) -> Code:
    """The finding, wrapped to a width in columns."""
    lines: list[SheetLine] = [styled(line, "title") for line in _wrapped(one_line(row.what), width)]
    for part in row.parts:
        lines.append(StyledLine(part_cell(part)))
        if code := source_line_text(part.where):
            lines.append(CodeLine(f"{'':{_TITLE}}{code}", language="python"))
    parts = (
        ("why", row.why, "warn"),
        ("costs", row.each_call, ""),
        ("to do", to_do_text(row), "good"),
        ("basis", sure_text(row), "dim"),
    )
    for title, words, role in parts:
        for index, line in enumerate(_wrapped(one_line(words), width - _TITLE)):
            lines.append(styled(f"{'' if index else title:{_TITLE}}{line}", role))
    return Code(tuple(lines))
