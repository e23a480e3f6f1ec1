"""Which views are shown side by side, depending on the width of the screen."""

from itertools import pairwise
from typing import Final

VIEWS: Final = ("source", "fx", "passes", "ir", "fusion", "cost", "memory", "numerics", "kernels", "output", "program")
"""All views, from left to right."""

MEDIUM: Final = 120
WIDE: Final = 160
"""Minimum widths of the screen for two and three views side by side."""


def tree_width(width: int) -> int:
    """Width of the tree on a screen of `width` columns."""
    return 24 if width >= MEDIUM else 20


def shown(width: int, active: str, latest: tuple[str, ...]) -> tuple[str, ...]:
    """One view of each slot of the screen: the active one, in the other slots the one that was last active there."""
    cuts = (1, 8) if width >= WIDE else (8,) if width >= MEDIUM else ()
    slots = (VIEWS[first:last] for first, last in pairwise((0, *cuts, len(VIEWS))))
    return tuple(
        active if active in slot else next((view for view in latest if view in slot), slot[0]) for slot in slots
    )
