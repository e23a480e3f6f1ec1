"""Which views are shown beside each other, and which of them has the focus."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import events
from textual.widget import Widget

from inspect_compile.dump import Dump
from inspect_compile.tui.keys.actions import footer
from inspect_compile.tui.models import bars
from inspect_compile.tui.models.chain import Choice
from inspect_compile.tui.models.outline import Outline, Place
from inspect_compile.tui.models.sheet import Panel
from inspect_compile.tui.reader import Reader
from inspect_compile.tui.screens.lists import ListsScreen
from inspect_compile.tui.views import VIEWS, load
from inspect_compile.tui.views.view import Scope, TabView, View
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from inspect_compile.tui.views.program import Program

OVERVIEW: Final = "overview"
SIDE_BY_SIDE: Final = (
    "source", "fx", "passes", "ir", "fusion", "cost", "memory", "numerics", "kernels", "output", "program",
)  # fmt: skip
"""All views, from left to right."""

MEDIUM: Final = 120
WIDE: Final = 160
"""Minimum widths of the screen for two and three views side by side."""
ORDER: Final = (OVERVIEW, "page", *SIDE_BY_SIDE)
"""What can be shown at the right, in order."""


class ShownScreen(ListsScreen):
    """The views of one place of a dump, made when they are first shown."""

    def __init__(self, dump: Dump, program: "Program | None") -> None:
        super().__init__()
        self._root: Path = dump.root
        self._called = _called(dump)
        self._reader = Reader(dump)
        self._program = program
        self._outline: Outline | None = None
        self._place = Place("run")
        self._scope: Scope | None = None
        self._choice: Choice | None = None
        self._parts: dict[str, Widget] = {}
        """The views that have been shown, and the page."""
        self._latest: tuple[str, ...] = ("source",)
        self._is_widened = False

    def _say(self) -> None:
        """Write the bars anew."""
        raise NotImplementedError

    # What is shown

    @property
    def active(self) -> str:
        """The name of the view that has the focus."""
        name = self._latest[0]
        return OVERVIEW if self._place.kind == "run" and name != "program" else name

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
            if self._is_widened or (view is not None and view.is_wide):
                return (self.active,)
            return slots_of(width, self.active, self._latest)
        page = OVERVIEW if self._place.kind == "run" else "page"
        if width >= MEDIUM and self._program is not None:
            return (page, "program")
        return ("program",) if self.active == "program" else (page,)

    # Arranging

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
            part.set_class(self._is_widened, "-alone")
            if isinstance(part, TabView):
                part.load()
        self.query_one("#tabs", Bar).say(*bars.tabs(VIEWS, self.active, seen, self.size.width))
        view = self._view(self.active)
        self.query_one("#keys", Bar).say(
            *bars.keys(footer(has_modes=view is not None and bool(view.modes)), self.size.width)
        )
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        for view in self._views():
            if view.is_ready and view.display:
                view.fit()

    def _made(self, name: str) -> Widget:
        if name == "page":
            from inspect_compile.tui.widgets.page import PageView

            return PageView(id="page")
        tab = next(view for view in VIEWS if view.name == name)
        given = {"program": (self._program, self._root), OVERVIEW: ()}.get(name, (self._reader,))
        found = load(name)
        view = View(tab, self._reader, found) if isinstance(found, Panel) else found(tab, *given)
        if isinstance(view, View):
            view.scope, view.choice = self._scope, self._choice
        return view

    def on_resize(self) -> None:
        """Another width may have room for more views, or fewer."""
        self.query_one("#tree").styles.width = tree_width(self.size.width)
        if self._outline is not None:
            self._arrange()

    def on_view_mode_chosen(self, event: View.ModeChosen) -> None:
        """Arrange again: the mode may need another width."""
        event.stop()
        self._arrange()
        self._say()

    def action_mode(self) -> None:
        """Show the next of the active view's modes."""
        view = self._view(self.active)
        if view is not None and view.modes:
            position = view.modes.index(view.mode) if view.mode in view.modes else 0
            view.choose_mode(view.modes[(position + 1) % len(view.modes)])
        else:
            self.notify("this view has no other mode here")

    # The focus

    def _focus_active(self) -> None:
        part = self._parts.get(self.active)
        if isinstance(part, TabView):
            part.focus_rows()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The focused view is the active one."""
        for widget in event.widget.ancestors_with_self:
            name = widget.id or ""
            if self._parts.get(name) is widget and name in SIDE_BY_SIDE and name != self.active:
                self._latest = (name, *(view for view in self._latest if view != name))
                self._arrange()
                self._say()

    def focused_lines(self) -> Lines | None:
        """The focused list, else the rows of the active view."""
        if isinstance(self.focused, Lines):
            return self.focused
        part = self._parts.get(self.active)
        return part.rows if isinstance(part, TabView) and part.is_ready else None

    def action_focus_tree(self) -> None:
        """Focus the tree."""
        tree = self.query_one("#tree")
        tree.display = True
        tree.focus()

    def action_widen(self) -> None:
        """Show the focused list alone, or everything again."""
        self._is_widened = not self._is_widened
        lines = self.focused_lines()
        for kept in self.query("Lines.-kept"):
            kept.remove_class("-kept")
        if lines is not None:
            lines.add_class("-kept")
        self.query_one("#tree").display = not self._is_widened or (lines is not None and lines.id == "tree")
        self._arrange()


def _called(dump: Dump) -> str:
    """A dump as the user would type it here."""
    if dump.name != str(dump.root):
        return dump.name
    try:
        return str(dump.root.resolve().relative_to(Path.cwd()))
    except ValueError:
        return dump.name


def tree_width(width: int) -> int:
    """Width of the tree on a screen of `width` columns."""
    return 24 if width >= MEDIUM else 20


def slots_of(width: int, active: str, latest: tuple[str, ...]) -> tuple[str, ...]:
    """One view of each slot of the screen: the active one, in the other slots the one that was last active there."""
    cuts = (1, 8) if width >= WIDE else (8,) if width >= MEDIUM else ()
    slots = (SIDE_BY_SIDE[first:last] for first, last in pairwise((0, *cuts, len(SIDE_BY_SIDE))))
    return tuple(
        active if active in slot else next((view for view in latest if view in slot), slot[0]) for slot in slots
    )
