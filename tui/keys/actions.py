"""Everything that a key does: the one list that bindings, help, command palette and footer are made of."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from textual.binding import Binding, BindingType

from inspect_compile.tui.models.bars import Tab
from inspect_compile.tui.models.letters import BREAKS_KEY, UNFOLD, WHOLE_KEY

Owner = Literal["app", "screen", "list", "overview", "kernels", "program"]
"""What handles the key: the app, the main screen, the focused list, the overview, the view of kernels, the
program's terminal."""


class Action(NamedTuple):
    """What a key does."""

    keys: str
    """Textual's names of the keys, separated by commas; empty for what only the palette does."""
    does: str
    """Textual's action."""
    title: str
    """Its name in the palette."""
    what: str
    """What the help says of it."""
    owner: Owner = "screen"
    shown: str = ""
    """The keys as a person reads them; empty for the names themselves."""
    footer: str = ""
    """A word for the line at the bottom; empty if it is not there."""
    is_movement: bool = False
    """True for keys that move within a list: the palette leaves them out."""
    asks: bool = False
    """True if what is typed next goes into what it opens."""

    @property
    def label(self) -> str:
        """Its keys, for help and palette."""
        return self.shown or self.keys.replace(",", "  ")


Group = tuple[str, tuple[Action, ...]]
"""A heading of the help, and its actions."""

GROUPS: Final[tuple[Group, ...]] = (
    (
        "Go",
        (
            Action("g", "go_to", "Go to …", "any kernel, buffer, operation, node, graph or line",
                   footer="go to", asks=True),
            Action(
                "left_square_bracket,alt+left", "step(-1)", "Back", "back to the previous selection", shown="[  alt+←"
            ),
            Action("right_square_bracket,alt+right", "step(1)", "Forward", "forward again", shown="]  alt+→"),
            Action("r", "focus_tree", "To the tree", "to the tree: run, frames, graphs"),
            Action("t", "tree", "Hide or show the tree", "hide or show the tree"),
            Action("b", "beside", "Beside another compile",
                   "side by side: ranks, or a replay and its compile"),
            Action("w", "widen", "Widen the focused pane", "the focused list alone on the screen, and back"),
            Action("tab", "app.focus_next", "Next pane", "the next list", "app", is_movement=True),
            Action("shift+tab", "app.focus_previous", "Previous pane", "the previous list", "app", is_movement=True),
        ),
    ),
    (
        "In every list",
        (
            Action("up,k", "move(-1)", "Up", "a row up: it is selected, and marked in every view", "list", "↑  k",
                   is_movement=True),
            Action("down,j", "move(1)", "Down", "a row down", "list", "↓  j", is_movement=True),
            Action("pageup,ctrl+b", "page(-1)", "Page up", "a screen up", "list", is_movement=True),
            Action("pagedown,ctrl+f", "page(1)", "Page down", "a screen down", "list", is_movement=True),
            Action("home", "to_end(0)", "To the first row", "to the first row", "list", is_movement=True),
            Action("end,G", "to_end(1)", "To the last row", "to the last row", "list", "end  G", is_movement=True),
            Action("left,h", "sideways(-8)", "Left", "scroll long lines sideways", "list", "←  h", is_movement=True),
            Action("right,l", "sideways(8)", "Right", "and back", "list", "→  l", is_movement=True),
            Action("enter", "enter", "Follow the row", "follow it: source → kernels → generated code", "list",
                   footer="follow"),
            Action("m", "next_mark(1)", "Next marked rows", "to the next marked rows", "list", footer="mark"),
            Action("M", "next_mark(-1)", "Previous marked rows", "to the previous marked rows", "list"),
            Action("slash", "search", "Search", "search: the cursor goes to what matches", shown="/", footer="search",
                   asks=True),
            Action("n", "search_again(1)", "Next match", "the next match"),
            Action("N", "search_again(-1)", "Previous match", "the previous match"),
            Action("f", "filter", "Filter", "filter: only the rows that match stay", footer="filter", asks=True),
            Action("o", "columns", "Columns: sort, hide, show", "columns: sort by one, hide or show them",
                   footer="columns"),
            Action("O", "turn_order", "Reverse the order", "reverse the sort order"),
            Action("escape", "forget", "Clear", "clear the filter, else the search and selection",
                   shown="esc"),
        ),
    ),
    (
        "A view",
        (
            Action("s", "mode", "Next mode of the view", "the view's next mode: stages, pairs, files",
                   footer="mode"),
            Action("i", "lowering", "How it was lowered", "how the node under the cursor was lowered"),
            Action("c", "configuration", "Next configuration of the kernel",
                   "Kernels: the next configuration of a Triton kernel", "kernels"),
            Action(UNFOLD, "unfold", "Fold or unfold a kernel's source",
                   "Kernels: the lines before the first loop", "kernels"),
            Action(BREAKS_KEY, "breaks", "Graph breaks and recompiles",
                   "Overview: the frame with breaks or recompiles", "overview"),
            Action(WHOLE_KEY, "whole", "Everything about the run", "Overview: everything about the run", "overview"),
            Action("enter", "", "", "Lowering, on a node of another graph: go to it", "list"),
            Action("enter", "", "", "Program, while it runs: type into it, ctrl+c too", "program"),
            Action("escape", "", "", "Program: keys belong to the app again", "program", shown="esc"),
        ),
    ),
    (
        "Use it elsewhere",
        (
            Action("e", "edit", "Open in $EDITOR", "open $EDITOR at the line"),
            Action("y", "copy", "Copy the command", "copy the command that prints this table", footer="copy"),
            Action("Y", "copy_selected", "Copy what is selected", "copy the name of what is selected"),
            Action("S", "save", "Save text or picture", "save what is shown, as text or SVG"),
            Action("d", "draw", "Draw around the selection", "draw around the selection, or the ranks, as SVG"),
        ),
    ),
    (
        "App",
        (
            Action("question_mark", "help", "Help", "this help", "app", "?", "help"),
            Action("colon,ctrl+p", "command_palette", "All actions", "every action, by name", "app",
                   ":  ctrl+p", "all"),
            Action("T", "theme", "Light or dark", "light or dark", "app"),
            Action("q", "quit", "Quit", "quit; asks while the program runs", "app", footer="quit"),
        ),
    ),
)  # fmt: skip
"""In the order of the help."""

