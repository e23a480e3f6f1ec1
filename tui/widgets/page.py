"""Lines to read: the run, a frame, a failure."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspect_compile.tables.styled_text import StyledLine
from inspect_compile.tables.text import clean
from inspect_compile.tui.palette import textual_style


def content_of(page: Sequence[StyledLine]) -> Content:
    """Its lines as one text. Nothing in it is read as markup."""
    lines = [Content.assemble(*((clean(span.text), textual_style(span.role)) for span in line.spans)) for line in page]
    return Content("\n").join(lines)


class PageView(VerticalScroll):
    """A page that can be scrolled."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's name for it
        super().__init__(id=id)
        self._text = Static()

    def compose(self) -> ComposeResult:
        """The text."""
        yield self._text

    def show(self, page: Sequence[StyledLine]) -> None:
        """Show it."""
        self._text.update(content_of(page))
