"""The first of many names, and how many there are more."""

from collections.abc import Sequence


def few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """`a, b and 3 more`: the first `most` of them."""
    left = len(names) - most
    return between.join(names[:most]) + (f" and {left:,} more" if left > 0 else "")
