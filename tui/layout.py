"""Which views are shown side by side, depending on the width of the screen."""

from typing import Final

VIEWS: Final = ("source", "fx", "passes", "ir", "fusion", "cost", "memory", "kernels", "output", "program")
"""All views, from left to right."""

MEDIUM: Final = 120
WIDE: Final = 160
"""Minimum widths of the screen for two and three views side by side."""

Slots = tuple[tuple[str, ...], ...]

NARROW_SLOTS: Final[Slots] = (VIEWS,)
MEDIUM_SLOTS: Final[Slots] = (VIEWS[:7], VIEWS[7:])
WIDE_SLOTS: Final[Slots] = (VIEWS[:1], VIEWS[1:7], VIEWS[7:])


def tree_width(width: int) -> int:
    """Width of the tree on a screen of `width` columns."""
    return 24 if width >= MEDIUM else 20


def slots(width: int) -> Slots:
    """The slots of a screen, each with the views of which it shows one."""
    if width >= WIDE:
        return WIDE_SLOTS
    return MEDIUM_SLOTS if width >= MEDIUM else NARROW_SLOTS


def shown(width: int, active: str, latest: tuple[str, ...]) -> tuple[str, ...]:
    """The visible views: the active one, and in the other slots the one that was last active there."""
    return tuple(
        active if active in slot else next((view for view in latest if view in slot), slot[0]) for slot in slots(width)
    )
