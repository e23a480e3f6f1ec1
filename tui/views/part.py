"""What is shown at the right, and can have the focus."""

import importlib
from typing import Any

from textual.containers import Vertical
from textual.widget import Widget

from inspect_compile.tui.models.bars import Tab
from inspect_compile.tui.widgets.lines import Lines


def made(tab: Tab, *arguments: Any) -> Widget:
    """The view of a tab."""
    module, _, name = tab.where.partition(":")
    view: Widget = getattr(importlib.import_module(module), name)(tab, *arguments)
    return view


class Part(Vertical):
    """A view in the list of `views`, with a list `<name>-rows` that can be focused."""

    def __init__(self, tab: Tab) -> None:
        super().__init__(id=tab.name)
        self.tab = tab
        self.is_ready = False
        """Whether its lists exist."""
        self._wants_keys = False

    def on_mount(self) -> None:
        """Its lists exist now."""
        self.is_ready = True
        if self._wants_keys:
            self.focus_rows()

    @property
    def rows(self) -> Lines:
        """The list with the rows; exists once the part is ready."""
        return self.query_one(f"#{self.tab.name}-rows", Lines)

    def focus_rows(self) -> None:
        """Focus the rows, at once or as soon as possible."""
        self._wants_keys = not self.is_ready
        if self.is_ready:
            self.rows.focus()
