"""What torch's autotuning chose for one kernel, and from which candidates."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.kernels.autotuning import Autotuned, Option, autotuned, of_kernel
from inspect_compile.analysis.kernels.tiling import shape
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables.kernels.autotune_text import (
    margin_text,
    option_text,
    outcome_text,
    question_text,
    time_text,
)
from inspect_compile.tables.kernels.tiling_text import tiling_lines
from inspect_compile.tables.text import byte_text, one_line
from inspect_compile.tui.models.code import Code, CodeLine

AUTOTUNE: Final = "autotune"
"""Mode of the kernels view."""

_LABEL: Final = 40


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
    width = min(max((len(_label(option)) for option in row.choices), default=0), _LABEL)
    for option in row.choices:
        yield CodeLine(_choice(option, width), role="good" if option.is_winner else "dim" if _is_out(option) else "")


def _is_out(option: Option) -> bool:
    return option.milliseconds is None


def _label(option: Option) -> str:
    return one_line(f"{option.label} {option.step}".rstrip())


def _choice(option: Option, width: int) -> str:
    """`✓ XBLOCK256-w4-s1  12 µs  1.00×  32 registers, 0 B spilled   XBLOCK=256 num_warps=4`."""
    asked = "" if option.registers is None else f"{option.registers} registers, {byte_text(option.spills or 0)} spilled"
    words = [
        f"{'✓' if option.is_winner else ' '} {_label(option):<{width}}",
        f"{time_text(option):>14}",
        f"{'' if option.times is None else f'{option.times:.2f}×':>8}",
        f"{asked:<27}" if asked else "",
        option_text(option),
    ]
    return "  ".join(word for word in words if word).rstrip()
