"""What was fused, and what was not."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.fusion import MODES, PARTNERS, fusion
from inspect_compile.tui.models.sheet import DETAILED, Panel, Shown, Table
from inspect_compile.tui.views.view import View


class FusionView(View):
    """Groups, misses, rounds, the partners of the selection, or all pairs; below, the story of the row."""

    PANEL: ClassVar = Panel(modes=MODES, detail=DETAILED)

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The table of the mode, with details."""
        return fusion(dump, chain, mode, self._chosen if mode == PARTNERS else frozenset())

    def mark(self, choice: Choice | None) -> None:
        """Mark the selection; in the mode partners, show its partners."""
        is_other = choice is not None and choice.view != self.tab.name and choice != self.choice
        super().mark(choice)
        if is_other and self.mode == PARTNERS:
            self.read_again()

    @property
    def _chosen(self) -> frozenset[str]:
        return self.choice.selection.operations if self.choice is not None else frozenset()
