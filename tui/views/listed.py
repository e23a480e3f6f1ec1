"""A view as the tabs list it."""

import importlib
from typing import Any, NamedTuple

from textual.widget import Widget


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
