"""One text of two kernels, for `diff --stage`: a unified diff."""

from collections.abc import Sequence

from inspect_compile.analysis.compare.causes.texts import DiffLine
from inspect_compile.facts import Kernel
from inspect_compile.tables.styled_text import Block, Stack, styled
from inspect_compile.tables.text import one_line

_STYLES = {"-": "bad", "+": "good", "@": "accent"}


def text_lines(rows: Sequence[DiffLine], names: tuple[str, str], kernels: tuple[Kernel, Kernel], stage: str) -> Block:
    """What is compared, and the lines that differ with those around them."""
    said = [f"{one_line(name)} {one_line(kernel.name)}" for name, kernel in zip(names, kernels, strict=True)]
    if not rows:
        return styled(f"No difference in {one_line(stage)}: {said[0]}, {said[1]}", "good")
    head = [styled(f"--- {said[0]} {one_line(stage)}", "strong"), styled(f"+++ {said[1]} {one_line(stage)}", "strong")]
    return Stack([*head, *(styled(f"{row.sign}{row.text}", _STYLES.get(row.sign, "")) for row in rows)], gap=False)
