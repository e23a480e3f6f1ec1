"""Searching, filtering and sorting the list that has the focus."""

from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from inspect_compile.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from inspect_compile.tui.widgets.search import SearchBar


class ListsScreen(Screen[None]):
    """Keys that ask something about one list."""

    def __init__(self) -> None:
        super().__init__()
        self._sought = ""

    def focused_lines(self) -> Lines | None:
        """The list that keys are for."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action can be done now: the focused list has the last word on what the program may be asking."""
        if action == "ask":
            return isinstance(self.focused, Lines) and not self.focused.takes_keys
        return super().check_action(action, parameters)

    async def action_ask(self, what: str) -> None:
        """Ask for text. What is typed meanwhile waits, and goes there."""
        await self.run_action(what)

    def action_search(self) -> None:
        """Ask what to search for."""
        self._open_bar(filters=False)

    def action_filter(self) -> None:
        """Ask what to filter by."""
        self._open_bar(filters=True)

    def _open_bar(self, *, filters: bool) -> None:
        lines = self.focused_lines()
        for bar in self.query("SearchBar").results():
            if lines is not None:
                self.query_one("#keys").display = False
                cast("SearchBar", bar).open(lines, filters=filters)

    def action_columns(self) -> None:
        """Ask which column to sort by, and which to hide."""
        lines = self.focused_lines()
        if lines is None or not lines.columns:
            self.notify("this list has no columns", severity="warning")
            return
        from inspect_compile.tui.screens.columns import ColumnsScreen

        self.app.push_screen(ColumnsScreen(lines))

    def action_turn_order(self) -> None:
        """Sort the other way round."""
        lines = self.focused_lines()
        if lines is None or not lines.arrangement.column:
            self.notify("no column is sorted: press o to choose one", severity="warning")
            return
        lines.rearrange(lines.arrangement._replace(is_descending=not lines.arrangement.is_descending))

    def on_search_bar_closed(self, event: "SearchBar.Closed") -> None:
        """Keep the search for the next match."""
        event.stop()
        if not event.filters:
            self._sought = event.text
        self.query_one("#keys").display = True

    def action_search_again(self, step: int) -> None:
        """Go to the next match, or the previous one."""
        lines = self.focused_lines()
        if not self._sought:
            self.notify("nothing to search for yet: press /")
        elif lines is not None and not lines.search(self._sought, step):
            self.notify(f"{self._sought}: not in this view", markup=False)
