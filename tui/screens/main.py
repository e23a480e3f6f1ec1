"""The main screen: the tree, the views, and the line with the selection."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from inspect_compile.analysis.kernels.launches import distinct
from inspect_compile.analysis.provenance.chain import Selection
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError, DumpError
from inspect_compile.tables.columns import Span
from inspect_compile.tables.dump_text import advised
from inspect_compile.tui import layout
from inspect_compile.tui.models import bars
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.command import command
from inspect_compile.tui.models.outline import Outline, Place
from inspect_compile.tui.models.sheet import Jump, Subject
from inspect_compile.tui.models.state import Page, graph_state
from inspect_compile.tui.reader import Reader, follow
from inspect_compile.tui.views import VIEWS
from inspect_compile.tui.views.view import Part, Scope, View, made
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.misses import Miss
    from inspect_compile.tui.views.program import Program
    from inspect_compile.tui.widgets.search import SearchBar

ORDER: Final = ("page", *layout.VIEWS)
"""What can be shown at the right, in order."""

ENOUGH_LOOKS: Final = 2
"""Number of reads of a graph after its compile has ended: its tables are not all written at the same moment."""


class MainScreen(Screen[None]):
    """A dump, finished or growing, and the program that writes it, if it runs beside the app."""

    AUTO_FOCUS = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(view.key, f"view('{view.name}')", view.title, show=False) for view in VIEWS),
        Binding("slash", "search", "Search", show=False),
        Binding("n", "search_again(1)", "Next", show=False),
        Binding("N", "search_again(-1)", "Previous", show=False),
        Binding("i", "lowering", "Lowering", show=False),
        Binding("s", "mode", "Mode", show=False),
        Binding("r", "focus_tree", "To the tree", show=False),
        Binding("t", "tree", "Tree", show=False),
        Binding("y", "copy", "Copy", show=False),
        Binding("escape", "forget", "Clear the selection", show=False),
    ]

    def __init__(self, dump: Dump, program: "Program | None") -> None:
        super().__init__()
        self._root = dump.root
        self._reader = Reader(dump)
        self._program = program
        self._outline: Outline | None = None
        self._place = Place("run")
        self._scope: Scope | None = None
        self._choice: Choice | None = None
        self._misses: list[tuple[Miss, Subject]] = []
        self._sought = ""
        self._parts: dict[str, Widget] = {}
        """The views that have been shown, and the page."""
        self._latest: tuple[str, ...] = ("source",)
        self._moved_in_tree = False
        self._looks_after_end = 0

    # Layout

    def compose(self) -> ComposeResult:
        """Everything but the views, which are created when they are first shown."""
        yield Bar(id="top")
        yield Bar(id="tabs")
        with Horizontal(id="body"):
            tree = Lines(id="tree")
            tree.styles.width = layout.tree_width(self.app.size.width)
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
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        from inspect_compile.tui.widgets.search import SearchBar

        self.mount(SearchBar(), before="#keys")
        start(self, self._read, group="read")

    def on_unmount(self) -> None:
        """Close the reader."""
        self._reader.close()

    def on_resize(self) -> None:
        """Another width may have room for more views, or fewer."""
        self.query_one("#tree").styles.width = layout.tree_width(self.size.width)
        if self._outline is not None:
            self._arrange()

    @property
    def active(self) -> str:
        """The name of the view that has the focus."""
        return self._latest[0]

    def _arrange(self) -> None:
        """Show the views that fit a screen of this width."""
        seen = self._seen()
        place = self.query_one("#views")
        for name in seen:
            if name not in self._parts:
                self._parts[name] = self._made(name)
                after = [self._parts[other] for other in ORDER[ORDER.index(name) + 1 :] if other in self._parts]
                place.mount(self._parts[name], before=after[0] if after else None)
        for name, part in self._parts.items():
            part.display = name in seen
            part.set_class(name == self.active, "-active")
            if isinstance(part, View):
                part.load()
        self.query_one("#tabs", Bar).say(*bars.tabs(VIEWS, self.active, seen, self.size.width))
        view = self._view(self.active)
        self.query_one("#keys", Bar).say(*bars.keys(view is not None and bool(view.modes)))

    def _made(self, name: str) -> Widget:
        if name == "page":
            from inspect_compile.tui.widgets.page import PageView

            return PageView(id="page")
        tab = next(view for view in VIEWS if view.name == name)
        if name == "program":
            return made(tab, self._program, self._root)
        view = made(tab, self._reader)
        if isinstance(view, View):
            view.scope, view.choice = self._scope, self._choice
        return view

    def _view(self, name: str) -> View | None:
        """A view of the graph; None for one that was not shown yet, and for the program."""
        view = self._parts.get(name)
        return view if isinstance(view, View) else None

    def _views(self) -> list[View]:
        return [part for part in self._parts.values() if isinstance(part, View)]

    def _seen(self) -> tuple[str, ...]:
        width = self.size.width
        if self._place.kind == "graph":
            view = self._view(self.active)
            if view is not None and view.is_wide:
                return (self.active,)
            return layout.shown(width, self.active, self._latest)
        is_roomy = width >= layout.MEDIUM and self._program is not None
        if is_roomy:
            return ("page", "program")
        return ("program",) if self.active == "program" else ("page",)

    # Reading

    async def _read(self) -> None:
        with self._guarded():
            await follow(self._reader, lambda: self._is_running, self._take)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A dump can contain anything: an error while reading is shown, and the app goes on."""
        try:
            yield
        except CommandError as error:
            words = advised(error) if isinstance(error, DumpError) else str(error)
            self._show_failure(Page([[Span(f"✗ {words}", "bad")]]))
        except Exception as error:
            self._show_failure(Page([[Span(f"✗ This cannot be shown: {type(error).__name__}: {error}", "bad")]]))

    @property
    def _is_running(self) -> bool:
        return self._program is not None and self._program.status() is None

    async def _take(self, found: Outline, has_grown: bool) -> None:
        """Show the tree, and what has changed in the place that is open."""
        self._outline = found
        tree = self.query_one("#tree", Lines)
        tree.show(found.table)
        if self._place.kind == "run" and found.first_graph is not None and not self._moved_in_tree:
            tree.begin(tree.find_key(found.first_graph) or 0)
            self._moved_in_tree = True
            await self._open(found.places[found.first_graph])
        elif self._place.kind != "graph" or (has_grown and self._looks_after_end < ENOUGH_LOOKS):
            await self._open(self._place)
        self._say()

    async def _open(self, place: Place) -> None:
        """Show what a row of the tree stands for."""
        with self._guarded():
            await (self._open_graph(place) if place.kind == "graph" else self._open_page(place))

    async def _open_graph(self, place: Place) -> None:
        is_other = place.name != self._place.name
        self._place = place
        found, chain = await self._reader.read(lambda dump: (graph_state(dump, place.name), Chain(dump, place.name)))
        if self._place.name != place.name:  # another one was opened meanwhile
            return
        self._looks_after_end = (0 if is_other else self._looks_after_end) + found.has_ended
        self._show_failure(found.failure)
        self._scope = Scope(chain, self._scope.version + 1 if self._scope is not None else 0)
        self._choice = self._rechosen(chain, is_other)
        self._misses = [] if is_other else self._misses
        self._arrange()
        for view in self._views():
            view.choice = self._choice
            view.update(self._scope)
        if self.focused is None:
            self._focus_active()
        self._say()
        from inspect_compile.tui.models.fusion import misses  # the views exist before it is needed

        self._misses = await self._reader.read(lambda dump: misses(dump, chain))
        self._say()

    async def _open_page(self, place: Place) -> None:
        from inspect_compile.tui.models import overview
        from inspect_compile.tui.widgets.page import PageView

        self._place, self._scope = place, None
        has_program = self._program is not None

        def built(dump: Dump) -> Page:
            if place.kind == "part":
                return overview.part_page(place.name)
            if place.kind == "frame":
                return overview.frame_page(dump, place.name)
            return overview.run_page(dump, has_program=has_program)

        page = await self._reader.read(built)
        self._show_failure(None)
        self._arrange()
        part = self._parts.get("page")
        if isinstance(part, PageView):
            part.show(page)
        if self.focused is None:
            self.action_focus_tree()
        self._say()

    def _show_failure(self, page: Page | None) -> None:
        banner = self.query_one("#failure", Static)
        banner.display = page is not None
        if page is not None:
            from inspect_compile.tui.widgets.page import content_of

            banner.update(content_of(page))

    def _rechosen(self, chain: Chain, is_other: bool) -> Choice | None:
        """The selection in a graph that has grown; in another graph only a source line keeps its meaning."""
        if self._choice is None or (is_other and self._choice.subject.level != "line"):
            return None
        return chain.choose(self._choice.subject, self._choice.view if not is_other else "")

    # The selection

    def on_view_chosen(self, event: View.Chosen) -> None:
        """Mark at every level what the user selected in one view."""
        event.stop()
        self._choose(event.subject, event.view.tab.name)

    def on_view_followed(self, event: View.Followed) -> None:
        """Select it, and go to the next level."""
        event.stop()
        self._choose(event.subject, event.view.tab.name)
        self.action_view(event.view.FOLLOW)

    def on_view_jumped(self, event: View.Jumped) -> None:
        """Show a node of another FX graph, possibly of another Inductor graph."""
        event.stop()
        start(self, partial(self._jump, event.jump), group="open", latest=True)

    async def _jump(self, jump: Jump) -> None:
        from inspect_compile.tui.views.fx import FxView

        places = self._outline.places if self._outline is not None else {}
        if jump.graph and jump.graph != self._place.name:
            key = next((key for key, one in places.items() if one.kind == "graph" and one.name == jump.graph), None)
            if key is None:
                return
            tree = self.query_one("#tree", Lines)
            tree.begin(tree.find_key(key) or 0)
            await self._open(places[key])
        self.action_view("fx")
        view = self._view("fx")
        if isinstance(view, FxView):
            view.go_to(jump.mode, jump.key)

    def action_lowering(self) -> None:
        """Show how the node under the cursor was lowered, in whichever view it is."""
        view = self._view(self.active)
        if view is not None and view.is_ready and view.rows.subject is not None:
            self._choose(view.rows.subject, view.tab.name)
        self.action_view("ir")

    def _choose(self, subject: Subject | None, view: str) -> None:
        scope = self._scope
        self._choice = scope.chain.choose(subject, view) if scope is not None and subject is not None else None
        for found in self._views():
            found.mark(self._choice)
        self._say()

    def action_forget(self) -> None:
        """Clear the selection and the search."""
        self._sought = ""
        for lines in self.query(Lines):
            lines.search("", 1)
        self._choose(None, self.active)

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Open the tree's row under the cursor; views handle their own moves."""
        self._moved_in_tree = True
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

    # Keys and clicks

    def action_view(self, name: str) -> None:
        """Show a view and focus it."""
        self._latest = (name, *(view for view in self._latest if view != name))
        if self._place.kind != "graph" and name != "program" and self._outline is not None:
            key = self._outline.first_graph
            if key is not None:
                tree = self.query_one("#tree", Lines)
                tree.cursor = tree.find_key(key) or 0
                start(self, partial(self._open, self._outline.places[key]), group="open", latest=True)
        self._arrange()
        self._focus_active()
        self._say()

    def _focus_active(self) -> None:
        part = self._parts.get(self.active)
        if isinstance(part, Part):
            part.focus_rows()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The focused view is the active one."""
        for widget in event.widget.ancestors_with_self:
            name = widget.id or ""
            if self._parts.get(name) is widget and name in layout.VIEWS and name != self.active:
                self._latest = (name, *(view for view in self._latest if view != name))
                self._arrange()
                self._say()

    def action_mode(self) -> None:
        """Show the next of the active view's modes."""
        view = self._view(self.active)
        if view is not None and view.modes:
            position = view.modes.index(view.mode) if view.mode in view.modes else 0
            view.choose_mode(view.modes[(position + 1) % len(view.modes)])

    def on_view_mode_chosen(self, event: View.ModeChosen) -> None:
        """Arrange again: the mode may need another width."""
        event.stop()
        self._arrange()
        self._say()

    def action_focus_tree(self) -> None:
        """Focus the tree."""
        tree = self.query_one("#tree")
        tree.display = True
        tree.focus()

    def action_tree(self) -> None:
        """Hide the tree, or show it."""
        tree = self.query_one("#tree")
        if tree.display and tree.has_focus:
            self.action_view(self.active)
        tree.display = not tree.display

    def action_copy(self) -> None:
        """Copy the command that shows the same."""
        self.app.copy_to_clipboard(self.command)
        self.notify(self.command, title="Copied", markup=False)

    def on_bar_picked(self, event: Bar.Picked) -> None:
        """Clicking a piece of text does the same as its key."""
        event.stop()
        if event.bar.id == "tabs":
            self.action_view(event.value)
        else:
            self.app.simulate_key(event.value)

    # Searching

    def _searched(self) -> Lines | None:
        if isinstance(self.focused, Lines):
            return self.focused
        part = self._parts.get(self.active)
        return part.rows if isinstance(part, Part) and part.is_ready else None

    def action_search(self) -> None:
        """Ask what to search for."""
        lines = self._searched()
        for bar in self.query("SearchBar").results():
            if lines is not None:
                self.query_one("#keys").display = False
                cast("SearchBar", bar).open(lines)

    def on_search_bar_closed(self, event: "SearchBar.Closed") -> None:
        """Keep the search for the next match."""
        event.stop()
        self._sought = event.text
        self.query_one("#keys").display = True

    def action_search_again(self, step: int) -> None:
        """Go to the next match, or the previous one."""
        lines = self._searched()
        if lines is not None and self._sought and not lines.search(self._sought, step):
            self.notify(f"{self._sought}: not in this view", markup=False)

    # Texts of the bars

    @property
    def command(self) -> str:
        """The shell command that shows what is on the screen."""
        view, choice = self._view(self.active), self._choice
        if view is not None and view.is_wide and view.is_ready and view.rows.subject is not None:
            choice = Choice(view.rows.subject, Selection(), self.active)  # it is the only one on the screen
        return command(dump_name(self._root), self._place, self.active, view.mode if view is not None else "", choice)

    def _say(self) -> None:
        scope = self._scope
        status = self._program.status() if self._program is not None else None
        self.query_one("#top", Bar).say(
            *bars.top(
                self._outline,
                self._place,
                len(distinct(scope.chain.kernels)) if scope is not None else None,
                len(self._misses) if scope is not None else 0,
                status,
                self._is_running or (self._outline is not None and self._outline.is_growing),
            )
        )
        self.query_one("#context", Bar).say(*bars.context(self._choice, self._misses))
        self.query_one("#command", Bar).say(*bars.shell(self.command))


def dump_name(root: Path) -> str:
    """The path of a dump as the user would type it here."""
    try:
        return str(root.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(root)
