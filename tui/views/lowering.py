"""The view of the lowering."""

from functools import partial
from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.lowering import FORMS, Detail, Steps, ir
from inspect_compile.tui.models.sheet import Panel
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start


class IrView(View):
    """A row for each node; below, how the one under the cursor was lowered, or everything about it."""

    PANEL: ClassVar = Panel(modes=FORMS, detail=("rows",), modes_are_of_detail=True)
    _found: Detail | None = None

    def build(self, chain: Chain, mode: str, dump: Dump) -> Steps:
        """The steps."""
        return ir(dump, chain)

    def moved(self, lines: Lines) -> None:
        """Read what is known of the row."""
        if isinstance(self.shown, Steps) and self.scope is not None:
            work = partial(self._read, self.shown, self.scope.chain, lines.key, self.mode)
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
