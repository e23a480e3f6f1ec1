"""What a finding, or a missed fusion, is about: an FX node, its operator and its line."""

import msgspec

from inspect_compile.facts import Location


class Part(msgspec.Struct, frozen=True):
    """What one of two scheduler nodes does with the buffer that they share."""

    node: str
    """The FX node."""
    operator: str
    """The same in the program's words: `softmax`; empty if there is no node."""
    where: Location | None
