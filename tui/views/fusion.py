"""What was fused, and what was not."""

from collections.abc import Iterable
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.fusion import Fusion, fusion
from inspect_compile.tui.models.sheet import Table
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines


class FusionView(View[Fusion]):
    """Groups, missed pairs, or all pairs; below, what is known of the row under the cursor."""

    MODES: ClassVar = ("groups", "missed", "all pairs")

    def parts(self) -> Iterable[Widget]:
        """Rows and text."""
        yield Lines(id="fusion-rows").add_class("rows", "long")
        yield Lines(id="fusion-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Fusion:
        """The summed up attempts."""
        return fusion(dump, chain)

    def present(self, model: Fusion, fresh: bool) -> None:
        """Show the table of the mode."""
        (self.rows.restart if fresh else self.rows.show)(self._table(model))

    def moved(self, lines: Lines) -> None:
        """Show what is known of the row."""
        if self.model is not None:
            self.show_detail(lines.key, self.model.detail(lines.key))

    def count(self, model: Fusion) -> str:
        """How many rows there are."""
        rows = sum(not row.heading for row in self._table(model).rows)
        return number_of(rows, "group" if self.mode == "groups" else "pair")

    def _table(self, model: Fusion) -> Table:
        return {"groups": model.groups, "missed": model.missed, "all pairs": model.pairs}[self.mode]
