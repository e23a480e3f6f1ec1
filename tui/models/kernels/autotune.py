"""What torch's autotuning chose for one kernel, and from which candidates."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.kernels.autotuning import Autotuned, autotuned, of_kernel
from inspect_compile.analysis.kernels.tiling import shape
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.kernels.autotune import COLUMNS
from inspect_compile.tables.kernels.autotune_text import margin_text, outcome_text, question_text
from inspect_compile.tables.kernels.tiling_text import tiling_lines
from inspect_compile.tables.text import one_line
from inspect_compile.tui.models.code import Code, CodeLine

AUTOTUNE: Final = "autotune"
"""Mode of the kernels view."""


def autotune_sheet(dump: Dump, kernel: Kernel) -> Code:
    """The tuning decisions about `kernel`, each with the winner first."""
    lines = [CodeLine(kernel.name, role="title")]
    lines += [CodeLine(line, role="dim") for line in tiling_lines(kernel, shape(dump, kernel))]
    rows = of_kernel(autotuned(dump, kernel.graph.partition("/")[0]), kernel)
    for row in rows:
        lines += [CodeLine(""), *_question(row)]
    if not rows:
        lines.append(CodeLine("nothing of it was autotuned", role="dim"))
    return Code(lines)


def _question(row: Autotuned) -> Iterator[CodeLine]:
    yield CodeLine(one_line(question_text(row)), role="name")
    yield CodeLine(one_line(margin_text(row)), role="dim")
    for line in outcome_text(row):
        yield CodeLine(one_line(line), role="dim")
    titles, *choices = text_lines(COLUMNS, row.choices)
    yield CodeLine(titles, role="dim")
    for option, text in zip(row.choices, choices, strict=True):
        yield CodeLine(text, role="good" if option.is_winner else "dim" if option.milliseconds is None else "")
