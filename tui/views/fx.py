"""The FX graphs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.fx import STAGES, fx, is_computed
from inspect_compile.tui.models.sheet import Table
from inspect_compile.tui.views.view import View


class FxView(View[Table]):
    """The nodes of one stage."""

    NAME: ClassVar = "fx"
    TITLE: ClassVar = "FX"
    DIGIT: ClassVar = "2"
    MODES: ClassVar = tuple(STAGES)
    EMPTY: ClassVar = "The dump holds no graph of this stage."
    FOLLOW: ClassVar = "ir"

    def build(self, chain: Chain, mode: str, dump: Dump) -> Table:
        """The nodes."""
        return fx(dump, chain, mode)

    def present(self, model: Table, fresh: bool) -> None:
        """Show them."""
        if self.rows is None:
            return
        if not fresh:
            self.rows.show(model)
            return
        self.rows.restart(model)
        self.rows.begin(next((index for index, row in enumerate(model.rows) if is_computed(row)), 0))

    def count(self, model: Table) -> str:
        """How many there are."""
        return number_of(sum(not row.heading for row in model.rows), "node")
