"""The run at a glance: the page where the app opens."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message

from inspect_compile.tui.keys.actions import bindings
from inspect_compile.tui.models.bars import Tab
from inspect_compile.tui.models.run.overview import WHOLE, Lead, OverviewPage, OverviewSheet
from inspect_compile.tui.views.view import TabView
from inspect_compile.tui.widgets.lines import Lines


class OverviewView(TabView):
    """The sections of the overview; Enter leads to what a row is about."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("overview")

    class Led(Message):
        """The user wants to go where a row leads to."""

        def __init__(self, lead: Lead) -> None:
            super().__init__()
            self.lead = lead

    def __init__(self, tab: Tab) -> None:
        super().__init__(tab)
        self._page: OverviewPage | None = None
        self._drawn: tuple[OverviewPage | None, Size] = (None, Size())

    def compose(self) -> ComposeResult:
        """One list."""
        yield Lines(id=f"{self.tab.name}-rows")

    def on_mount(self) -> None:
        """Show what came before the list was there."""
        super().on_mount()
        self.load()
        # On a busy machine the view may get its size at a moment when it can't be drawn yet, and no event follows.
        self.call_after_refresh(self.load)

    @property
    def page(self) -> OverviewPage | None:
        """What is shown."""
        return self._page

    def show(self, page: OverviewPage) -> None:
        """Show it."""
        self._page = page
        self.load()

    def on_resize(self) -> None:
        """Another height has room for more rows, or fewer."""
        self.load()

    def load(self) -> None:
        """Draw the page, if it is not drawn in this size."""
        drawn = (self._page, self.size)
        if self._page is not None and self.is_ready and self.display and self.size.height and drawn != self._drawn:
            self._drawn = drawn
            self.rows.show(self._page.sheet(self.size.width - 1, self.size.height))

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """A row of the overview is no selection of its own."""
        event.stop()

    def on_lines_entered(self, event: Lines.Entered) -> None:
        """Go where the row leads to."""
        event.stop()
        sheet = event.lines.sheet
        lead = sheet.lead(event.lines.cursor) if isinstance(sheet, OverviewSheet) else None
        if lead is not None:
            self.post_message(self.Led(lead))

    def action_breaks(self) -> None:
        """Show the frame with the most expensive graph break or recompile."""
        if self._page is not None and self._page.frame:
            self.post_message(self.Led(Lead(frame=self._page.frame)))
        else:
            self.notify("no graph break or recompile was recorded")

    def action_whole(self) -> None:
        """Go to what is known of the run as a whole, below the overview."""
        found = self.rows.find_key(WHOLE)
        if found is not None:
            self.rows.cursor = found
            self.rows.scroll_to(y=found, animate=False, force=True)
