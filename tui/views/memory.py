"""The view of memory."""

from collections.abc import Iterable
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.memory import MODES, Shown, memory
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines


class MemoryView(View[Shown]):
    """Pieces of memory as bars from line to line, what is live, or what the backward keeps; below, details."""

    MODES: ClassVar = MODES
    FOLLOW: ClassVar = "output"

    def parts(self) -> Iterable[Widget]:
        """Rows and text."""
        yield Lines(id="memory-rows").add_class("rows", "long")
        yield Lines(id="memory-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown:
        """The replay."""
        return memory(dump, chain, mode)

    def present(self, model: Shown, fresh: bool) -> None:
        """Show the table of the mode."""
        self.rows.empty = model.empty or self.EMPTY
        (self.rows.restart if fresh else self.rows.show)(model.table)

    def moved(self, lines: Lines) -> None:
        """Show what is known of the row."""
        if self.model is not None:
            self.show_detail(f"{self.mode} {lines.key}", self.model.detail(lines.key))

    def count(self, model: Shown) -> str:
        """The peak."""
        return model.told
