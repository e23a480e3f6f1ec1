"""What is shown at the right: as the tabs list it, and as a widget that can have the focus."""

import importlib
from typing import Any, NamedTuple

from textual.containers import Vertical
from textual.widget import Widget

from inspect_compile.tui.widgets.lines import Lines


class Listed(NamedTuple):
    """A view, known before its module is loaded, which happens when it is first shown."""

    digit: str
    name: str
    title: str
    where: str
    """`module:Class`."""
    short: str = ""
    """Short title, if there is little room; empty for the title itself."""

    def make(self, *arguments: Any) -> Widget:
        """The view itself."""
        module, _, name = self.where.partition(":")
        view: Widget = getattr(importlib.import_module(module), name)(*arguments)
        return view


class Part(Vertical):
    """A view in the list of `views`, with a list `<name>-rows` that can be focused."""

    def __init__(self, listed: Listed) -> None:
        super().__init__(id=listed.name)
        self.listed = listed
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
        return self.query_one(f"#{self.listed.name}-rows", Lines)

    def focus_rows(self) -> None:
        """Focus the rows, at once or as soon as possible."""
        self._wants_keys = not self.is_ready
        if self.is_ready:
            self.rows.focus()
