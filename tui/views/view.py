"""What all views share: they load on the reader's thread, when they are first shown, and keep their place."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from inspect_compile.analysis.provenance.chain import Selection
from inspect_compile.dump import Dump
from inspect_compile.tui.models.bars import Item
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.jump import Jump
from inspect_compile.tui.models.sheet import Sheet, Subject
from inspect_compile.tui.reader import Reader
from inspect_compile.tui.views.listed import Listed
from inspect_compile.tui.views.part import Part
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

M = TypeVar("M")


@dataclass(frozen=True)
class Scope:
    """What the views show: one graph, at one moment."""

    chain: Chain
    version: int
    """Increases whenever the dump has grown."""


class View(Part, Generic[M]):
    """One view of a graph: a title, one or more lists, and a model that `build` makes from the dump."""

    MODES: ClassVar[tuple[str, ...]] = ()
    """What it can show, one at a time."""
    EMPTY: ClassVar[str] = "Nothing of this was recorded (yet)."
    FOLLOW: ClassVar[str] = "kernels"
    """The view that Enter goes to."""

    class Chosen(Message):
        """The user selected a row."""

        def __init__(self, view: "View[Any]", subject: Subject | None) -> None:
            super().__init__()
            self.view = view
            self.subject = subject

    class Followed(Chosen):
        """The user wants to follow a row."""

    class Jumped(Message):
        """The user wants to see a node of another graph."""

        def __init__(self, view: "View[Any]", jump: Jump) -> None:
            super().__init__()
            self.view = view
            self.jump = jump

    class ModeChosen(Message):
        """The user selected another mode of a view."""

    def __init__(self, listed: Listed, reader: Reader) -> None:
        super().__init__(listed)
        self.reader = reader
        self.mode = self.MODES[0] if self.MODES else ""
        self.scope: Scope | None = None
        self.choice: Choice | None = None
        self._seen: tuple[Scope, str] | None = None
        self._model: M | None = None
        self._detail = ""

    # For each view to define

    def parts(self) -> Iterable[Widget]:
        """The lists; the first one has the rows."""
        yield Lines(id=f"{self.listed.name}-rows")

    def build(self, chain: Chain, mode: str, dump: Dump) -> M:
        """The model. Runs on the reader's thread."""
        raise NotImplementedError

    def present(self, model: M, fresh: bool) -> None:
        """Show `model`; `fresh` if it is something else than before, not just grown."""
        raise NotImplementedError

    def count(self, model: M) -> str:
        """The amount, in words, for the title."""
        return ""

    def moved(self, lines: Lines) -> None:
        """The cursor is on another row: show its detail."""

    @property
    def modes(self) -> tuple[str, ...]:
        """The MODES that exist for this graph."""
        return self.MODES

    @property
    def is_wide(self) -> bool:
        """True if it needs the width of all views."""
        return False

    # Shared by all views

    def compose(self) -> ComposeResult:
        """A title and the lists."""
        yield Bar(id=f"{self.listed.name}-title", classes="title")
        yield from self.parts()

    def on_mount(self) -> None:
        """Begin to read."""
        self.is_ready = True
        self.rows.empty = self.EMPTY
        self._say_title("")
        self.load()

    def update(self, scope: Scope | None) -> None:
        """Show another graph, or the same one grown; at once if the view is visible, else when it is."""
        self.scope = scope
        self.load()

    def choose_mode(self, mode: str) -> None:
        """Show another of the view's MODES."""
        self.mode = mode
        self.post_message(self.ModeChosen())
        self.load()

    def load(self) -> None:
        """Update what is visible."""
        if self.is_ready and self.display and self.scope is not None and self._seen != (self.scope, self.mode):
            start(self, partial(self._load, self.scope, self.mode), group=f"load {self.listed.name}", latest=True)

    def read_again(self) -> None:
        """Build again: something other than graph and mode has changed that the view depends on."""
        self._seen = None
        self.load()

    async def _load(self, scope: Scope, mode: str) -> None:
        with self.guarded():
            self._show(scope, mode, await self.reader.read(partial(self.build, scope.chain, mode)))

    def _show(self, scope: Scope, mode: str, model: M) -> None:
        before = self._seen
        fresh = before is None or (before[0].chain.graph, before[1]) != (scope.chain.graph, mode)
        self._seen, self._model = (scope, mode), model
        self.present(model, fresh)
        self._say_title(self.count(model))
        self.mark(self.choice)
        self.moved(self.rows)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """A dump can contain anything, and a view that fails on it must not affect the others."""
        try:
            yield
        except Exception as error:
            self._seen = None
            text = f"This cannot be shown: {type(error).__name__}: {error}"
            self.rows.restart(Code([CodeLine(line, role="bad") for line in text.splitlines()]))

    @property
    def model(self) -> M | None:
        """The current model."""
        return self._model

    def mark(self, choice: Choice | None) -> None:
        """Mark what belongs to the selection; the cursor follows a selection made elsewhere."""
        self.choice = choice
        if not self.is_ready:
            return
        rows = self.rows
        selection = choice.selection if choice is not None else Selection()
        before = rows.cursor
        rows.mark(selection, follow=choice is not None and choice.view != self.listed.name)
        if rows.cursor != before:
            self.moved(rows)

    def _say_title(self, count: str) -> None:
        items = [Item(f" {self.listed.title} ", "name")]
        for mode in self.modes:
            items.append(Item(f" {mode} ", "on" if mode == self.mode else "dim", mode))
        right = [Item(f"{count} ", "dim")] if count else []
        self.query_one(f"#{self.listed.name}-title", Bar).say(items, right)

    def on_bar_picked(self, event: Bar.Picked) -> None:
        """Another mode was clicked."""
        event.stop()
        self.choose_mode(event.value)

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Report the selection."""
        event.stop()
        if event.lines is self.rows:
            self.moved(event.lines)
            self.post_message(self.Chosen(self, event.lines.subject))

    def on_lines_entered(self, event: Lines.Entered) -> None:
        """Report that the user wants to go on."""
        event.stop()
        if event.lines is self.rows:
            self.post_message(self.Followed(self, event.lines.subject))

    def show_detail(self, key: str, sheet: Sheet) -> None:
        """Show the detail of the row with `key` in the view's second list; the same row keeps its position."""
        for lines in self.query(f"#{self.listed.name}-detail").results(Lines):
            if key == self._detail:
                lines.show(sheet)
            else:
                lines.restart(sheet)
        self._detail = key
