"""One line of the screen, parts of which can be clicked."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from inspect_compile.tables.columns import Span
from inspect_compile.tables.layout import fitted
from inspect_compile.tui.models.bars import Item
from inspect_compile.tui.palette import looks_of


class Bar(Widget):
    """Pieces of text from the left and, as far as there is room, from the right."""

    class Picked(Message):
        """A piece with a value was clicked."""

        def __init__(self, bar: "Bar", value: str) -> None:
            super().__init__()
            self.bar = bar
            self.value = value

        @property
        def control(self) -> "Bar":
            """The bar that was clicked."""
            return self.bar

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - textual's name
        super().__init__(id=id, classes=classes)
        self._left: list[Item] = []
        self._right: list[Item] = []

    def say(self, left: Sequence[Item], right: Sequence[Item] = ()) -> None:
        """Show these pieces."""
        if list(left) != self._left or list(right) != self._right:
            self._left, self._right = list(left), list(right)
            self.refresh()

    @property
    def text(self) -> str:
        """Its text, left and right."""
        return "".join(item.text for item in (*self._left, *self._right))

    def render_line(self, y: int) -> Strip:
        """The line."""
        style = self.rich_style
        of = looks_of(self.app.theme).style
        return Strip(
            [Segment(item.text, style + of(item.role) if item.role else style) for item in self._placed()]
        ).adjust_cell_length(self.size.width, style)

    def _placed(self) -> list[Item]:
        """The pieces with the gap between the two sides. What does not fit goes, whole, in the order of `drop`; the
        rest is cut, the right side first.
        """
        width = self.size.width
        left, right = self._left, self._right
        for drop in sorted({item.drop for item in (*left, *right) if item.drop}, reverse=True):
            if _length(left) + _length(right) + bool(right) > width:
                left, right = ([item for item in side if item.drop != drop] for side in (left, right))
        least = width // 2 if left else width
        right = self._fit(right, max(least, width - _length(left) - 1))
        left = self._fit(left, width - _length(right) - bool(right))
        blank = width - _length(left) - _length(right)
        return [*left, Item(" " * blank), *right] if right else left

    @staticmethod
    def _fit(items: list[Item], width: int) -> list[Item]:
        spans = fitted([Span(item.text, item.role) for item in items], width)
        return [Item(span.text, span.role, item.value) for span, item in zip(spans, items, strict=False)]

    def on_click(self, event: events.Click) -> None:
        """Report what was clicked."""
        at = 0
        for item in self._placed():
            at += cell_len(item.text)
            if event.x < at:
                if item.value:
                    self.post_message(self.Picked(self, item.value))
                return


def _length(items: Sequence[Item]) -> int:
    return sum(cell_len(item.text) for item in items)
