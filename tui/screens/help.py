"""All keys."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspect_compile.tui.keys.actions import GROUPS, Group, of_views
from inspect_compile.tui.views import VIEWS

ALL: Final[tuple[Group, ...]] = (of_views(VIEWS), *GROUPS)
"""All groups of actions, the views' first: what help, palette and the tests go through."""


SIGNS: Final = (
    ("▌", "bold $accent", "belongs to what is selected"),
    ("2▪", "$accent", "in two kernels"),
    ("→", "$accent", "calls a kernel"),
    ("✗  ⚡", "$warning", "failed; graph break"),
    ("████", "$error", "Numerics: an error; each column is a factor of ten"),
    ("▲ 3 missed", "$warning", "pairs that share bytes and are in two launches"),
    ("▲  ▼", "bold $primary", "sorted by this column, upwards or downwards"),
)

CLOSE: Final = "esc, q, enter or ? closes this help · ↑ ↓ pageup pagedown scroll"

_KEYS: Final = 18
"""Columns for the keys."""


class HelpScreen(ModalScreen[None]):
    """All keys, and the meaning of the signs."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)]

    def compose(self) -> ComposeResult:
        """One text, and how to close it."""
        with VerticalScroll(id="help") as text:
            text.border_subtitle = CLOSE
            yield Static(Content("\n").join(help_lines()))


def help_lines() -> list[Content]:
    """A line for each action and each sign, under headings."""
    lines: list[Content] = [Content.styled(CLOSE, "$muted"), Content("")]
    for title, actions in ALL:
        lines.append(Content.styled(title, "bold $primary"))
        lines += [_line(action.label, "bold $accent", action.what) for action in actions]
        lines.append(Content(""))
    lines.append(Content.styled("Signs", "bold $primary"))
    return [*lines, *(_line(*sign) for sign in SIGNS)]


def _line(keys: str, style: str, what: str) -> Content:
    return Content.assemble((f"  {keys:{_KEYS}}", style), what)
