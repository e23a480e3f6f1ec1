"""A share as a bar of text."""

from typing import Final

LONGEST: Final = 12
"""Number of columns of a whole."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def bar_text(share: float, longest: int = LONGEST) -> str:
    """The bar of a share from 0 to 1, of which a whole has `longest` columns."""
    eighths = round(longest * 8 * share)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
