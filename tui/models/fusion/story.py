"""The story of a pair or a group, as in `why`, for the pane below the table."""

from textwrap import wrap
from typing import Final

from inspect_compile.analysis.fusion.pair_story import FusionStories, Side
from inspect_compile.tables.fusion.why_text import (
    StyledLine,
    advice_lines,
    apart_words,
    difference_lines,
    order_words,
    round_words,
    saved_words,
    verdict_line,
)
from inspect_compile.tables.text import columns, one_line, place_text
from inspect_compile.tui.models.code import CodeLine

_NARROWEST: Final = 24
"""Minimum width of a sentence, in columns."""
_MOST: Final = 24
"""Maximum number of rows of one kind."""


def pair_lines(stories: FusionStories, a: str, b: str, width: int) -> list[CodeLine]:
    """The story of two scheduler nodes of any round, wrapped to a width in columns."""
    one, other = stories.meant(a), stories.meant(b)
    title = CodeLine(f"{a} × {b}", role="title")
    if not (one.operations and other.operations):
        return [title, CodeLine("Nothing else was recorded of them.", role="dim")]
    story = stories.pair(one, other)
    lines = [title, *_sides(story.a, story.b), *_wrapped(verdict_line(story), width)]
    if story.rounds:
        lines.append(CodeLine(""))
        rows = [("round", "one", "other", "verdict", "code", "")]
        rows += [
            (str(row.round), row.a, row.b, row.verdict, row.code, round_words(row, story.score_parts))
            for row in story.rounds[:_MOST]
        ]
        lines += [CodeLine(text, role="dim") for text in columns(rows, right=frozenset({0}))]
    if story.differences:
        lines.append(CodeLine(""))
        for line in difference_lines(story):  # indices are aligned below each other; only their explanation is wrapped
            lines += _wrapped(line, width) if line.is_sentence else [CodeLine(line.text, role=line.role)]
    if advice := list(advice_lines(story)):
        lines.append(CodeLine(""))
        lines += [line for told in advice for line in _wrapped(told, width)]
    return lines


def group_lines(stories: FusionStories, operation: str) -> list[CodeLine]:
    """How the scheduler node that contains `operation` grew, and what stopped it."""
    lines: list[CodeLine] = []
    for story in stories.group(stories.meant(operation)):
        ran = story.kernel or "no kernel: a view, or a part of what another kernel writes"
        lines += [CodeLine(story.group, role="title"), CodeLine(ran, role="accent"), *_sides(*story.members)]
        if story.grown:
            lines += [CodeLine(""), CodeLine("How it grew", role="title")]
            rows = [
                (f"round {row.round}", row.a, row.b, round_words(row, story.score_parts)) for row in story.grown[:_MOST]
            ]
            lines += [CodeLine(text, role="good") for text in columns(rows)]
        if story.stopped:
            lines += [CodeLine(""), CodeLine(f"What stopped it, {order_words(story.stopped)}", role="title")]
            missed = [
                (saved_words(miss), miss.b if miss.a == story.group else miss.a, miss.code, apart_words(miss))
                for miss in story.stopped[:_MOST]
            ]
            lines += [CodeLine(text, role="warn") for text in columns(missed, right=frozenset({0}))]
    return lines


def _sides(*sides: Side) -> list[CodeLine]:
    rows = [
        (
            side.operation,
            f"{side.kind} {side.node}".strip(),
            place_text(side.where),
            one_line(side.where.code) if side.where is not None else "",
        )
        for side in sides[:_MOST]
    ]
    return [CodeLine(text, role="dim") for text in columns(rows)]


def _wrapped(told: StyledLine, width: int) -> list[CodeLine]:
    return [CodeLine(line, role=told.role) for line in wrap(told.text, max(width, _NARROWEST))]
