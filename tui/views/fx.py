"""The FX graphs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.passes.fx import STAGES, fx
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.views.view import View


class FxView(View):
    """The nodes of one stage."""

    MODES: ClassVar = tuple(STAGES)
    EMPTY: ClassVar = "The dump holds no graph of this stage."
    FOLLOW: ClassVar = "ir"
    _wanted = ""
    """Key of the row that the cursor will go to once it exists."""

    def go_to(self, mode: str, key: str) -> None:
        """Select the node with `key` of the stage `mode`."""
        self._wanted = key
        self.choose_mode(mode)
        self.mark(self.choice)

    def mark(self, choice: Choice | None) -> None:
        """Mark what belongs to the selection, unless a certain node is awaited."""
        super().mark(choice)
        shown = self._seen[1] if self._seen is not None else ""
        if self._wanted and shown == self.mode and (found := self.rows.find_key(self._wanted)) is not None:
            self._wanted = ""
            self.rows.begin(found)
            self.rows.choose()

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The nodes."""
        return fx(dump, chain, mode)
