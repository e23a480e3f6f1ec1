"""Syntax highlighting, as roles."""

from typing import Final

from inspect_compile.tables.columns import Span

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
