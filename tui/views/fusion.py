"""What was fused, and what was not."""

from collections.abc import Iterable
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.fusion.rounds import GROUPS_MODE, MODES, PARTNERS, Fusion, fusion
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines


class FusionView(View[Fusion]):
    """Groups, misses, rounds, the partners of the selection, or all pairs; below, the story of the row."""

    MODES: ClassVar = MODES

    def parts(self) -> Iterable[Widget]:
        """Rows and text."""
        yield Lines(id="fusion-rows").add_class("rows", "long")
        yield Lines(id="fusion-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Fusion:
        """The table of the mode, with details."""
        return fusion(dump, chain, mode, self._chosen if mode == PARTNERS else frozenset())

    def present(self, model: Fusion, fresh: bool) -> None:
        """Show the table of the mode."""
        self.rows.empty = model.empty or self.EMPTY
        (self.rows.restart if fresh else self.rows.show)(model.table)

    def mark(self, choice: Choice | None) -> None:
        """Mark the selection; in the mode partners, show its partners."""
        is_other = choice is not None and choice.view != self.listed.name and choice != self.choice
        super().mark(choice)
        if is_other and self.mode == PARTNERS:
            self.read_again()

    def moved(self, lines: Lines) -> None:
        """Show what is known of the row."""
        if self.model is not None:
            self.show_detail(lines.key, self.model.detail(lines.key, self.size.width - 2))

    def on_resize(self) -> None:
        """Sentences are wrapped to the available width."""
        self.moved(self.rows)

    def count(self, model: Fusion) -> str:
        """How many rows there are."""
        return number_of(model.count, "group" if self.mode == GROUPS_MODE else "pair")

    @property
    def _chosen(self) -> frozenset[str]:
        return self.choice.selection.operations if self.choice is not None else frozenset()
