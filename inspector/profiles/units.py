"""Numbers as tools print them."""

from typing import Final

_MICROSECONDS: Final = {"n": 1e-3, "u": 1.0, "µ": 1.0, "m": 1e3, "s": 1e6}
"""First letter of a time unit → microseconds; ns, nsecond, us, usecond, ms, second."""


def number(text: str) -> float:
    """`6,093` and `1.5`."""
    return float(text.replace(",", "") or 0)


def microseconds(text: str, unit: str) -> float:
    """`text` as a time in `unit`; 0 if it is none."""
    try:
        return number(text) * _MICROSECONDS[unit.strip()[:1]]
    except (ValueError, KeyError):
        return 0.0
