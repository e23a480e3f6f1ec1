"""What rewrote the FX graphs on their way to lowering."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class Edit(msgspec.Struct, frozen=True, gc=False):
    """A change of one node."""

    what: str
    """`added`, `removed`, `changed`."""
    node: str
    """Its name."""
    before: str = ""
    """Its target and arguments before, `aten.view.default(%mul, [8, 4])`; empty if it was added."""
    after: str = ""
    """The same after it; empty if it was removed."""
    where: Location | None = None
    """The source line."""
    replaces: tuple[str, ...] = ()
    """Of an added node those that its users, or the users of what is made of it, read in its place before."""


class Pass(Fact, frozen=True, kw_only=True, tag="pass"):
    """One pass, or other code, that ran over an FX graph, and what it alone changed.

    `graph` is the graph that is lowered, or the compile id for what ran before Inductor had one.
    """

    table: ClassVar[str] = "passes"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Position among all passes of the process, in the order in which they began."""
    parent: Int64 | None
    """The `index` of the one that it ran inside of; None for a stage."""
    stage: str
    """`pre_grad` (Dynamo's graph), `joint` (what AOTAutograd traced, backward included), `post_grad` (what is lowered).
    """
    kind: str
    """`stage`, `pass`, `pattern`, `function` (an edit that torch does not run as a pass), `unknown`."""
    name: str
    """torch's name, of an unnamed pattern pass the variable that holds it; a nested graph's stage is
    `joint/true_graph_0`.
    """
    defined: str = ""
    """Function and place; of a pattern the function that it was traced from, or that replaces it."""
    seconds: float = 0.0
    """Duration, including passes inside it, without the time of recording."""
    before: Int64 = 0
    """Number of nodes of the graph before it."""
    after: Int64 = 0
    """Number of nodes after it."""
    matched: tuple[str, ...] = ()
    """Of a pattern the nodes that it matched."""
    edits: tuple[Edit, ...] = ()
    """One for each node that it changed itself, without those of passes inside it."""
    moved: tuple[str, ...] = ()
    """Nodes that stand elsewhere in the order: the fewest that explain it."""
    error: str = ""
    """The exception that it raised."""
