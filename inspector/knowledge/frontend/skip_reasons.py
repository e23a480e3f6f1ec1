"""torch's reasons for not compiling a frame."""

from typing import Final

_NEEDS_NONE: Final = ("no tensor-related objects", "no content in function")


def computes_nothing(reason: str) -> bool:
    """True for a frame in which there is nothing to compile."""
    return any(words in reason for words in _NEEDS_NONE)