_SIGNS: Final = {"question_mark": "?", "colon": ":", "slash": "/", "enter": "↵"}

ACTIONS: Final = tuple(action for _, actions in GROUPS for action in actions)


def of_views(views: Iterable[Tab]) -> Group:
    """The keys of the views."""
    return "Views", tuple(
        Action(view.key, f"view('{view.name}')", f"View: {view.title}", f"{view.title}: {view.what}") for view in views
    )


def bound(owner: Owner) -> list[Action]:
    """The actions that an owner binds keys to; what has no action of its own is only explained."""
    return [action for action in ACTIONS if action.owner == owner and action.does]


def footer(*, has_modes: bool) -> list[tuple[str, str, str]]:
    """For the line at the bottom, the app's own first: how the key is written, what it does, textual's name of it."""
    named = sorted((one for one in ACTIONS if one.footer), key=lambda one: one.owner != "app")
    return [
        (_SIGNS.get(key := one.keys.partition(",")[0], key), one.footer, key)
        for one in named
        if one.does != "mode" or has_modes
    ]


def in_palette(groups: Sequence[Group]) -> list[Action]:
    """What can be chosen by name."""
    return [action for _, actions in groups for action in actions if action.does and not action.is_movement]


def binding(action: Action) -> Binding:
    """The binding of one action."""
    return Binding(action.keys, action.does, action.title, show=False)


def bindings(owner: Owner) -> list[BindingType]:
    """What `owner` binds. A key that asks for text also has a binding of the screen's that comes before the focused
    list: else text that comes together with the key, as over ssh, would reach the list.
    """
    first = [
        Binding(action.keys, f"ask('{action.does}')", show=False, priority=True)
        for action in bound(owner)
        if action.asks
    ]
    return [*first, *(binding(action) for action in bound(owner))]
