"""Links from a node to everything about it, and to other nodes; shared by several views."""

from typing import Final, NamedTuple

IR: Final = "IR"
EVERYTHING: Final = "everything"
"""The second form of the lowering view: the node's whole page instead of its lowering."""


class Jump(NamedTuple):
    """A node of some FX graph."""

    graph: str
    """The outermost graph; empty for one of the current graph's compile."""
    mode: str
    """The FX view's name of its stage."""
    key: str
    """The key of its row."""
