"""The lines at the top and the bottom of the screen, as pieces of text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len

from inspect_compile.tables.columns import plain
from inspect_compile.tables.text import number_of, one_line
from inspect_compile.tui.models.chain import Choice, choice_parts
from inspect_compile.tui.models.outline import Outline, Place
from inspect_compile.tui.models.sheet import Subject

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.misses import Miss


class Item(NamedTuple):
    """A piece of a bar; one with a value can be clicked."""

    text: str
    role: str = ""
    value: str = ""
    drop: int = 0
    """Pieces with higher numbers are left out first, whole, if there is no room for all; 0 is cut at last."""
    short: str = ""
    """What stands in its place in the title of a view that has little room."""


class Tab(NamedTuple):
    """A view as the tabs list it."""

    key: str
    name: str
    title: str
    short: str = ""
    """Short title, if there is little room; empty for the title itself."""
    what: str = ""
    """What the help says of it."""


Sides = tuple[list[Item], list[Item]]
"""The pieces at the left, and at the right."""

_LEAST: Final = 2
"""Pieces of a selection that stay: a space, and its name."""
HINT: Final = "select a line, a node or a kernel: everything that belongs to it is marked in every view"
OVERVIEW_HINT: Final = "↵ opens the row's subject; v comes back here"


def top(
    outline: Outline | None,
    place: Place,
    kernels: int | None,
    findings: int,
    status: int | None,
    is_live: bool,
    stage: str = "",
) -> Sides:
    """The current place, and the state of the run."""
    if outline is None:
        return [Item(" inspect-compile  ", "dim"), Item("reading …", "dim")], []
    left = [Item(" ", "dim"), Item("inspect-compile  ", "dim", drop=3), Item(one_line(outline.program), "name")]
    if place.title:
        left += [Item(" ▸ ", "dim"), Item(place.title)]
    right = [Item(outline.device, "dim", drop=2)] if outline.device else []
    if kernels is not None:
        right += [Item("  ", drop=1), Item(number_of(kernels, "kernel"), "accent", drop=1)]
    if findings:
        right += [Item("  "), Item(f"▲ {number_of(findings, 'finding')}", "warn", "5")]
    if status is not None:
        right += [
            Item("  "),
            Item(f"exit {status}" if status >= 0 else f"signal {-status}", "bad" if status else "good", "0"),
        ]
    elif is_live:
        right += [Item("  "), Item(f"● {stage or 'live'}", "good")]
    elif outline.state:
        right += [Item("  "), Item(_state(outline.state), "warn")]
    return left, [*right, Item(" ")]


def _state(state: str) -> str:
    words = {"ended with": "ended badly", "never said": "torn", "was killed": "killed"}
    return " ".join(("⚠", *(word for phrase, word in words.items() if phrase in state)))


def ended(status: int) -> str:
    """An exit status in words."""
    return f"ended with exit status {status}" if status >= 0 else f"ended by signal {-status}"


def tabs(views: Sequence[Tab], active: str, seen: Sequence[str], width: int) -> Sides:
    """The tabs; the active and the visible views stand out. If there is no room, the others are shortened."""
    long = [view.title for view in views]
    short = [view.short or view.title for view in views]
    others = [title if view.name == active else less for view, title, less in zip(views, long, short, strict=True)]
    fits = (titles for titles in (long, others) if sum(len(f" k {title}") for title in titles) + 2 <= width)
    items = [Item(" ")]
    for view, title in zip(views, next(fits, short), strict=True):
        role = "dim" if view.name not in seen else "on" if view.name == active else "seen"
        items += [Item(f" {view.key} {title}{' ' if role == 'on' else ''}", role, view.name)]
    return items, []


def title(name: str, modes: Sequence[str], mode: str, notes: Sequence[Item], width: int) -> Sides:
    """The title of a view: its modes, and notes at the right. What does not fit goes, whole: first all notes but the
    last, then modes other than the active one, of which the key `s` shows the next; then the last note is shortened,
    and it, the number of the modes and the active mode go in turn.
    """
    shown = list(modes)
    right = [note for note in notes if note.text]
    is_counted = True

    def left() -> list[Item]:
        items = [Item(f" {name} ", "name")]
        items += [Item(f" {one} ", "on" if one == mode else "dim", one) for one in shown]
        missing = len(modes) - len(shown) if is_counted else 0
        return [*items, Item(f" +{missing}: s", "key")] if missing else items

    def is_too_wide() -> bool:
        return sum(cell_len(item.text) for item in (*left(), *right)) >= width

    while right and right != [notes[-1]] and is_too_wide():
        right.pop(0)
    while len(shown) > 1 and is_too_wide():
        shown.remove(next(one for one in reversed(shown) if one != mode))
    if is_too_wide():
        right = [note._replace(text=note.short or note.text) for note in right]
    if is_too_wide():
        right = []
    if is_too_wide():
        is_counted = False
    if is_too_wide():
        shown = []
    return left(), right


def context(
    choice: Choice | None, misses: Sequence[tuple["Miss", Subject]], width: int, *, is_overview: bool = False
) -> Sides:
    """The selection, and the most expensive miss in it, with its places if they have room; without a selection, or in
    the overview, what to do. Of the selection the last parts go, whole, if there is no room for all.
    """
    if choice is None or is_overview:
        return [Item(f" {OVERVIEW_HINT if is_overview else HINT}", "dim")], []
    name, *rest = choice_parts(choice)
    left = [Item(" "), Item(name, "name"), *(Item(f" · {part}") for part in rest)]
    missed = next((miss for miss, pair in misses if not choice.selection.operations.isdisjoint(pair.names)), None)
    if missed is None:
        return left, []
    from inspect_compile.tables.fusion.why_text import part_cell, saved_text  # not before the first paint

    names = " × ".join(plain(part_cell(part)) for part in missed.parts) or f"{missed.a} × {missed.b}"
    words = one_line(f"▲ {saved_text(missed)} apart: {names}")
    if cell_len(words) > width // 2 and missed.parts:
        names = " × ".join(part.operator or part.node for part in missed.parts)
        words = one_line(f"▲ {saved_text(missed)} apart: {names}")
    right = [Item(words, "warn", "5"), Item(" ")]
    while len(left) > _LEAST and sum(cell_len(item.text) for item in (*left, *right)) >= width:
        left.pop()
    return left, right


def shell(command: str) -> Sides:
    """The command that shows the same."""
    return [Item(" $ ", "dim"), Item(command, "accent", "y")], []


def keys(items: Sequence[tuple[str, str, str]], width: int) -> Sides:
    """The available keys, each as (as it is written, what it does, textual's name): as many as fit, whole."""
    shown = [Item(" ")]
    left = width - 1
    for written, what, key in items:
        left -= len(f"{written} {what}  ")
        if left < 0:
            break
        shown += [Item(written, "key", key), Item(f" {what}  ", "dim", key)]
    return shown, []
