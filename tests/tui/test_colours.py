"""What is drawn of each view, cell by cell: words that can be read in both themes, and no colours with NO_COLOR."""

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.pilot import Pilot
from textual.screen import ModalScreen

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.palette import DARK, LIGHT, PLAIN, Looks
from inspect_compile.tui.views import VIEWS
from tests.tui.checked import with_launches
from tests.tui.driving import go_to, main_screen, press, shown
from tests.tui.test_palette import contrast

SIZES = pytest.mark.parametrize(
    "size",
    [
        pytest.param((80, 24), id="narrow", marks=pytest.mark.harmless),
        pytest.param((120, 40), id="medium", marks=pytest.mark.harmless),
        pytest.param((200, 60), id="wide"),
    ],
)
SECONDARY = ("muted", "comment")
"""Colours of what is dimmed: three to one is enough for it, as for large text."""

Drawn = dict[str, list[list[Segment]]]
"""The name of a screen → its lines."""


def lines_of(pilot: Pilot[None]) -> list[list[Segment]]:
    """What is drawn; of a dialog itself, for what is behind it is not meant to be read."""
    screen = pilot.app.screen
    strips = screen._compositor.render_strips()
    if not isinstance(screen, ModalScreen):
        return [list(strip) for strip in strips]
    place = screen.children[0].region
    return [list(strip.crop(place.x, place.right)) for strip in strips[place.y : place.bottom]]


async def screens(pilot: Pilot[None], *themes: str) -> list[Drawn]:
    """Each view in each of its modes, a line of the program being selected, and each other screen; in each theme."""
    found: list[Drawn] = [{} for _ in themes]

    async def draw(name: str) -> None:
        for theme, drawn in zip(themes, found, strict=True):
            pilot.app.theme = theme
            await press(pilot)
            drawn[name] = lines_of(pilot)

    await press(pilot)
    await draw("overview")
    await press(pilot, "1")
    go_to(pilot, "source-rows", "self.down(gelu(self.up(y)))")
    for tab in VIEWS:
        await press(pilot, tab.key)
        view = main_screen(pilot)._view(tab.name)
        modes = view.modes if view is not None else ()
        await draw(tab.name)
        for mode in modes[1:]:
            await press(pilot, "s")
            await draw(f"{tab.name} {mode}")
    await press(pilot, "2", "slash", *"mul", "enter")
    await draw("search")
    await press(pilot, "escape", "f", *"mul", "enter")
    await draw("filter")
    for key in ("o", "g", "question_mark", "S", "y", "colon"):
        await pilot.press(key)
        await pilot.pause()
        await draw(key)
        await press(pilot, "escape")
    return found


def is_read(text: str) -> bool:
    """True for words, False for blanks, borders, bars and what a scrollbar is made of."""
    return any(character.isalnum() for character in text)


def unreadable(looks: Looks, lines: list[list[Segment]]) -> set[tuple[str, str, str, float]]:
    """(text, its colour, its background, their contrast) where the contrast is too small."""
    secondary = {Color.parse(looks.colours[name]).hex.lower() for name in SECONDARY}
    found = set()
    for segment in (segment for line in lines for segment in line if is_read(segment.text)):
        assert segment.style is not None
        text, ground = (
            f"#{colour.triplet.hex[1:]}" if colour is not None and colour.triplet is not None else ""
            for colour in (segment.style.color, segment.style.bgcolor)
        )
        assert text
        assert ground, segment
        text, ground = (ground, text) if segment.style.reverse else (text, ground)
        value = contrast(text, ground)
        if value < (3.0 if text.lower() in secondary else 4.5):
            found.add((segment.text.strip(), text, ground, round(value, 2)))
    return found


@SIZES
async def test_every_word_can_be_read(mixed: Dump, size: tuple[int, int]) -> None:
    async with InspectApp(with_launches(mixed)).run_test(size=size) as pilot:
        drawn = await screens(pilot, DARK.name, LIGHT.name)

    for looks, found in zip((DARK, LIGHT), drawn, strict=True):
        bad = {name: hard for name, lines in found.items() if (hard := unreadable(looks, lines))}
        assert bad == {}, looks.name


async def test_no_colours(mixed: Dump, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = with_launches(mixed)
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:
        (coloured,) = await screens(pilot, DARK.name)
    monkeypatch.setenv("NO_COLOR", "1")
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:
        (drawn,) = await screens(pilot, PLAIN.name)

    styles = {(name, one.style) for name, lines in drawn.items() for line in lines for one in line if one.style}
    colours = {(name, colour) for name, style in styles for colour in (style.color, style.bgcolor)}
    assert {(name, colour) for name, colour in colours if colour is not None and not colour.is_default} == set()
    for name, lines in drawn.items():  # no word or sign less
        assert [words_of(line) for line in lines] == [words_of(line) for line in coloured[name]]


def words_of(line: list[Segment]) -> str:
    """A line without its style."""
    return "".join(one.text for one in line)


async def test_without_colours_the_cursor_the_tab_and_what_was_found_can_be_seen(
    mixed: Dump, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        await press(pilot, "2", "slash", *"mul_1", "enter")
        strips = [list(strip) for strip in pilot.app.screen._compositor.render_strips()]
        assert shown(pilot) == ["fx", "kernels"]
        await pilot.press("g")
        await pilot.pause()
        dialog = lines_of(pilot)

    def told(name: str) -> list[str]:
        return [
            one.text.strip() for line in strips for one in line if one.style is not None and getattr(one.style, name)
        ]

    assert "2 FX" in told("reverse")
    assert "mul_1" in told("reverse")
    assert "mul_1" in told("underline")
    assert "6 Kernels" in told("underline")
    assert [one for line in dialog for one in line if one.style is not None and one.style.reverse]  # where one types
