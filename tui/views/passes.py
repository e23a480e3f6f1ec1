"""The passes over the FX graphs."""

from collections.abc import Iterable
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.passes.passes import FORMS, Passes, passes
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines


class PassesView(View[Passes]):
    """A row for each pass, under its stage; below, what the one under the cursor changed."""

    MODES: ClassVar = FORMS
    EMPTY: ClassVar = "No pass was seen (yet)."
    FOLLOW: ClassVar = "fx"

    def parts(self) -> Iterable[Widget]:
        """Rows and edits."""
        yield Lines(id="passes-rows").add_class("rows", "long")
        yield Lines(id="passes-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Passes:
        """The passes."""
        return passes(dump, chain, mode)

    def present(self, model: Passes, fresh: bool) -> None:
        """Show them."""
        if not fresh:
            self.rows.show(model.table)
            return
        self.rows.restart(model.table)
        self.rows.begin(model.start)

    def moved(self, lines: Lines) -> None:
        """Show what the row changed."""
        if self.model is not None:
            self.show_detail(lines.key, self.model.detail(lines.key, self.size.width))

    def on_resize(self) -> None:
        """Before and after are side by side if there is room."""
        self.moved(self.rows)

    def count(self, model: Passes) -> str:
        """How many are shown."""
        return number_of(model.count, "pass", "passes")
