"""What a finding, or a missed fusion, is about: an FX node, its operator and its line."""

import msgspec

from inspect_compile.facts import Location


class FindingSite(msgspec.Struct, frozen=True):
    """A place in the graph and the program that a finding, or a missed fusion, is about."""

    node: str
    """The FX node."""
    operator: str
    """The same in the program's words: `softmax`; empty if there is no node."""
    where: Location | None
