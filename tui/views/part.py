"""What stands at the right, and can have the keys."""

from textual.containers import Vertical

from inspect_compile.tui.views.listed import Listed
from inspect_compile.tui.widgets.lines import Lines


class Part(Vertical):
    """A view of the list in `views`, with a list `<name>-rows` that keys go to."""

    def __init__(self, listed: Listed) -> None:
        super().__init__(id=listed.name)
        self.listed = listed
        self.is_ready = False
        """Are its lists there?"""
        self._wants_keys = False

    def on_mount(self) -> None:
        """Its lists are there now."""
        self.is_ready = True
        if self._wants_keys:
            self.focus_rows()

    @property
    def rows(self) -> Lines:
        """The list that has the rows; there once the part is ready."""
        return self.query_one(f"#{self.listed.name}-rows", Lines)

    def focus_rows(self) -> None:
        """Take the keys, at once or as soon as that is possible."""
        self._wants_keys = not self.is_ready
        if self.is_ready:
            self.rows.focus()
