"""The story of a pair or a group, as in `why`, for the pane below the table."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from inspect_compile.analysis.fusion.pair_story import FusionStories
from inspect_compile.tables.columns import Column, Row, text_lines
from inspect_compile.tables.fusion.fusion import ROUNDS, SIDES, STOPPED, stopped_rows
from inspect_compile.tables.fusion.why_text import StyledLine, advice_lines, difference_lines, order_words, verdict_line
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
    lines = [title, *_table(SIDES, (story.a, story.b), "dim"), *_wrapped(verdict_line(story), width)]
    if story.rounds:
        lines.append(CodeLine(""))
        lines += _table(ROUNDS, story.rounds, "dim")
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
        lines += [
            CodeLine(story.group, role="title"),
            CodeLine(ran, role="accent"),
            *_table(SIDES, story.members, "dim"),
        ]
        if story.grown:
            lines += [CodeLine(""), CodeLine("How it grew", role="title")]
            lines += _table(ROUNDS, story.grown, "good")
        if story.stopped:
            lines += [CodeLine(""), CodeLine(f"What stopped it, {order_words(story.stopped)}", role="title")]
            lines += _table(STOPPED, stopped_rows(story), "warn")
    return lines


def _table(columns: Sequence[Column[Row]], rows: Sequence[Row], role: str) -> list[CodeLine]:
    titles, *lines = text_lines(columns, rows[:_MOST])
    return [CodeLine(titles, role="dim"), *(CodeLine(line, role=role) for line in lines)]


def _wrapped(told: StyledLine, width: int) -> list[CodeLine]:
    return [CodeLine(line, role=told.role) for line in wrap(told.text, max(width, _NARROWEST))]
