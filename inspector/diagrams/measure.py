"""Estimates the width of a text in Helvetica, Arial and Liberation Sans, to size a shape around it."""

from typing import Final

_WIDTHS: Final = {
    **dict.fromkeys("ijl'|", 0.22),
    **dict.fromkeys(" !,./:;I[]\\ft", 0.28),
    **dict.fromkeys("()-r`{}*", 0.34),
    **dict.fromkeys("ckJsvxyz", 0.5),
    **dict.fromkeys("ABEKPSVXYFTZ", 0.66),
    **dict.fromkeys("CDHNRUGOQwm&", 0.76),
    **dict.fromkeys("MW%@…", 0.95),
}
"""Widths as a fraction of the font size, from the fonts' published metrics; other characters are as wide as a digit."""

_DIGIT: Final = 0.56
_BOLD: Final = 1.07


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of `text` in points at a font of `size` points."""
    return sum(_WIDTHS.get(letter, _DIGIT) for letter in text) * size * (_BOLD if bold else 1)
