"""How the joint graph of forward and backward was partitioned."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location


class Partition(Fact, frozen=True, kw_only=True, tag="partition"):
    """The partition of one joint graph; `graph` holds the compile id."""

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """As in `joint_node`."""
    partitioner: str = ""
    """The function that decided: `min_cut_rematerialization_partition`, `default_partition`, or the program's own."""
    defined: str = ""
    """Its place, `torch/_functorch/partitioners.py:3725`."""
    custom: str = ""
    """Class of Inductor's `custom_partitioner_fn`, if the program has set one; it may call torch's own."""
    budget: float | None = None
    """The `activation_memory_budget` that counted, 0 to 1; None where no minimum cut was asked for."""
    cuts: Int64 = 0
    """Number of min cuts that were computed; a budget below 1 takes several."""
    cut: Int64 = 0
    """Number of the cut that was taken, from 1; 0 if none was: only what the program holds anyway is saved."""
    bans: tuple[str, ...] = ()
    """The rules in force for the cut that was taken, such as `ban_if_reduction`: they forbid some recomputation."""
    lifted: Int64 = 0
    """Number of values that the budget exempted from these rules, one by one."""
    forward: Int64 = 0
    """Number of operators in the forward graph."""
    backward: Int64 = 0
    """Number of operators in the backward graph, including recomputed ones."""


class Saved(Fact, frozen=True, kw_only=True, tag="saved"):
    """The partitioner's decision about one value of the forward that the backward needs."""

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """As in `joint_node`."""
    node: str
    """Name in the joint graph."""
    decision: str
    """`saved` (the forward returns it) or `recomputed` (both graphs compute it)."""
    bytes: Int64 | None = None
    """Of the whole memory that it is in, or would be in; None for numbers."""
    size: str = ""
    """The bytes as an expression, where they have symbols: `256*s77`."""
    of: str = ""
    """Whose memory that is, where it takes none of its own: an input, what the program is given, another value that is
    saved.
    """
    is_input: bool = False
    """It came in, as a parameter or another input; the forward may return a copy of it in another layout."""
    is_static: bool | None = None
    """For an input and a view of one: whether it is a parameter or a buffer, which stays alive; the program may drop
    any other before the backward. None if it is no input, or torch does not say.
    """
    is_needed: bool = False
    """The backward itself reads it; else only what is recomputed does."""
    readers: tuple[str, ...] = ()
    """The first nodes of the backward that read it, at most 8, without those that are computed again."""
    policy: str = ""
    """`JointNode.policy`, with what torch added before the cut."""
    banned: str = ""
    """torch's words for why it was not to be computed again: `compute intensive op`, `reduction op`, `marked
    MUST_SAVE`; for what torch bans without a word `used far apart`, `long fusible chain`, `used far apart or long
    fusible chain` where either can be, else `no reason recorded`.
    """
    lifted: str = ""
    """The same of the first cut, where the one that was taken no longer has it: the budget asked for more."""
    unsavable: str = ""
    """torch's words for why it was not to be saved."""
    weight: Int64 | None = None
    """What saving it counted as in the cut: bytes, times 1.1 for each node between it and the backward, doubled where
    it would else be fused away; None where nothing was counted.
    """
    where: Location | None = None
    """The user's line."""
