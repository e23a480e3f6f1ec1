"""The colours of the app, dark and light, and the style of each role of a span.

Roles are styles instead of component classes in the style sheets: textual would match every rule against twenty of them
for each list and bar, which alone doubled the time to the first paint.

No role says by colour alone what no word or sign beside it says; and good, warn and bad can be told apart by people who
see fewer colours (tests/tui/test_palette.py).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rich.style import Style
from textual.theme import Theme

from inspect_compile.tui.models.sheet import STYLE

_DARK: Final = {
    "primary": "#8aaef9",
    "secondary": "#6cc7ee",
    "accent": "#e6c07b",
    "warning": "#ffb454",
    "error": "#ff7a93",
    "success": "#5ccfc0",
    "foreground": "#c8d0e8",
    "background": "#16171f",
    "surface": "#1b1d28",
    "panel": "#242736",
    "muted": "#969fc0",
    "comment": "#8a93b5",
    "keyword": "#bb9af7",
    "marked": "#33302f",
    "linked": "#1f3a40",
    "cursor": "#2d3860",
    "cursor-blurred": "#272b3a",
    "seen": "#343a52",
}
"""Names for the style sheets (`$muted`) and for the roles below."""

_LIGHT: Final = {
    "primary": "#1f56c4",
    "secondary": "#00687a",
    "accent": "#6f5600",
    "warning": "#8a5300",
    "error": "#c00a3c",
    "success": "#006b80",
    "foreground": "#1c2130",
    "background": "#fbfbfd",
    "surface": "#f2f3f8",
    "panel": "#e6e8f1",
    "muted": "#555c73",
    "comment": "#5a627c",
    "keyword": "#6d3bbf",
    "marked": "#fbf0d0",
    "linked": "#d3eef2",
    "cursor": "#d2defc",
    "cursor-blurred": "#e1e5f0",
    "seen": "#d5d9e8",
}

_OWN: Final = ("muted", "comment", "keyword", "marked", "cursor", "cursor-blurred", "seen")
"""Colours that textual has no name for."""

NO_COLOR: Final = "NO_COLOR"
"""The variable that asks for no colours, whatever its value, as Textual reads it."""

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

_WITHOUT_COLOURS: Final = {
    "dim": "",
    "found": "bold underline",
    "on": "bold reverse",
    "seen": "underline",
    "row-marked": "",
    "row-linked": "",
    "row-cursor": "reverse",
    "row-cursor-blurred": "underline",
}
"""What is told by a background, in the terminal's own two colours; marks say which rows are marked and linked."""


class Looks:
    """The colours of one theme, and its styles."""

    def __init__(
        self, name: str, colours: Mapping[str, str], roles: Mapping[str, str] = ROLES, *, is_dark: bool
    ) -> None:
        self.name = name
        self._roles = roles
        self.colours = colours
        self.is_dark = is_dark
        self._styles: dict[str, Style] = {}

    def style(self, role: str) -> Style:
        """The style of a span with `role`, on top of its background; empty for an unknown role."""
        found = self._styles.get(role)
        if found is None:
            words = role.removeprefix(STYLE) if role.startswith(STYLE) else self._words(role)
            found = self._styles[role] = Style.parse(words)
        return found

    def _words(self, role: str) -> str:
        return " ".join(self.colours.get(word, word) for word in self._roles.get(role, "").split())

    @property
    def theme(self) -> Theme:
        """The same for textual's style sheets."""
        of = self.colours
        return Theme(
            name=self.name,
            primary=of["primary"],
            secondary=of["secondary"],
            accent=of["accent"],
            warning=of["warning"],
            error=of["error"],
            success=of["success"],
            foreground=of["foreground"],
            background=of["background"],
            surface=of["surface"],
            panel=of["panel"],
            dark=self.is_dark,
            variables={name: of[name] for name in _OWN},
        )


DARK: Final = Looks("dark", _DARK, is_dark=True)
LIGHT: Final = Looks("light", _LIGHT, is_dark=False)
PLAIN: Final = Looks("plain", _DARK, {**ROLES, **_WITHOUT_COLOURS}, is_dark=True)
"""For NO_COLOR: Textual leaves out the colours, of what is drawn and of its own widgets."""


def looks_of(theme: str) -> Looks:
    """The looks that belong to a theme of textual."""
    return next((looks for looks in (LIGHT, PLAIN) if theme == looks.name), DARK)


def looks_for(environment: Mapping[str, str]) -> Looks:
    """Light where the terminal says that its background is: COLORFGBG, as rxvt, Konsole and others set it. The variable
    INSPECT_COMPILE_THEME (`light` or `dark`) decides where it is set, and NO_COLOR before both.
    """
    if NO_COLOR in environment:
        return PLAIN
    asked = environment.get("INSPECT_COMPILE_THEME", "")
    if asked in (LIGHT.name, DARK.name):
        return looks_of(asked)
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in ("7", "15") else DARK


@lru_cache(maxsize=64)
def textual_style(role: str) -> str:
    """A role's style as textual writes it, for its own widgets."""
    return " ".join(f"${word}" if word in _DARK else word for word in ROLES.get(role, "").split())
