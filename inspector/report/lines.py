"""Styled lines as paragraphs: indented by classes, commands in full, equal lines once with their count."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from inspect_compile.report.links import Links
from inspect_compile.report.markup import Markup, element, escaped, joined
from inspect_compile.tables.columns import Cell, Span
from inspect_compile.tables.styled_text import StyledLine, between, shortened

LONGEST: Final = 600
"""Maximum characters of a line that is shown as a whole: of a longer one the end is folded."""
_BEGINNING: Final = 300
"""Characters of a longer line that are shown at first."""
_MOST: Final = 20_000
"""Maximum characters of a line with its folded end."""
CLASSES: Final = ("dim", "title", "accent", "good", "warn", "bad", "bar", "strong", "name", "code")
"""Roles that the page's style sheet has; the others look like the rest."""
_OF_LINES: Final = {"title": "strong", "alarm": "strong bad"}
"""Role → classes, where a line's are others."""
_DEEPEST: Final = 8
_STEP: Final = 2
"""Columns of a terminal that are one step to the right."""
_LABEL: Final = 10
"""Maximum characters of a word that stands before a sentence: `why`, `costs`, `to do`."""


def paragraphs(
    lines: Sequence[StyledLine],
    links: Links,
    graph: str = "",
    leads: Callable[[StyledLine], str | None] | None = None,
    ids: Callable[[StyledLine], str | None] | None = None,
) -> Markup:
    """The lines below each other; those that are aligned with each other keep their blanks. `leads`: a line → the place
    in the page that has more about it; `ids`: a line → its id.
    """
    parts: list[Markup] = []
    aligned: list[StyledLine] = []
    for line, count in _counted(lines):
        if line.is_aligned:
            aligned.append(line)
            continue
        if aligned:
            parts.append(_aligned(aligned))
            aligned = []
        if line.plain.strip():
            lead = leads(line) if leads is not None else None
            parts.append(_paragraph(line, links, graph, count, lead, ids(line) if ids is not None else None))
    if aligned:
        parts.append(_aligned(aligned))
    return joined(*parts, between="\n")


def _counted(lines: Iterable[StyledLine]) -> Iterator[tuple[StyledLine, int]]:
    """Lines, and how often each stands there in a row."""
    last, count = None, 0
    for line in lines:
        if last is not None and line.spans == last.spans and line.indent == last.indent:
            count += 1
            continue
        if last is not None:
            yield last, count
        last, count = line, 1
    if last is not None:
        yield last, count


def _aligned(lines: Iterable[StyledLine]) -> Markup:
    rows = (joined(" " * line.indent, *(_styled(span, escaped(span.text)) for span in line.spans)) for line in lines)
    return element("pre", joined(*rows, between="\n"), class_="text")


def _paragraph(line: StyledLine, links: Links, graph: str, count: int, lead: str | None, place: str | None) -> Markup:
    blanks, spans = without_blanks(line.spans)
    depth = min((line.indent + blanks + 1) // _STEP, _DEEPEST)
    label = _is_label(spans)
    inner = _inner(spans[1:] if label else spans, links, graph)
    if count > 1:
        inner = joined(inner, element("i", f" ×{count:,}", class_="dim"))
    if lead is not None:
        inner = joined(inner, "  ", element("a", "details", href=lead))
    if label:  # `why    x`: a label, and the sentence beside it
        word = element("span", _styled(spans[0], escaped(spans[0].text.rstrip())), class_="label")
        inner = joined(word, element("div", inner))
    classes = " ".join(name for name in ("said", f"in{depth}" if depth else "", "labelled" * label) if name)
    return element("div", inner, class_=classes, id=place)


def _is_label(spans: Cell) -> bool:
    return (
        len(spans) > 1
        and spans[0].role in ("dim", "accent")
        and spans[0].text.endswith(("  ", ": "))
        and 0 < len(spans[0].text.strip()) <= _LABEL
    )


def without_blanks(spans: Cell) -> tuple[int, Cell]:
    """How many blanks the line begins with, and the line without them."""
    blanks, rest = 0, list(spans)
    while rest:
        text = rest[0].text
        kept = text.lstrip(" ")
        blanks += len(text) - len(kept)
        if kept:
            rest[0] = Span(kept, rest[0].role)
            break
        rest.pop(0)
    return blanks, tuple(rest)


def _inner(spans: Cell, links: Links, graph: str) -> Markup:
    """All of a line: the end of one that is longer than a paragraph should be is folded."""
    size = sum(len(span.text) for span in spans)
    if size <= LONGEST:
        return joined(*(styled_span(span, links, graph) for span in spans))
    start = between(spans, 0, _BEGINNING)
    rest = shortened(between(spans, _BEGINNING, size), _MOST)
    fold = element("summary", f"… {size - _BEGINNING:,} more characters")
    end = element("div", *(styled_span(span, links, graph) for span in rest))
    return joined(*(styled_span(span, links, graph) for span in start), element("details", fold, end, class_="rest"))


def styled_span(span: Span, links: Links, graph: str = "") -> Markup:
    """A piece of a line; a command as a whole line to copy."""
    if links.is_command(span) and (command := links.command(span.text)) is not None:
        return joined(" ", command)
    if span.role == "accent" and (place := links.table(span.text)) is not None:
        return element("a", span.text, href=place)
    return _styled(span, links.prose(span.text, graph))


def _styled(span: Span, html: Markup) -> Markup:
    classes = _OF_LINES.get(span.role, span.role if span.role in CLASSES else "")
    return element("i", html, class_=classes) if classes else html
