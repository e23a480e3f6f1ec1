"""How a cost in seconds is known."""

from typing import Final

MEASURED: Final = "measured"
ESTIMATED: Final = "estimated"
"""The least time by the roofline."""
NOT_KNOWN: Final = "not known"
