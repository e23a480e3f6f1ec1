"""The list of all probes: which module of torch each one waits for, and where it is installed from.

Names are texts, so that reading the list imports neither torch nor a probe.
"""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """One probe: when the program has imported `watches`, `installer` is imported and called with the process's Probes."""

    watches: str
    """A module of torch, `torch._inductor.graph`."""
    installer: str
    """`module:function`; `function(probes: Probes) -> None` wraps what it watches in that module."""


PROBES: Final[tuple[Entry, ...]] = ()
