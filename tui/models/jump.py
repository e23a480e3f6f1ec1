"""From a node to all that is known of it, and to other nodes: what several views agree on."""

from typing import Final, NamedTuple

IR: Final = "IR"
EVERYTHING: Final = "everything"
"""What the lowering view shows of the chosen node: its way to IR, or its page."""


class Jump(NamedTuple):
    """A node of some FX graph."""

    graph: str
    """The outermost graph; empty for one of the graph at hand's own compile."""
    mode: str
    """The FX view's name of its stage."""
    key: str
    """Of its row."""
