"""The record of what one line of the program, or several that one kernel computes, costs."""

import msgspec

from inspect_compile.facts import Location


class LineCost(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="line_cost"):
    """The launches of one call of each graph that compute the same lines. `show --json` prints these."""

    lines: tuple[Location, ...]
    """The user's own lines; several if one kernel computes them, for its cost is not divided. Inside another row the
    lines that they lead to in libraries. Empty if no line is known.
    """
    is_inner: bool = False
    """True for a part of the last row that is not: the most expensive launches with these lines of libraries."""
    graph: str
    """The first graph with such a launch."""
    launches: int
    seconds: float | None
    """Seconds on the device; None if they were not measured, and the device's figures are not known."""
    sure: str
    """measured, estimated (the least time by the roofline), or not known."""
    bytes: int
    """Bytes read and written, each element of a buffer once per launch, as far as known."""
    unknown: int = 0
    """Number of launches whose bytes are not fully known."""
    flops: int
    share: float
    """Share of the seconds of all launches; where they are not known, of the bytes; of the FLOPs if no bytes are."""
