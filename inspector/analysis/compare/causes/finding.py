"""What is found out about one group of launches, before equal findings are put together."""

from collections.abc import Hashable

import msgspec

from inspect_compile.facts import Location


class Finding(msgspec.Struct, frozen=True):
    """The earliest level at which one group of launches parts, and what is there on both sides."""

    level: str
    what: str
    message: str
    key: Hashable
    """Equal for groups of launches that differ for one cause."""
    where: Location | None = None
    old_where: Location | None = None
    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()
