"""The lines at the top and the bottom of the screen, as pieces of text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.tables.fusion.why_text import saved_words
from inspect_compile.tables.text import number_of, one_line
from inspect_compile.tui.models.chain import Choice, told
from inspect_compile.tui.models.outline import Outline, Place
from inspect_compile.tui.models.sheet import Subject

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.misses import Miss


class Item(NamedTuple):
    """A piece of a bar; one with a value can be clicked."""

    text: str
    role: str = ""
    value: str = ""


class Tab(NamedTuple):
    """A view as the tabs list it, known before its module is loaded, which happens when it is first shown."""

    key: str
    name: str
    title: str
    where: str
    """`module:Class`."""
    short: str = ""
    """Short title, if there is little room; empty for the title itself."""


Sides = tuple[list[Item], list[Item]]
"""The pieces at the left, and at the right."""

KEYS: Final = (
    ("?", "help", "question_mark"),
    ("/", "search", "slash"),
    ("m", "mark", "m"),
    ("↵", "follow", "enter"),
    ("i", "IR", "i"),
    ("s", "mode", "s"),
    ("t", "tree", "t"),
    ("y", "copy", "y"),
    ("q", "quit", "q"),
)
"""Key, what it does, and textual's name of the key."""

HINT: Final = "choose a line, a node or a kernel: what belongs to it is marked everywhere"


def top(
    outline: Outline | None, place: Place, kernels: int | None, misses: int, status: int | None, is_live: bool
) -> Sides:
    """The current place, and the state of the run."""
    if outline is None:
        return [Item(" inspect-compile  ", "dim"), Item("reading …", "dim")], []
    left = [Item(" inspect-compile  ", "dim"), Item(one_line(outline.program), "name")]
    if place.title:
        left += [Item(" ▸ ", "dim"), Item(place.title)]
    right = [Item(outline.device, "dim")] if outline.device else []
    if kernels is not None:
        right += [Item("  "), Item(number_of(kernels, "kernel"), "accent")]
    if misses:
        right += [Item("  "), Item(f"▲ {misses} missed", "warn", "5")]
    if status is not None:
        right += [
            Item("  "),
            Item(f"exit {status}" if status >= 0 else f"signal {-status}", "bad" if status else "good", "0"),
        ]
    elif is_live:
        right += [Item("  "), Item("● live", "good")]
    elif outline.state:
        right += [Item("  "), Item(_state(outline.state), "warn")]
    return left, [*right, Item(" ")]


def _state(state: str) -> str:
    return "⚠ ended badly" if "ended with" in state else "⚠ torn" if "never said" in state else "⚠"


def ended(status: int) -> str:
    """An exit status in words."""
    return f"ended with exit status {status}" if status >= 0 else f"ended by signal {-status}"


def tabs(views: Sequence[Tab], active: str, seen: Sequence[str], width: int) -> Sides:
    """The tabs; the active and the visible views stand out. If there is no room, the others are shortened."""
    is_tight = sum(len(f" {view.key} {view.title}") for view in views) + 2 > width
    items = [Item(" ")]
    for view in views:
        role = "dim" if view.name not in seen else "on" if view.name == active else "seen"
        title = view.short if is_tight and view.short and view.name != active else view.title
        items += [Item(f" {view.key} {title}{' ' if role == 'on' else ''}", role, view.name)]
    return items, []


def context(choice: Choice | None, misses: Sequence[tuple["Miss", Subject]]) -> Sides:
    """The selection, and the most expensive miss in it."""
    if choice is None:
        return [Item(f" {HINT}", "dim")], []
    name, *rest = told(choice)
    left = [Item(" "), Item(name, "name"), *(Item(f" · {part}") for part in rest)]
    missed = next((miss for miss, pair in misses if not choice.selection.operations.isdisjoint(pair.names)), None)
    if missed is None:
        return left, []
    told_miss = f"▲ {saved_words(missed)} apart: {missed.a} × {missed.b}  {missed.code} "
    return left, [Item(one_line(told_miss), "warn", "5"), Item(" ")]


def shell(command: str) -> Sides:
    """The command that shows the same."""
    return [Item(" $ ", "dim"), Item(command, "accent", "y")], []


def keys(sheet_has_modes: bool) -> Sides:
    """The available keys."""
    items = [Item(" ")]
    for shown, what, key in KEYS:
        if key != "s" or sheet_has_modes:
            items += [Item(shown, "key", key), Item(f" {what}  ", "dim", key)]
    return items, []
