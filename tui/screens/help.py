"""All keys."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    (
        "Views",
        (
            ("1 … 9   0   e", "a view; e: errors that a check of numerics found"),
            ("r", "to the tree of the run"),
            ("i", "how the node under the cursor was lowered; there enter on a node of another graph goes to it"),
            ("s", "its next mode: FX or kernel stages, pairs, files, everything about a node"),
            ("c", "a kernel's stage in its next configuration"),
            ("tab  shift+tab", "to the next list, or the previous one"),
            ("t", "hide or show the tree"),
        ),
    ),
    (
        "In a list",
        (
            ("↑ ↓  j k", "a row: what belongs to it is marked in every view"),
            ("pageup pagedown", "a screen"),
            ("g G  home end", "to the start, to the end"),
            ("← →  h l", "sideways through long lines of code"),
            ("m M", "to the next marked rows, the previous ones"),
            ("enter", "follow: source → kernels → generated code"),
            ("esc", "clear the selection"),
        ),
    ),
    ("Search", (("/", "search in the focused list"), ("n N", "the next match, the previous one"))),
    ("The program (0), while it runs", (("enter", "type to it; ctrl+c is its own then"), ("esc", "back to the app"))),
    (
        "App",
        (
            ("y", "copy the command that shows the same in a shell"),
            ("?", "this help"),
            ("q", "quit; asks while the program runs"),
        ),
    ),
)

SIGNS: Final = (
    ("▌", "bold $accent", "belongs to what is selected"),
    ("2▪", "$accent", "in two kernels"),
    ("→", "$accent", "calls a kernel"),
    ("✗  …  ⚡", "$warning", "failed; is being compiled; graph break"),
    ("████", "$error", "error of a checked launch: each column is a factor of ten, from 0.1 × rounding on"),
    ("▲", "$warning", "pairs that share bytes and are in two launches"),
)


class HelpScreen(ModalScreen[None]):
    """All keys, and the meaning of the signs."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)]

    def compose(self) -> ComposeResult:
        """One text."""
        with VerticalScroll(id="help"):
            yield Static(Content("\n").join(self._lines()))

    @staticmethod
    def _lines() -> list[Content]:
        lines: list[Content] = []
        for title, keys in KEYS:
            lines.append(Content.styled(title, "bold $primary"))
            lines += [Content.assemble((f"  {key:17}", "bold $accent"), what) for key, what in keys]
            lines.append(Content(""))
        lines.append(Content.styled("Signs", "bold $primary"))
        for sign, style, what in SIGNS:
            lines.append(Content.assemble((f"  {sign:17}", style), what))
        return lines
