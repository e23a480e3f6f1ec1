"""What rewrote the FX graphs on their way to lowering."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Edit(msgspec.Struct, frozen=True, gc=False):
    """One node that is not as it was."""

    what: str
    """added, removed or changed."""
    node: str
    before: str = ""
    """`aten.view.default(%mul, [8, 4])`; empty where it was added."""
    after: str = ""
    """Empty where it was removed."""
    where: Location | None = None
    """The user's line."""
    replaces: tuple[str, ...] = ()
    """Of an added node those that its users, or the users of what is made of it, read in its place before."""


class Pass(Fact, frozen=True, kw_only=True, tag="pass"):
    """One thing that ran over an FX graph, and what it alone changed.

    `graph` is the graph that is lowered, for what ran before Inductor had one the compile id.
    """

    table: ClassVar[str] = "passes"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Position among all passes of the process, in the order in which they began."""
    parent: Int64 | None
    """The one that it ran inside of; None for a stage."""
    stage: str
    """pre_grad, joint or post_grad."""
    kind: str
    """stage, pass, pattern, function (an edit that torch does not run as a pass) or unknown (between all others)."""
    name: str
    """torch's name: of a pass, of the function that finds a pattern, of a stage, `post_grad/true_graph_0`."""
    defined: str = ""
    """`view_to_reshape torch/_inductor/fx_passes/post_grad.py:1520`; of a pattern what it is replaced by."""
    seconds: float = 0.0
    """Without what watching it took; what ran inside of it included."""
    before: Int64 = 0
    """Nodes of the graph."""
    after: Int64 = 0
    matched: tuple[str, ...] = ()
    """Of a pattern the nodes that it matched."""
    edits: tuple[Edit, ...] = ()
    """Without those of what ran inside of it."""
    moved: tuple[str, ...] = ()
    """Nodes that stand elsewhere in the order, the fewest that explain it."""
    error: str = ""
    """What it raised."""
