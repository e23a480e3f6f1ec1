"""Colours that can be read, and told apart by people who see fewer of them."""

import math
from itertools import combinations

import pytest

from inspect_compile.tui.palette import DARK, LIGHT, PLAIN, ROLES, Looks, looks_for

SEEN_BY = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB."""

Colour = tuple[float, float, float]


def linear(colour: str) -> Colour:
    """`#7aa2f7` as linear RGB."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (red, green, blue))  # type: ignore[return-value]


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""
    by = (0.2126, 0.7152, 0.0722)
    light = sorted(sum(part * factor for part, factor in zip(linear(each), by, strict=True)) for each in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def lab(colour: Colour) -> Colour:
    """CIE Lab under D65."""
    red, green, blue = colour
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = (0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883
    fx, fy, fz = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def seen(colour: str, by: str) -> Colour:
    """The colour as it is seen."""
    parts = linear(colour)
    found = (sum(part * factor for part, factor in zip(parts, row, strict=True)) for row in SEEN_BY[by])
    return lab(tuple(min(1.0, max(0.0, one)) for one in found))  # type: ignore[arg-type]


@pytest.mark.parametrize("looks", [DARK, LIGHT], ids=["dark", "light"])
def test_every_text_can_be_read_on_every_row(looks: Looks) -> None:
    of = looks.colours
    texts = {word for role in ROLES.values() if " on " not in f" {role}" for word in role.split() if word in of}
    for text in texts:
        for ground in ("background", "surface", "panel", "cursor-blurred"):
            assert contrast(of[text], of[ground]) >= 4.5, (text, ground)
        for ground in ("marked", "linked", "cursor"):
            assert contrast(of[text], of[ground]) >= (3.5 if text in ("muted", "comment") else 4.5), (text, ground)
    for text, ground in (("background", "warning"), ("background", "primary"), ("foreground", "seen")):
        assert contrast(of[text], of[ground]) >= 4.5, (text, ground)


@pytest.mark.parametrize("looks", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("by", SEEN_BY)
def test_good_and_bad_are_told_apart(looks: Looks, by: str) -> None:
    for one, other in combinations(("success", "warning", "error"), 2):
        apart = math.dist(seen(looks.colours[one], by), seen(looks.colours[other], by))
        assert apart >= 15, (one, other)


def test_both_themes_have_the_same_colours() -> None:
    assert DARK.colours.keys() == LIGHT.colours.keys()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, DARK),
        ({"COLORFGBG": "15;0"}, DARK),
        ({"COLORFGBG": "0;15"}, LIGHT),
        ({"COLORFGBG": "0;default;15"}, LIGHT),
        ({"COLORFGBG": "0;15", "INSPECT_COMPILE_THEME": "dark"}, DARK),
        ({"INSPECT_COMPILE_THEME": "light"}, LIGHT),
        ({"INSPECT_COMPILE_THEME": "mauve"}, DARK),
        ({"NO_COLOR": "1", "INSPECT_COMPILE_THEME": "light"}, PLAIN),
    ],
)
def test_the_theme_is_that_of_the_terminal(environment: dict[str, str], expected: Looks) -> None:
    assert looks_for(environment) is expected
