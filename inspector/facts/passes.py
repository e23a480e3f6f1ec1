"""What rewrote the FX graphs on their way to lowering."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Edit(msgspec.Struct, frozen=True, gc=False):
    """A change of one node."""

    what: str
    """added, removed or changed."""
    node: str
    before: str = ""
    """`aten.view.default(%mul, [8, 4])`; empty if it was added."""
    after: str = ""
    """Empty if it was removed."""
    where: Location | None = None
    """Source line."""
    replaces: tuple[str, ...] = ()
    """Of an added node those that its users, or the users of what is made of it, read in its place before."""


class Pass(Fact, frozen=True, kw_only=True, tag="pass"):
    """One pass, or other code, that ran over an FX graph, and what it alone changed.

    `graph` is the graph that is lowered, or the compile id for what ran before Inductor had one.
    """

    table: ClassVar[str] = "passes"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Index among all passes of the process, in the order in which they began."""
    parent: Int64 | None
    """The pass that it ran inside of; None for a stage."""
    stage: str
    """pre_grad, joint or post_grad."""
    kind: str
    """stage, pass, pattern, function (an edit outside of passes) or unknown (changes between all others)."""
    name: str
    """torch's name of the pass, of the function that finds a pattern, or of a stage: `post_grad/true_graph_0`."""
    defined: str = ""
    """`view_to_reshape torch/_inductor/fx_passes/post_grad.py:1520`; for a pattern, its replacement."""
    seconds: float = 0.0
    """Duration, including passes inside it, without the time of recording."""
    before: Int64 = 0
    """Number of nodes."""
    after: Int64 = 0
    matched: tuple[str, ...] = ()
    """For a pattern, the nodes that it matched."""
    edits: tuple[Edit, ...] = ()
    """Its edits, without those of passes inside it."""
    moved: tuple[str, ...] = ()
    """Nodes whose position changed: a minimal set that explains the new order."""
    error: str = ""
    """The exception that it raised."""
