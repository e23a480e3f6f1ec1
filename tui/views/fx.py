"""The FX graphs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.fx import STAGES, Nodes, fx
from inspect_compile.tui.views.view import View


class FxView(View[Nodes]):
    """The nodes of one stage."""

    MODES: ClassVar = tuple(STAGES)
    EMPTY: ClassVar = "The dump holds no graph of this stage."
    FOLLOW: ClassVar = "ir"

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
