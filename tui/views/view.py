"""What all views share: they load on the reader's thread, when they are first shown, and keep their place."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.graph.provenance.chain import Selection
from inspect_compile.knowledge.origins import unknown_text
from inspect_compile.tables.layout import UNLIMITED
from inspect_compile.tables.styled_text import styled
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.arranged import Arranged, arranged
from inspect_compile.tui.models.bars import Item, Tab, title
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.code import NOTHING, Code
from inspect_compile.tui.models.sheet import Jump, Panel, Sheet, Shown, Subject
from inspect_compile.tui.models.state import still_compiling
from inspect_compile.tui.reader import Reader
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

_TABLES: Final = {
    "passes": "passes",
    "ir": "lowering",
    "fusion": "fusion",
    "cost": "flops",
    "memory": "memory",
    "numerics": "numerics",
}
"""View → the table of `show` that has the same rows, of those that not every dump has."""


def failed(error: Exception) -> Code:
    """Why something cannot be shown, in its place."""
    text = f"✗ This cannot be shown: {type(error).__name__}: {error}"
    return Code([styled(line, "bad") for line in text.splitlines()])


@dataclass(frozen=True)
class Scope:
    """What the views show: one graph, at one moment."""

    chain: Chain
    version: int
    """Increases whenever the dump has grown."""


class TabView(Vertical):
    """A view in the list of `views`, with a list `<name>-rows` that can be focused."""

    def __init__(self, tab: Tab) -> None:
        super().__init__(id=tab.name)
        self.tab = tab
        self.is_ready = False
        """Whether its lists exist."""
        self._wants_keys = False

    def on_mount(self) -> None:
        """Its lists exist now."""
        self.is_ready = True
        if self._wants_keys:
            self.focus_rows()

    @property
    def rows(self) -> Lines:
        """The list with the rows; exists once the part is ready."""
        return self.query_one(f"#{self.tab.name}-rows", Lines)

    def load(self) -> None:
        """Show what is new, if it is visible."""

    def focus_rows(self) -> None:
        """Focus the rows, at once or as soon as possible."""
        self._wants_keys = not self.is_ready
        if self.is_ready:
            self.rows.focus()


class View(TabView):
    """One view of a graph: a title, one or more lists, and what `build` makes from the dump."""

    PANEL: ClassVar[Panel] = Panel()
    """Of a view that has a class of its own."""

    class Chosen(Message):
        """The user selected a row."""

        def __init__(self, view: "View", subject: Subject | None, *, is_step: bool = False) -> None:
            super().__init__()
            self.view = view
            self.subject = subject
            self.is_step = is_step
            """True if the cursor only went on to another row."""

    class Followed(Chosen):
        """The user wants to follow a row."""

    class Jumped(Message):
        """The user wants to see a node of another graph."""

        def __init__(self, view: "View", jump: Jump) -> None:
            super().__init__()
            self.view = view
            self.jump = jump

    class Loaded(Message):
        """A view shows what was asked for."""

    class ModeChosen(Message):
        """The user selected another mode of a view."""

    def __init__(self, tab: Tab, reader: Reader, panel: Panel | None = None) -> None:
        super().__init__(tab)
        self.reader = reader
        self.panel = self.PANEL if panel is None else panel
        self.mode = self.panel.modes[0] if self.panel.modes else ""
        self.scope: Scope | None = None
        self.choice: Choice | None = None
        self._seen: tuple[Scope, str] | None = None
        self.shown: Shown[Any] | None = None
        self._detail = ""
        self._wanted = ""
        """Key of the row that the cursor will go to once it exists."""
        self._is_loading = False
        self._fitted = (Size(0, 0), 0)
        """The size that everything was last fitted to, and the width of the rows."""

    # For a view with a class of its own to define

    def parts(self) -> Iterable[Widget]:
        """The lists; the first one has the rows."""
        yield Lines(id=f"{self.tab.name}-rows").add_class(*self.panel.detail or ())
        if self.panel.detail is not None:
            yield Lines(id=f"{self.tab.name}-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Any]:
        """What it shows. Runs on the reader's thread."""
        assert self.panel.build is not None
        return self.panel.build(dump, chain, mode)

    def beginning(self, chain: Chain, mode: str, dump: Dump) -> Shown[Any] | None:
        """The first rows of a view that takes long to build, on the reader's thread; None if all come at once."""
        return None

    def moved(self, lines: Lines) -> None:
        """The cursor is on another row: show what is known of it."""
        if self.shown is not None and self.panel.detail is not None:
            detail = self.shown.details.get(lines.key)
            try:
                sheet = detail(self.size.width - 2) if detail is not None else NOTHING
            except Exception as error:
                sheet = failed(error)
            self.show_detail(f"{self.mode} {lines.key}", sheet)

    @property
    def is_loading(self) -> bool:
        """True if it neither shows what was asked for yet, nor why it cannot."""
        return self._is_loading or not self.is_ready

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that exist for this graph."""
        return self.panel.modes

    @property
    def is_wide(self) -> bool:
        """True if it needs the width of all views."""
        return False

    # Shared by all views

    def compose(self) -> ComposeResult:
        """A title and the lists."""
        yield Bar(id=f"{self.tab.name}-title", classes="title")
        yield from self.parts()

    def on_mount(self) -> None:
        """Begin to read."""
        self.is_ready = True
        self.rows.empty = self.panel.empty
        self._say_title()
        self.load()

    def update(self, scope: Scope | None) -> None:
        """Show another graph, or the same one grown; at once if the view is visible, else when it is."""
        self.scope = scope
        self.load()

    def choose_mode(self, mode: str) -> None:
        """Show another of the view's modes."""
        self.mode = mode
        self.post_message(self.ModeChosen())
        self.load()

    def go_to(self, mode: str, key: str) -> None:
        """Select the row with `key` of the mode `mode`."""
        self._wanted = key
        self.choose_mode(mode)
        self.mark(self.choice)

    def load(self) -> None:
        """Update what is visible."""
        if self.is_ready and self.display and self.scope is not None and self._seen != (self.scope, self.mode):
            self._is_loading = True
            start(self, partial(self._load, self.scope, self.mode), group=f"load {self.tab.name}", latest=True)

    def on_resize(self) -> None:
        """Another width has room for other columns."""
        self.fit()

    def fit(self) -> None:
        """Fit details and columns to the available width, if that is another one. Textual tells of no other size where
        its map of the screen was asked for in between, nor of a scrollbar that takes a column from the rows.
        """
        if not self.is_ready:
            return
        before, self._fitted = self._fitted, (self.size, self.rows.scrollable_content_region.width)
        if self._fitted == before:
            return
        self._say_title()
        if self.shown is not None and self.shown.details and self.size != before[0]:
            self.moved(self.rows)

    def read_again(self) -> None:
        """Build again: something other than graph and mode has changed that the view depends on."""
        self._seen = None
        self.load()

    async def _load(self, scope: Scope, mode: str) -> None:
        arrangement = self.rows.arrangement

        def build(dump: Dump) -> tuple[Shown[Any], Arranged]:
            shown = self._unknown(dump) or self.build(scope.chain, mode, dump)
            if not len(shown.sheet) and (words := still_compiling(dump, scope.chain.graph)):
                shown = replace(shown, empty=words)
            return shown, arranged(shown.sheet, arrangement).with_places()

        with self.guarded():
            if self._seen is None or self._seen[0].chain.graph != scope.chain.graph:
                first = await self.reader.read(
                    lambda dump: self._unknown(dump) or self.beginning(scope.chain, mode, dump)
                )
                if first is not None:
                    self._show(scope, mode, first, None)
            shown, rows = await self.reader.read(build)
            self._show(scope, mode, shown, rows if arrangement == self.rows.arrangement else None)
        self._is_loading = False
        self.post_message(self.Loaded())

    def _unknown(self, dump: Dump) -> Shown[Any] | None:
        """Why there is nothing to show of a dump that was made of a log; None where there can be."""
        text = unknown_text(dump.run.origin, _TABLES.get(self.tab.name, "graphs"))
        return Shown(NOTHING, empty=text) if text else None

    def _show(self, scope: Scope, mode: str, shown: Shown[Any], arranged: Arranged | None) -> None:
        before = self._seen
        is_same = before is not None and before[0].chain.graph == scope.chain.graph
        if before is not None and before[1] != mode:
            is_same &= self.panel.modes_are_of_detail
        self._seen, self.shown = (scope, mode), shown
        self.rows.empty = shown.empty or self.panel.empty
        (self.rows.show if is_same else self.rows.restart)(shown.sheet, arranged)
        if shown.start and not is_same:
            self.rows.begin(shown.start)
        self._say_title()
        self.call_after_refresh(self.fit)
        self.mark(self.choice)
        self.moved(self.rows)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """A dump can contain anything, and a view that fails on it must not affect the others."""
        try:
            yield
        except Exception as error:
            self._seen = None
            self.rows.restart(failed(error))

    def mark(self, choice: Choice | None) -> None:
        """Mark what belongs to the selection; the cursor follows a selection made elsewhere."""
        self.choice = choice
        if not self.is_ready:
            return
        rows = self.rows
        selection = choice.selection if choice is not None else Selection()
        before = rows.cursor
        rows.mark(selection, follow=choice is not None and choice.view != self.tab.name)
        if rows.cursor != before:
            self.moved(rows)
        shown = self._seen[1] if self._seen is not None else ""
        if self._wanted and shown == self.mode and (found := rows.find_key(self._wanted)) is not None:
            self._wanted = ""
            rows.begin(found)
            rows.choose()

    def _say_title(self) -> None:
        missing = len(self.rows.missing_columns())
        notes = (
            Item(f"{self.shown.count} " if self.shown is not None and self.shown.count else "", "dim"),
            Item(f"+{number_of(missing, 'column')}: o " if missing else "", "key", short=f"+{missing}: o "),
        )
        bar = self.query_one(f"#{self.tab.name}-title", Bar)
        width = self.size.width or UNLIMITED  # not laid out yet, or hidden: it is said again once it has a size
        if not self.size.width:
            self._fitted = self.size, 0
        bar.say(*title(f"{self.tab.key} {self.tab.title}", self.modes, self.mode, notes, width))

    def on_bar_picked(self, event: Bar.Picked) -> None:
        """Another mode was clicked."""
        event.stop()
        self.choose_mode(event.value)

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Report the selection."""
        event.stop()
        if event.lines is self.rows:
            self.moved(event.lines)
            self.post_message(self.Chosen(self, event.lines.subject, is_step=event.is_step))

    def on_lines_rearranged(self, event: Lines.Rearranged) -> None:
        """Say what there is no room for, and show the details of the row that the cursor is on now."""
        event.stop()
        self._say_title()
        if event.lines is self.rows:
            self.moved(self.rows)

    def on_lines_entered(self, event: Lines.Entered) -> None:
        """Report that the user wants to go on."""
        event.stop()
        if event.lines is self.rows:
            self.post_message(self.Followed(self, event.lines.subject))

    def show_detail(self, key: str, sheet: Sheet) -> None:
        """Show the detail of the row with `key` in the view's second list; the same row keeps its position."""
        for lines in self.query(f"#{self.tab.name}-detail").results(Lines):
            if key == self._detail:
                lines.show(sheet)
            else:
                lines.restart(sheet)
        self._detail = key
