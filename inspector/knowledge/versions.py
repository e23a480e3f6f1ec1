"""Versions of packages, to be compared."""

import re


def release(version: str) -> tuple[int, ...]:
    """Its first two numbers, `(2, 13)` of `2.13.0+cpu`; fewer if it has no more."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
