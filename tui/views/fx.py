"""The FX graphs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.passes.fx import STAGES, Nodes, fx
from inspect_compile.tui.views.view import View


class FxView(View[Nodes]):
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

    def build(self, chain: Chain, mode: str, dump: Dump) -> Nodes:
        """The nodes."""
        return fx(dump, chain, mode)

    def present(self, model: Nodes, fresh: bool) -> None:
        """Show them."""
        if not fresh:
            self.rows.show(model.table)
            return
        self.rows.restart(model.table)
        self.rows.begin(model.start)

    def count(self, model: Nodes) -> str:
        """How many there are."""
        return number_of(model.count, "node")
