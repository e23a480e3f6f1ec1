"""How the joint graph of forward and backward was cut in two."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location


class Partition(Fact, frozen=True, kw_only=True, tag="partition"):
    """One joint graph was cut; `graph` holds the compile id."""

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """As of the joint nodes."""
    partitioner: str = ""
    """The function that chose: `min_cut_rematerialization_partition`, `default_partition`, or the program's own."""
    defined: str = ""
    """`torch/_functorch/partitioners.py:3725`."""
    custom: str = ""
    """The class of Inductor's `custom_partitioner_fn`, where the program has set one; it may call torch's own."""
    budget: float | None = None
    """`activation_memory_budget` of this graph, 0 to 1; None where no minimum cut was asked for."""
    cuts: Int64 = 0
    """Minimum cuts that were computed; a budget below 1 takes several."""
    cut: Int64 = 0
    """Which of them was taken, from 1; 0: none, only what the program holds anyway is kept."""
    bans: tuple[str, ...] = ()
    """The rules of the one that was taken, `ban_if_reduction`: by which values are not to be computed again."""
    lifted: Int64 = 0
    """Values that the budget freed from those rules, one by one."""
    forward: Int64 = 0
    """Operators of the forward graph."""
    backward: Int64 = 0
    """Operators of the backward graph, those that are computed again included."""


class Saved(Fact, frozen=True, kw_only=True, tag="saved"):
    """What the partitioner decided of one value of the forward that the backward needs."""

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """As of the joint nodes."""
    node: str
    """Of the joint graph."""
    decision: str
    """saved (the forward returns it) or recomputed (the backward computes it again)."""
    bytes: Int64 | None = None
    """Of its storage, symbols at their hints; None for numbers."""
    size: str = ""
    """The bytes as an expression, where they have symbols: `256*s77`."""
    of: str = ""
    """Whose memory it is a view of: an input of the program, a value that it gets, or one that is saved anyway."""
    is_input: bool = False
    """It came in, as a parameter or another input. The forward may return a copy of it, in another layout."""
    is_static: bool | None = None
    """Of an input, and of a view of one: is that a parameter or a buffer, which stays? The program may let go of any
    other before the backward. None: it is no input, or torch does not say."""
    is_needed: bool = False
    """The backward itself reads it; else only what is recomputed does."""
    readers: tuple[str, ...] = ()
    """The first nodes of the backward that read it, without those that are themselves recomputed."""
    policy: str = ""
    """`JointNode.policy`, with what torch has added to it before the cut."""
    banned: str = ""
    """torch's words for why it was not to be computed again; `no reason told` where it has none."""
    lifted: str = ""
    """The same of the first cut, where the one that was taken no longer had it: the budget asked for more."""
    unsavable: str = ""
    """torch's words for why it was not to be saved."""
    weight: Int64 | None = None
    """What saving it counted as in the cut: bytes, more for what is far from the backward or would be fused away."""
    where: Location | None = None
