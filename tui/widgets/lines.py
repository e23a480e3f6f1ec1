"""A list of any length that draws only the visible rows."""

import asyncio
from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspect_compile.analysis.provenance.chain import Selection
from inspect_compile.tables.columns import Span
from inspect_compile.tui.models.chain import is_marked
from inspect_compile.tui.models.code import NOTHING, Code
from inspect_compile.tui.models.sheet import Sheet, Subject
from inspect_compile.tui.palette import style_of
from inspect_compile.tui.work import start as begin_work

MARK: Final = "▌"


class Lines(ScrollView, can_focus=True):
    """The rows of a Sheet with a cursor, and marks on those that belong to the selection."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "to_end(0)", "Start", show=False),
        Binding("end,G", "to_end(1)", "End", show=False),
        Binding("left,h", "sideways(-8)", "Left", show=False),
        Binding("right,l", "sideways(8)", "Right", show=False),
        Binding("m", "next_mark(1)", "Next mark", show=False),
        Binding("M", "next_mark(-1)", "Previous mark", show=False),
        Binding("enter", "enter", "Follow", show=False),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)
    """Index of the row under the cursor."""

    class Moved(Message):
        """The user moved the cursor to another row."""

        def __init__(self, lines: "Lines") -> None:
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> "Lines":
            """The list that it happened in."""
            return self.lines

    class Entered(Moved):
        """The user wants to follow the row under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's name for it
        super().__init__(id=id)
        self.sheet: Sheet = NOTHING
        self.empty = ""
        """The text shown if there are no rows."""
        self.sought = ""
        """The searched text, in lower case; every match is coloured."""
        self._selection = Selection()
        self._marked: dict[int, bool] = {}
        self._linked: frozenset[int] = frozenset()
        self._is_colouring = False
        self._base = Style()

    # Contents

    def show(self, sheet: Sheet) -> None:
        """Show `sheet`; cursor and scroll position stay on the same rows if it has them."""
        held = self.sheet.key(self.cursor) if len(self.sheet) else ""
        offset = self.cursor - round(self.scroll_y)
        self.sheet = sheet
        self._marked.clear()
        self._linked = frozenset()
        self.virtual_size = Size(self._full_width(), max(len(sheet), 1) + sheet.header)
        found = self.find_key(held) if held else None
        with self.prevent(self.Moved):
            self.cursor = found if found is not None else min(self.cursor, max(0, len(sheet) - 1))
        if found is not None:
            self.scroll_to(y=max(0, found - offset), animate=False)
        self.refresh()

    def restart(self, sheet: Sheet) -> None:
        """Show something else, from its beginning."""
        self.sheet = NOTHING
        self.cursor = 0
        self.scroll_to(0, 0, animate=False, force=True)
        self.show(sheet)

    def begin(self, index: int) -> None:
        """Put the cursor on a row without selecting it."""
        self.cursor = index
        self.call_after_refresh(self.reveal, True)

    def mark(self, selection: Selection, *, follow: bool) -> None:
        """Mark the rows that belong to `selection`; with `follow` the cursor goes to the first, unless it is on one."""
        self._selection = selection
        self._marked.clear()
        if follow and not self.is_marked(self.cursor):
            first = self._search(0, 1, len(self.sheet), self.is_marked)
            if first is not None:
                self.begin(first)
        self.refresh()

    def link(self, rows: Iterable[int]) -> None:
        """Highlight the rows that belong to the row under the cursor of a list beside this one; go to the first."""
        self._linked = frozenset(rows)
        if self._linked and self.cursor not in self._linked:
            self.begin(min(self._linked))
        self.refresh()

    @property
    def linked(self) -> frozenset[int]:
        """The highlighted rows."""
        return self._linked

    def is_marked(self, index: int) -> bool:
        """True if a row belongs to the selection."""
        if index not in self._marked:
            self._marked[index] = 0 <= index < len(self.sheet) and is_marked(self.sheet.subject(index), self._selection)
        return self._marked[index]

    @property
    def subject(self) -> Subject | None:
        """What the row under the cursor stands for."""
        return self.sheet.subject(self.cursor) if self.cursor < len(self.sheet) else None

    @property
    def key(self) -> str:
        """The key of the row under the cursor; empty without rows."""
        return self.sheet.key(self.cursor) if self.cursor < len(self.sheet) else ""

    def find_key(self, key: str) -> int | None:
        """Index of the row with `key`; searched near the cursor first, because sheets mostly grow at their end."""
        near = range(self.cursor, min(self.cursor + 1, len(self.sheet)))
        for rows in (near, range(len(self.sheet))):
            for index in rows:
                if self.sheet.key(index) == key:
                    return index
        return None

    # Searching

    def search(self, text: str, step: int, *, start: int | None = None) -> bool:
        """Go to the next row (step 1) or the previous one (-1) that contains `text`, wrapping around; False if none
        does.

        With `start` the search includes that row, and the match is not selected.
        """
        self.sought = text.casefold()
        self.refresh()
        if not self.sought:
            return False
        first = start if start is not None else self.cursor + step
        found = self._search(first, step, len(self.sheet), self._has_it)
        if found is None:
            return False
        if start is None:
            self._go(found, centre=True)
        else:
            self.cursor = found
            self.reveal(True)
        return True

    def choose(self) -> None:
        """Select the row under the cursor."""
        self._go(self.cursor)

    def count_found(self) -> tuple[int, int]:
        """Number of matches, and the index of the cursor's row among them."""
        rows = [index for index in range(len(self.sheet)) if self._has_it(index)]
        return len(rows), sum(index <= self.cursor for index in rows)

    def _has_it(self, index: int) -> bool:
        return self.sought in self.sheet.plain(index).casefold()

    def _stands_for_something(self, index: int) -> bool:
        return self.sheet.subject(index) is not None

    @staticmethod
    def _search(start: int, step: int, length: int, fits: Callable[[int], bool]) -> int | None:
        for distance in range(length):
            index = (start + step * distance) % length
            if fits(index):
                return index
        return None

    # Moving

    def action_move(self, rows: int) -> None:
        """Up or down."""
        self._go(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        """A screen up or down."""
        self._go(self.cursor + pages * max(1, self._height - 1))

    def action_to_end(self, which: int) -> None:
        """To the first row or the last."""
        self._go(len(self.sheet) - 1 if which else 0)

    def action_sideways(self, columns: int) -> None:
        """Scroll code to the side."""
        self.scroll_to(x=self.scroll_x + columns, animate=False)

    def action_next_mark(self, step: int) -> None:
        """To the next group of marked rows, or the previous one; if none is marked, to a row that can be selected."""
        rows = range(len(self.sheet))
        fits = self.is_marked if any(map(self.is_marked, rows)) else self._stands_for_something
        start = self.cursor
        while start in rows and start + step in rows and fits(start) and fits(start + step):
            start += step
        found = self._search(start + step, step, len(self.sheet), fits)
        if found is not None:
            self.cursor = found
            self.reveal(True)

    def action_enter(self) -> None:
        """Follow this row."""
        self.post_message(self.Entered(self))

    def on_click(self, event: events.Click) -> None:
        """Select the row under the mouse; a second click follows it."""
        index = event.y + round(self.scroll_y) - self.sheet.header
        if event.y >= self.sheet.header and 0 <= index < len(self.sheet):
            self._go(index)
            if event.chain == 2:
                self.action_enter()

    def _go(self, index: int, *, centre: bool = False) -> None:
        index = min(max(0, index), len(self.sheet) - 1)
        if index < 0:
            return
        self.cursor = index
        self.reveal(centre)
        self.post_message(self.Moved(self))

    def reveal(self, centre: bool = False) -> None:
        """Scroll so that the cursor is visible."""
        top, height = round(self.scroll_y), self._height
        if top <= self.cursor < top + height and not (centre and self.cursor >= top + height - 1):
            return
        if centre:
            top = self.cursor - height // 3
        else:
            top = self.cursor if self.cursor < top else self.cursor - height + 1
        self.scroll_to(y=max(0, top), animate=False, force=True)

    @property
    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height - self.sheet.header)

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw the two rows that change."""
        width = self.size.width
        for index in (old, new):
            self.refresh(Region(0, index - round(self.scroll_y) + self.sheet.header, width, 1))

    # Drawing

    def _full_width(self) -> int:
        if not self.sheet.width:
            return 0
        return self.sheet.width + 2 + sum(cell_len(span.text) for span in self.sheet.fixed(0))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in `crop`."""
        self._base = self.rich_style  # collected from all enclosing widgets, so not once per line
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.scrollable_content_region.width
        if self.sheet.header and y == 0:
            return self._strip([Span(" "), *self.sheet.titles(width - 2)], [], width, self._base)
        index = y + round(self.scroll_y) - self.sheet.header
        if not len(self.sheet) and index == 0:
            return self._strip([Span(f" {self.empty}", "dim")], [], width, self._base)
        if not 0 <= index < len(self.sheet):
            return Strip.blank(width, self._base)
        marked = self.is_marked(index)
        style = self._base
        if marked:
            style += style_of("row-marked")
        if index in self._linked:
            style += style_of("row-linked")
        if index == self.cursor and (self.has_focus or index not in self._linked):
            style += style_of("row-cursor" if self.has_focus else "row-cursor-blurred")
        fixed = [Span(MARK if marked else " ", "mark"), *self.sheet.fixed(index)]
        used = sum(cell_len(span.text) for span in fixed)
        spans = self.sheet.spans(index, width - used - 1)
        if isinstance(self.sheet, Code) and self.sheet.wants_colour and not self._is_colouring:
            self._is_colouring = True
            self.call_after_refresh(self._begin_to_colour)
        return self._strip(fixed, spans, width, style)

    def _begin_to_colour(self) -> None:
        self._is_colouring = False
        begin_work(self, self._colour, group="colour")

    async def _colour(self) -> None:
        sheet = self.sheet
        if isinstance(sheet, Code):
            await asyncio.to_thread(sheet.colour)
            if self.sheet is sheet:
                self.refresh()

    def _strip(self, fixed: list[Span], spans: list[Span], width: int, style: Style) -> Strip:
        left = Strip(self._segments(fixed, style))
        right = Strip(self._segments(self._coloured(spans) if self.sought else spans, style))
        room = max(0, width - left.cell_length)
        shift = round(self.scroll_x)
        return Strip.join([left, right.crop_extend(shift, shift + room, style)]).adjust_cell_length(width, style)

    def _segments(self, spans: list[Span], style: Style) -> list[Segment]:
        return [Segment(span.text, style + style_of(span.role) if span.role else style) for span in spans]

    def _coloured(self, spans: list[Span]) -> list[Span]:
        """`spans` with the searched text in a role of its own."""
        text = "".join(span.text for span in spans)
        folded = text.casefold()
        if self.sought not in folded or len(folded) != len(text):
            return spans
        places: list[tuple[int, int]] = []
        at = folded.find(self.sought)
        while at >= 0:
            places.append((at, at + len(self.sought)))
            at = folded.find(self.sought, at + len(self.sought))
        shown: list[Span] = []
        start = 0
        for span in spans:
            end, cursor = start + len(span.text), start
            for first, last in places:
                if last <= start or first >= end:
                    continue
                shown.append(Span(text[cursor : max(first, cursor)], span.role))
                shown.append(Span(text[max(first, cursor) : min(last, end)], "found"))
                cursor = min(last, end)
            shown.append(Span(text[cursor:end], span.role))
            start = end
        return [span for span in shown if span.text]
