"""Every private torch name that is used, as data: where it is, in which versions it was found, and why it is needed.

Imports nothing.
"""

from typing import NamedTuple


class Name(NamedTuple):
    """A torch name below `module`: `Class.method`, a class or a function."""

    module: str
    attribute: str
    versions: str
    """The torch versions that it was seen in."""
    reason: str

    def __str__(self) -> str:
        return f"{self.module}.{self.attribute}"
