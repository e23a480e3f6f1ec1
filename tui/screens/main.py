"""The main screen: the tree, the views, and the line with the selection."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.dom import DOMNode
from textual.widgets import Static

from inspect_compile.dump import Dump
from inspect_compile.graph.kernels.launches import distinct
from inspect_compile.graph.provenance.chain import Selection
from inspect_compile.tui.keys.actions import Action, binding, bindings, of_views
from inspect_compile.tui.models import bars
from inspect_compile.tui.models.chain import Choice
from inspect_compile.tui.models.command import command
from inspect_compile.tui.screens.elsewhere import ElsewhereScreen
from inspect_compile.tui.screens.selecting import SelectingScreen
from inspect_compile.tui.screens.shown import MEDIUM, OVERVIEW, tree_width
from inspect_compile.tui.views import VIEWS
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start


class MainScreen(SelectingScreen, ElsewhereScreen):
    """A dump, finished or growing, and the program that writes it, if it runs beside the app."""

    AUTO_FOCUS = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(binding(action) for action in of_views(VIEWS)[1]),
        *bindings("screen"),
    ]

    # Layout

    def compose(self) -> ComposeResult:
        """Everything but the views, which are created when they are first shown."""
        yield Bar(id="top")
        yield Bar(id="tabs")
        with Horizontal(id="body"):
            tree = Lines(id="tree")
            tree.styles.width = tree_width(self.app.size.width)
            yield tree
            with Vertical(id="right"):
                yield Static(id="failure")
                yield Horizontal(id="views")
        yield Bar(id="context")
        yield Bar(id="command")
        yield Bar(id="keys")

    def on_mount(self) -> None:
        """Draw, and only then begin to read."""
        self._say()
        self.query_one("#tabs", Bar).say(*bars.tabs(VIEWS, self.active, (), self.size.width))
        self.query_one("#tree").display = self.size.width >= MEDIUM
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        from inspect_compile.tui.widgets.search import SearchBar

        self.mount(SearchBar(), before="#keys")
        start(self, self._read, group="read")

    # The tree

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Open the tree's row under the cursor; views handle their own moves."""
        place = self._outline.places.get(event.lines.key) if self._outline is not None else None
        if place is not None:
            start(self, partial(self._open, place), group="open", latest=True)

    def on_lines_entered(self, event: Lines.Entered) -> None:
        """Go from the tree into the view, or to another process of the run."""
        place = self._outline.places.get(event.lines.key) if self._outline is not None else None
        if event.lines.id == "tree" and place is not None and place.kind == "part":
            self._go_to(Path(place.name))
        elif self._place.kind == "graph":
            self.action_view(self.active)

    def _go_to(self, root: Path) -> None:
        """Open another process's part of the run, on a screen above that of the current dump."""
        screen = MainScreen(Dump(root), self._program)
        if len(self.app.screen_stack) > 1:
            self.app.switch_screen(screen)
        else:
            self.app.push_screen(screen)

    def action_tree(self) -> None:
        """Hide the tree, or show it."""
        tree = self.query_one("#tree")
        if tree.display and tree.has_focus:
            self.action_view(self.active)
        tree.display = not tree.display

    # Other screens

    def action_beside(self) -> None:
        """Show the ranks of the run, or a replay and the first compile, beside each other."""
        start(self, self._beside, group="open", latest=True)

    async def _beside(self) -> None:
        from inspect_compile.tui.models.compare import sides_of
        from inspect_compile.tui.screens.compare import CompareScreen

        part = Path(self._place.name) if self._place.kind == "part" else None
        with self._guarded():
            found = await self._reader.read(lambda dump: sides_of(dump, part))
            if found is None:
                self.notify(
                    "This dump has one compile; to compare two dumps: inspect-compile open OLD NEW", markup=False
                )
            else:
                self.app.push_screen(CompareScreen(*found))

    # Keys and clicks

    async def run_named(self, action: Action) -> None:
        """Do what a key does, for the list that has the focus."""
        part = self._parts.get(self.active)
        owners: dict[str, DOMNode | None] = {"app": self.app, "screen": self, "kernels": part, "overview": part}
        owner = owners.get(action.owner, self.focused_lines())
        if owner is not None:
            await self.app.run_action(action.does, owner)

    def on_bar_picked(self, event: Bar.Picked) -> None:
        """Clicking a piece of text does the same as its key."""
        event.stop()
        if event.bar.id == "tabs":
            self.action_view(event.value)
        else:
            self.app.simulate_key(event.value)

    # Texts of the bars

    @property
    def command(self) -> str:
        """The shell command that shows what is on the screen."""
        view, choice = self._view(self.active), self._choice
        if view is not None and view.is_wide and view.is_ready and view.rows.subject is not None:
            choice = Choice(view.rows.subject, Selection(), self.active)  # it is the only one on the screen
        return command(self._called, self._place, self.active, view.mode if view is not None else "", choice)

    def _say(self) -> None:
        scope = self._scope
        status = self._program.status() if self._program is not None else None
        self.query_one("#top", Bar).say(
            *bars.top(
                self._outline,
                self._place,
                len(distinct(scope.chain.kernels)) if scope is not None else None,
                self._findings if scope is not None else 0,
                status,
                self.is_live,
                self._stage_words,
            )
        )
        self.query_one("#context", Bar).say(
            *bars.context(self._choice, self._misses, self.size.width, is_overview=self.active == OVERVIEW)
        )
        self.query_one("#command", Bar).say(*bars.shell(self.command))
