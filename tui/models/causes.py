"""Why two compiles differ: a row for each cause, its story, and what either side has at its level."""

from collections.abc import Iterator, Sequence

from inspect_compile.analysis.compare.causes.records import Cause
from inspect_compile.tables.columns import Span
from inspect_compile.tables.compare.causes import cause_place_text, cost_words, level_text, shared_words
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import clean, number_of, one_line
from inspect_compile.tui.models.code import LONGEST, Code, wrapped
from inspect_compile.tui.models.sheet import Row


def cause_rows(causes: Sequence[Cause]) -> Iterator[tuple[Row, Cause | None]]:
    """A title and a row for each cause: line, level, the first figure that differs, and the sentence."""
    if not causes:
        return
    title = f"{number_of(len(causes), 'cause')} of differences, the most expensive first"
    yield Row.title("causes", title), None
    for number, cause in enumerate(causes):
        cost = next((words for words in cost_words(cause) if "→" in words), "")
        spans = (
            Span("▲ ", "warn"),
            Span(f"{_place(cause)}  ", "name"),
            Span(f"{level_text(cause)}  ", "accent"),
            Span(f"{clean(cost)}  " if cost else ""),
            Span(one_line(cause.message), "dim"),
        )
        yield Row(f"cause {number}", (spans,), heading=True), cause


def story(cause: Cause, width: int) -> Code:
    """The line, the level with its sentence, the cost, and the settings, wrapped to a width in columns."""
    lines = [styled(cause_place_text(cause.where), "title")]
    lines += _wrapped(f"{level_text(cause)}: {one_line(cause.message)}", width, "")
    lines += _wrapped(" · ".join(cost_words(cause)), width, "accent")
    for words in shared_words(cause):
        lines += _wrapped(words, width, "dim")
    for setting in cause.settings:
        lines += _wrapped(f"setting  {one_line(setting)}", width, "warn")
    return Code(lines)


def side(cause: Cause, *, is_b: bool, width: int) -> Code:
    """What one side has at the level, and its kernels."""
    name, where, lines, kernels = (
        (cause.b_name, cause.where, cause.b, cause.kernels_b)
        if is_b
        else (cause.a_name, cause.old_where, cause.a, cause.kernels_a)
    )
    found = [styled(one_line(name), "title")]
    if where is not None:
        found += _wrapped(cause_place_text(where), width, "dim")
    for line in lines or ("nothing there",):
        found += _wrapped(one_line(line), width, "" if lines else "dim")
    if kernels and kernels != lines:
        found += [styled(number_of(len(kernels), "kernel"), "dim")]
        found += [styled(f"  {one_line(kernel)}") for kernel in kernels]
    return Code(found)


def _place(cause: Cause) -> str:
    words = cause_place_text(cause.where)
    return words.partition("  ")[0] if cause.where is not None else words


def _wrapped(text: str, width: int, role: str) -> list[StyledLine]:
    return wrapped(text[:LONGEST], width, role, indent=2)
