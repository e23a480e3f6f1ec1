"""How a cost in seconds is known."""

from typing import Final

MEASURED: Final = "measured"
"""The median of at least `ENOUGH_CALLS` calls."""
TIMED: Final = "timed a few times"
"""The median of fewer calls, or the first call alone: two launches of one kernel may then differ by a factor of 50."""
ESTIMATED: Final = "estimated"
"""The least time by the roofline."""
NOT_KNOWN: Final = "not known"

ENOUGH_CALLS: Final = 10
"""So many timed calls make a median that is called measured: the true one lies between the second least and the second
largest of ten with a probability of 98 %.
"""


def sure_of(timed: int) -> str:
    """How a time is known that is the median of so many calls."""
    return MEASURED if timed >= ENOUGH_CALLS else TIMED
