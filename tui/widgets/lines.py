"""A list of any length that draws only the visible rows."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspect_compile.graph.provenance.chain import Selection
from inspect_compile.tables.columns import Span
from inspect_compile.tables.layout import fitted
from inspect_compile.tables.text import number_of, one_line
from inspect_compile.tui.keys.actions import bindings
from inspect_compile.tui.models.arranged import AS_IT_COMES, Arranged, Arrangement, arranged
from inspect_compile.tui.models.chain import is_marked
from inspect_compile.tui.models.code import NOTHING
from inspect_compile.tui.models.places import RowIndex
from inspect_compile.tui.models.sheet import Sheet, Subject, Table
from inspect_compile.tui.palette import looks_of
from inspect_compile.tui.work import start as begin_work

MARK: Final = "▌"
LINK: Final = "│"
"""Before a row that belongs to the row under the cursor of the list beside."""

MOST_STRIPS: Final = 2_000
"""Maximum number of drawn rows that are kept."""


class Lines(ScrollView, can_focus=True):
    """The rows of a Sheet with a cursor, and marks on those that belong to the selection."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")

    cursor: reactive[int] = reactive(0, repaint=False)
    """Index of the row under the cursor."""

    takes_keys = False
    """True if there is a program that reads keys."""

    class Moved(Message):
        """The user moved the cursor to another row."""

        def __init__(self, lines: "Lines", *, is_step: bool = False) -> None:
            super().__init__()
            self.lines = lines
            self.is_step = is_step
            """True for a row or a screen up or down, False for a jump."""

        @property
        def control(self) -> "Lines":
            """The list that it happened in."""
            return self.lines

    class Entered(Moved):
        """The user wants to follow the row under the cursor."""

    class Rearranged(Moved):
        """Other rows or columns are shown of the same sheet, or there is room for others."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's name for it
        super().__init__(id=id)
        self.sheet: Sheet = NOTHING
        """What is drawn: `whole` as it is arranged."""
        self.whole: Sheet = NOTHING
        self.arrangement = AS_IT_COMES
        self._rows: Sequence[int] = ()
        """For each row that is drawn its index in `whole`."""
        self.empty = ""
        """The text shown if there are no rows."""
        self.sought = ""
        """The searched text, in lower case; every match is coloured."""
        self._places: RowIndex | None = None
        self._selection = Selection()
        self._marked: dict[int, bool] = {}
        self._linked: frozenset[int] = frozenset()
        self._is_colouring = False
        self._base = Style()
        self._looks = looks_of("")
        self._strips: dict[tuple[object, ...], Strip] = {}
        """What was drawn of rows, by everything that their look depends on but the sheet and its colours."""

    # Contents

    def show(self, sheet: Sheet, ready: Arranged | None = None) -> None:
        """Show `sheet` as it is arranged; cursor and scroll position stay on the same rows if it has them. A list that
        is not scrolled stays at its top as long as that shows the cursor.

        `ready` is what `arranged` made of it on another thread, if that was done for a long sheet.
        """
        self._linked = frozenset()
        self._draw_rows(sheet, ready or arranged(sheet, self.arrangement))

    def _draw_rows(self, whole: Sheet, shown: Arranged) -> None:
        held = self.sheet.key(self.cursor) if 0 <= self.cursor < len(self.sheet) else ""
        offset = self.cursor - round(self.scroll_y)
        self.whole = whole
        sheet, self._rows, self._places = shown
        self.sheet = sheet
        self._marked.clear()
        self._strips.clear()
        self._extend(Size(self._full_width(), max(len(sheet), 1) + self.above))
        found = self.find_key(held) if held else None
        with self.prevent(self.Moved):
            self.cursor = found if found is not None else min(self.cursor, max(0, len(sheet) - 1))
        if found is not None:
            is_at_top = not round(self.scroll_y) and found < self._height
            self.scroll_to(y=0 if is_at_top else max(0, found - offset), animate=False)
        self.refresh()

    def _extend(self, size: Size) -> None:
        """Scroll over so much. Assigned, it would make Textual lay out the whole screen, which costs more than all else
        that a key does; the widget's own size depends on it in a dialog only.
        """
        if not self.container_size or self.styles.auto_dimensions:
            self.virtual_size = size
            return
        self.set_reactive(Lines.virtual_size, size)
        self._scroll_update(size)

    def restart(self, sheet: Sheet, ready: Arranged | None = None) -> None:
        """Show something else, from its beginning and unfiltered."""
        if self.arrangement.text:
            self.arrangement, ready = self.arrangement._replace(text=""), None
        self.sheet = NOTHING
        self.cursor = 0
        self.scroll_to(0, 0, animate=False, force=True)
        self.show(sheet, ready)

    @property
    def above(self) -> int:
        """Number of lines above the first row: what is filtered by, the titles of the columns."""
        return bool(self.arrangement.text) + self.sheet.header

    @property
    def position(self) -> int:
        """Index of the cursor's row in the whole sheet."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else -1

    def rearrange(self, arrangement: Arrangement) -> None:
        """Filter, sort, hide or show: done on another thread, as it looks at every row."""
        self.arrangement = arrangement
        begin_work(self, self._rearrange, group="arrange", latest=True)

    async def _rearrange(self) -> None:
        whole, arrangement = self.whole, self.arrangement
        found = await asyncio.to_thread(lambda: arranged(whole, arrangement).with_places())
        if whole is self.whole and arrangement == self.arrangement:
            self._draw_rows(whole, found)
            self.reveal()
            self.post_message(self.Rearranged(self))

    def missing_columns(self) -> list[str]:
        """Titles of the columns for which there is no room."""
        return self.sheet.missing_columns(self.scrollable_content_region.width - 2)

    @property
    def columns(self) -> tuple[str, ...]:
        """Titles of the columns that can be sorted by and hidden."""
        table = self.whole
        if not isinstance(table, Table) or not table.header:
            return ()
        return tuple(column.title for column in table.columns if column.title)

    def begin(self, index: int) -> None:
        """Put the cursor on a row without selecting it."""
        self.cursor = index
        self.call_after_refresh(self.reveal, True)

    def mark(self, selection: Selection, *, follow: bool) -> None:
        """Mark the rows that belong to `selection`; with `follow` the cursor goes to the first, unless it is on one."""
        self._selection = selection
        before, self._marked = self._marked, {}
        if follow and not self.is_marked(self.cursor):
            if self._places is None:
                self._places = RowIndex(self.sheet)
            first = self._places.first(selection)
            if first is not None:
                self.begin(first)
        top = round(self.scroll_y)
        for index in range(top, min(top + self._height, len(self.sheet))):
            if before.get(index) != self.is_marked(index):
                self._refresh_row(index)

    def link(self, rows: Iterable[int]) -> None:
        """Highlight the rows of the whole sheet that belong to the row under the cursor of a list beside this one; go
        to the first.
        """
        self._linked = frozenset(rows)
        if self._linked and self.position not in self._linked:
            first = next((place for place, row in enumerate(self._rows) if row in self._linked), None)
            if first is not None:
                self.begin(first)
        self.refresh()

    @property
    def linked(self) -> frozenset[int]:
        """The highlighted rows, as rows of the whole sheet."""
        return self._linked

    def _is_linked(self, index: int) -> bool:
        return bool(self._linked) and self._rows[index] in self._linked

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
        self._go(self.cursor + rows, is_step=True)

    def action_page(self, pages: int) -> None:
        """A screen up or down."""
        self._go(self.cursor + pages * max(1, self._height - 1), is_step=True)

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
        else:
            self.notify("no other row of this list is marked")

    def action_enter(self) -> None:
        """Follow this row."""
        self.post_message(self.Entered(self))

    def on_click(self, event: events.Click) -> None:
        """Select the row under the mouse; a second click follows it. A click on a title sorts by its column."""
        index = event.y + round(self.scroll_y) - self.above
        if self.sheet.header and event.y == self.above - 1 and isinstance(self.sheet, Table):
            self.sort(self.sheet.column_at(event.x - 1, self.scrollable_content_region.width - 2))
        elif event.y >= self.above and 0 <= index < len(self.sheet):
            self._go(index)
            if event.chain == 2:
                self.action_enter()

    def sort(self, column: str) -> None:
        """Sort by a column, see `Arrangement.sorted_by`; the empty title is none."""
        if column:
            self.rearrange(self.arrangement.sorted_by(column))

    def _go(self, index: int, *, centre: bool = False, is_step: bool = False) -> None:
        index = min(max(0, index), len(self.sheet) - 1)
        if index < 0:
            return
        self.cursor = index
        self.reveal(centre)
        self.post_message(self.Moved(self, is_step=is_step))

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
        return max(1, self.scrollable_content_region.height - self.above)

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw the two rows that change."""
        for index in (old, new):
            self._refresh_row(index)

    def _refresh_row(self, index: int) -> None:
        self.refresh(Region(0, index - round(self.scroll_y) + self.above, self.size.width, 1))

    # Drawing

    def _full_width(self) -> int:
        if not self.sheet.width:
            return 0
        return self.sheet.width + 2 + sum(cell_len(span.text) for span in self.sheet.fixed(0))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Room for all rows, or for what is said in their place."""
        if len(self.sheet):
            return super().get_content_height(container, viewport, width)
        return self.above + len(self._words_without_rows(width))

    def _words_without_rows(self, width: int) -> list[str]:
        return wrap("no row matches" if self.arrangement.text else self.empty, max(1, width - 2)) or [""]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in `crop`."""
        self._base = self.rich_style  # collected from all enclosing widgets, so not once per line
        self._looks = looks_of(self.app.theme)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.scrollable_content_region.width
        if self.arrangement.text and y == 0:
            return self._strip([Span(" "), *fitted(self._filter_words(), width - 2)], [], width, self._base)
        if self.sheet.header and y == self.above - 1:
            return self._strip([Span(" "), *self.sheet.titles(width - 2)], [], width, self._base)
        index = y + round(self.scroll_y) - self.above
        if not len(self.sheet) and index >= 0:
            words = self._words_without_rows(width)
            if index < len(words):
                return self._strip([Span(f" {words[index]}", "dim")], [], width, self._base)
        if not 0 <= index < len(self.sheet):
            return Strip.blank(width, self._base)
        marked, linked = self.is_marked(index), self._is_linked(index)
        cursor = ""
        if index == self.cursor and (self.has_focus or not linked):
            cursor = "row-cursor" if self.has_focus else "row-cursor-blurred"
        look = (index, marked, linked, cursor, width, round(self.scroll_x), self._looks.name, self.sought, self._base)
        found = self._strips.get(look)
        if found is None:
            if len(self._strips) > MOST_STRIPS:
                self._strips.clear()
            found = self._strips[look] = self._row_strip(index, width, cursor)
        return found

    def _row_strip(self, index: int, width: int, cursor: str) -> Strip:
        marked = self.is_marked(index)
        style = self._base
        if marked:
            style += self._looks.style("row-marked")
        if self._is_linked(index):
            style += self._looks.style("row-linked")
        if cursor:
            style += self._looks.style(cursor)
        fixed, spans = self._spans(index, width, mark=Span(self._mark(index), "mark"))
        if self.sheet.wants_colour and not self._is_colouring:
            self._is_colouring = True
            self.call_after_refresh(self._begin_to_colour)
        return self._strip(fixed, spans, width, style)

    def _mark(self, index: int) -> str:
        return MARK if self.is_marked(index) else LINK if self._is_linked(index) else " "

    def _spans(self, index: int, width: int, mark: Span) -> tuple[list[Span], list[Span]]:
        """What does not scroll sideways, and the row. One that fails says so: rows are put into words only here."""
        try:
            fixed = [mark, *self.sheet.fixed(index)]
            used = sum(cell_len(span.text) for span in fixed)
            return fixed, self.sheet.spans(index, width - used - 1)
        except Exception as error:
            words = one_line(f"✗ This row cannot be shown: {type(error).__name__}: {error}")
            return [mark], fitted([Span(words, "bad")], width - 2)

    def _begin_to_colour(self) -> None:
        self._is_colouring = False
        begin_work(self, self._colour, group="colour")

    async def _colour(self) -> None:
        sheet = self.sheet
        await asyncio.to_thread(sheet.colour)
        if self.sheet is sheet:
            self._strips.clear()
            self.refresh()

    def _filter_words(self) -> list[Span]:
        shown, whole = len(self.sheet), len(self.whole)
        return [
            Span("filter ", "key"),
            Span(self.arrangement.text, "found"),
            Span(f"  {shown:,} of {number_of(whole, 'row')}  esc shows all", "dim"),
        ]

    def _strip(self, fixed: list[Span], spans: list[Span], width: int, style: Style) -> Strip:
        left = Strip(self._segments(fixed, style))
        right = Strip(self._segments(self._coloured(spans) if self.sought else spans, style))
        room = max(0, width - left.cell_length)
        shift = round(self.scroll_x)
        return Strip.join([left, right.crop_extend(shift, shift + room, style)]).adjust_cell_length(width, style)

    def _segments(self, spans: list[Span], style: Style) -> list[Segment]:
        of = self._looks.style
        return [Segment(span.text, style + of(span.role) if span.role else style) for span in spans]

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
