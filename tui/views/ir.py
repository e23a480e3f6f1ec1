"""The lowering."""

from collections.abc import Iterable

from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.ir import Steps, ir
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines


class IrView(View[Steps]):
    """A row a node; below, the IR of the one under the cursor."""

    def parts(self) -> Iterable[Widget]:
        """Rows and text."""
        yield Lines(id="ir-rows").add_class("rows")
        yield Lines(id="ir-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Steps:
        """The steps."""
        return ir(dump, chain)

    def present(self, model: Steps, fresh: bool) -> None:
        """Show them."""
        (self.rows.restart if fresh else self.rows.show)(model.table)

    def moved(self, lines: Lines) -> None:
        """Show the row's IR."""
        if self.model is not None:
            self.show_detail(lines.key, self.model.detail(lines.key))

    def count(self, model: Steps) -> str:
        """How many nodes were lowered."""
        return number_of(len(model.lowerings), "node")
