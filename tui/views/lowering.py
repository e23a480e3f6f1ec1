"""The view of the lowering."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.lowering import FORMS, Detail, Steps, ir
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start


class IrView(View[Steps]):
    """A row for each node; below, how the one under the cursor was lowered, or everything about it."""

    MODES: ClassVar = FORMS
    _graph = ""
    """The graph whose nodes are shown."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._found: Detail | None = None

    def parts(self) -> Iterable[Widget]:
        """Rows and text."""
        yield Lines(id="ir-rows").add_class("rows")
        yield Lines(id="ir-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Steps:
        """The steps."""
        return ir(dump, chain)

    def present(self, model: Steps, fresh: bool) -> None:
        """Show them; if only the form of the detail changed, the rows stay as they are."""
        graph = self.scope.chain.graph if self.scope is not None else ""
        (self.rows.restart if graph != self._graph else self.rows.show)(model.table)
        self._graph = graph

    def moved(self, lines: Lines) -> None:
        """Read what is known of the row."""
        if self.model is not None and self.scope is not None:
            work = partial(self._read, self.model, self.scope.chain, lines.key, self.mode)
            start(self, work, group="ir detail", latest=True)

    async def _read(self, model: Steps, chain: Chain, key: str, mode: str) -> None:
        def build(dump: Dump) -> Detail:
            return model.detail(dump, chain, key, mode)

        with self.guarded():
            self._found = await self.reader.read(build)
            self.show_detail(f"{mode} {key}", self._found.code)

    def on_lines_entered(self, event: Lines.Entered) -> None:
        """Follow a row, or a line of the detail that names a node of another graph."""
        if event.lines is self.rows:
            super().on_lines_entered(event)
            return
        event.stop()
        jump = self._found.jumps.get(event.lines.key) if self._found is not None else None
        if jump is not None:
            self.post_message(self.Jumped(self, jump))

    def count(self, model: Steps) -> str:
        """How many nodes were lowered."""
        return number_of(len(model.lowerings), "node")
