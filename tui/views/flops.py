"""Where the arithmetic is."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.flops import flops
from inspect_compile.tui.models.sheet import Table
from inspect_compile.tui.views.view import View


class FlopsView(View[Table]):
    """Modules and, under them, operators."""

    FOLLOW: ClassVar = "fx"

    def build(self, chain: Chain, mode: str, dump: Dump) -> Table:
        """The tree."""
        return flops(dump, chain)

    def present(self, model: Table, fresh: bool) -> None:
        """Show it."""
        (self.rows.restart if fresh else self.rows.show)(model)
