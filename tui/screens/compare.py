"""Two or more compiles beside each other: two dumps, a graph and its replay, or the ranks of a run."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen

from inspect_compile.analysis.compare.side_by_side import Side
from inspect_compile.tables.styled_text import styled
from inspect_compile.tui.models import bars
from inspect_compile.tui.models.bars import Item
from inspect_compile.tui.models.code import NOTHING, Code
from inspect_compile.tui.models.compare import Comparison, comparison
from inspect_compile.tui.models.letters import UNFOLD
from inspect_compile.tui.reader import Reader
from inspect_compile.tui.screens.elsewhere import draw_for
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

_NARROWEST: Final = 36
"""Minimum width of a side."""


class CompareScreen(Screen[None]):
    """The rows of `diff` and `diff --kernels`; below, what each side has for the row under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,b", "dismiss", "Back", show=False),
        Binding(UNFOLD, "unfold", "Show or hide what comes before the first loop", show=False),
        Binding("y", "copy", "Copy", show=False),
        Binding("d", "draw", "Draw the ranks", show=False),
    ]

    def __init__(self, sides: Sequence[Side], command: str, drawing: Sequence[str] = ()) -> None:
        """See `models.compare.Beside`."""
        super().__init__()
        self.sides = [Side(side.name, side.dump.anew()) for side in sides]
        """With dumps of their own: the screen below reads its own on another thread."""
        self._command = command
        self._drawing = drawing
        self._reader = Reader(self.sides[0].dump)
        self._found: Comparison | None = None
        self._is_whole = False

    def compose(self) -> ComposeResult:
        """The rows, the story of a cause, and a list for each side."""
        yield Bar(id="compare-top")
        yield Lines(id="compare-rows").add_class("rows")
        yield Lines(id="compare-story").add_class("detail")
        with Horizontal(id="compare-sides"):
            for place in range(len(self.sides)):
                yield Lines(id=f"compare-side-{place}").add_class("detail")
        yield Bar(id="compare-command")
        yield Bar(id="compare-keys")

    def on_mount(self) -> None:
        """Begin to compare."""
        self._say("comparing …")
        self.query_one("#compare-command", Bar).say(*bars.shell(self._command))
        draws = [("d", "draw")] if self._drawing else []
        keys = (("esc", "back"), ("tab", "next list"), ("↑ ↓", "row"), *draws, ("y", "copy the command"), ("q", "quit"))
        items = [item for key, what in keys for item in (Item(f" {key}", "key"), Item(f" {what} ", "dim"))]
        self.query_one("#compare-keys", Bar).say(items)
        self._fit()
        self.rows.focus()
        start(self, self._compare, group="compare")

    def on_unmount(self) -> None:
        """Close the reader."""
        self._reader.close()

    def on_resize(self) -> None:
        """Show as many sides as fit."""
        self._fit()
        self._moved()

    @property
    def rows(self) -> Lines:
        """The list of graphs, kernels and differences."""
        return self.query_one("#compare-rows", Lines)

    @property
    def _places(self) -> int:
        """How many sides fit."""
        return min(len(self.sides), max(2, self.size.width // _NARROWEST))

    def _fit(self) -> None:
        for place, lines in enumerate(self.query("#compare-sides > Lines")):
            lines.display = place < self._places

    async def _compare(self) -> None:
        try:
            # One thread reads all of them: it alone touches the dumps.
            self._found = await self._reader.read(lambda _: comparison(self.sides))
        except Exception as error:  # a dump can contain anything
            self.rows.restart(Code([styled(f"This cannot be shown: {type(error).__name__}: {error}", "bad")]))
            self._say("")
            return
        self.rows.empty = "Nothing was compiled."
        self.rows.restart(self._found.table)
        self.rows.begin(self._found.first)
        self._say(self._found.summary)
        self._moved()

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Show what each side has for this row."""
        event.stop()
        if event.lines is self.rows:
            self._moved()

    def _moved(self) -> None:
        if self._found is not None:
            start(self, partial(self._show, self._found, self.rows.key), group="sides", latest=True)

    async def _show(self, found: Comparison, key: str) -> None:
        story = found.story(key, self.size.width - 4)
        self.set_class(bool(len(story)), "-cause")
        self.query_one("#compare-story", Lines).restart(story)
        width = self.size.width // self._places - 4
        try:
            texts = await self._reader.read(lambda _: found.beside(key, is_whole=self._is_whole, width=width))
        except Exception as error:  # a dump can contain anything
            words = f"This cannot be shown: {type(error).__name__}: {error}"
            texts = [Code([styled(words, "bad")]), *(NOTHING for _ in self.sides[1:])]
        for place, text in enumerate(texts):
            self.query_one(f"#compare-side-{place}", Lines).restart(text)

    def _say(self, summary: str) -> None:
        left = [Item(" inspect-compile  ", "dim")]
        for place, side in enumerate(self.sides):
            left += [Item(" | ", "dim")] * bool(place) + [Item(side.name, "name")]
        self.query_one("#compare-top", Bar).say(left, [Item(f"{summary} ", "accent")])

    def action_unfold(self) -> None:
        """Show what comes before the first loop of a source, or hide it."""
        self._is_whole = not self._is_whole
        self._moved()

    def action_draw(self) -> None:
        """Draw the ranks as SVG, in the dump's folder."""
        if self._drawing:
            self.notify("drawing …", markup=False)
            start(self, partial(draw_for, self, self._drawing), group="draw", latest=True)
        else:
            self.notify("Only the ranks of a run can be drawn", severity="warning", markup=False)

    def action_copy(self) -> None:
        """Copy the command that shows the same."""
        self.app.copy_to_clipboard(self._command)
        self.notify(self._command, title="Copied", markup=False)
