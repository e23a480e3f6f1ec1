"""The view of costs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost.cost import PARTS
from inspect_compile.tui.models.sheet import Table
from inspect_compile.tui.views.view import View


class CostView(View[Table]):
    """FLOPs by module with operators, or by operator, kernel or line; `s` switches to the next."""

    MODES: ClassVar = tuple(PARTS)
    FOLLOW: ClassVar = "fx"

    def build(self, chain: Chain, mode: str, dump: Dump) -> Table:
        """The table of the mode."""
        return PARTS[mode](dump, chain)

    def present(self, model: Table, fresh: bool) -> None:
        """Show it."""
        (self.rows.restart if fresh else self.rows.show)(model)
