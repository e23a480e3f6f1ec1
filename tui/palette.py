"""The colours of the app, and the style of each role of a span.

Roles are styles instead of component classes in the style sheets: textual would match every rule against twenty of them
for each list and bar, which alone doubled the time to the first paint.
"""

from functools import lru_cache
from typing import Final

from rich.style import Style
from textual.theme import Theme

from inspect_compile.tui.models.sheet import STYLE

COLOURS: Final = {
    "primary": "#7aa2f7",
    "secondary": "#2ac3de",
    "accent": "#e0af68",
    "warning": "#ff9e64",
    "error": "#f7768e",
    "success": "#9ece6a",
    "foreground": "#c8d0e8",
    "background": "#16171f",
    "surface": "#1b1d28",
    "panel": "#242736",
    "muted": "#7b84a6",
    "comment": "#6a7293",
    "keyword": "#bb9af7",
    "marked": "#33302f",
    "linked": "#1f3a40",
    "cursor": "#33406b",
    "cursor-blurred": "#272b3a",
    "seen": "#343a52",
}
"""Names for the style sheets (`$muted`) and for the roles below."""

OWN: Final = ("muted", "comment", "keyword", "marked", "cursor", "cursor-blurred", "seen")
"""Colours that textual has no name for."""

THEME: Final = Theme(
    name="inspect-compile",
    primary=COLOURS["primary"],
    secondary=COLOURS["secondary"],
    accent=COLOURS["accent"],
    warning=COLOURS["warning"],
    error=COLOURS["error"],
    success=COLOURS["success"],
    foreground=COLOURS["foreground"],
    background=COLOURS["background"],
    surface=COLOURS["surface"],
    panel=COLOURS["panel"],
    variables={name: COLOURS[name] for name in OWN},
)

ROLES: Final = {
    "dim": "muted",
    "title": "bold primary",
    "name": "bold foreground",
    "accent": "accent",
    "good": "success",
    "warn": "warning",
    "bad": "error",
    "type": "secondary",
    "bar": "primary",
    "bar-module": "accent",
    "number-marked": "bold accent",
    "keyword": "keyword",
    "function": "primary",
    "string": "success",
    "number": "warning",
    "comment": "italic comment",
    "mark": "bold accent",
    "found": "bold background on warning",
    "key": "bold primary",
    "on": "bold background on primary",
    "seen": "foreground on seen",
    "row-marked": "on marked",
    "row-linked": "on linked",
    "row-cursor": "on cursor",
    "row-cursor-blurred": "on cursor-blurred",
}
"""Role → rich style, with our names of colours."""


@lru_cache(maxsize=1024)
def style_of(role: str) -> Style:
    """The style of a span with `role`, on top of its background; empty for an unknown role."""
    if role.startswith(STYLE):
        return Style.parse(role.removeprefix(STYLE))
    return Style.parse(" ".join(COLOURS.get(word, word) for word in ROLES.get(role, "").split()))


@lru_cache(maxsize=64)
def textual_style(role: str) -> str:
    """The same as textual writes it, for its own widgets."""
    return " ".join(f"${word}" if word in COLOURS else word for word in ROLES.get(role, "").split())
