"""Blocks on a terminal, in colours: drawn by rich."""

from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from inspect_compile.tables.block_lines import laid_out
from inspect_compile.tables.styled_text import Block

STYLES: Final = {
    "dim": "dim",
    "title": "bold",
    "accent": "cyan",
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "alarm": "bold red",
    "bar": "blue",
    "strong": "bold",
}
"""Role → rich style; the others have none."""


class Drawn:
    """A block as rich prints it, in the width that there is."""

    def __init__(self, block: Block, *, is_wrapped: bool = True) -> None:
        self._block = block
        self._is_wrapped = is_wrapped

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in laid_out(self._block, options.max_width, is_wrapped=self._is_wrapped):
            yield from (Segment(span.text, Style.parse(STYLES.get(span.role, ""))) for span in line if span.text)
            yield Segment.line()
