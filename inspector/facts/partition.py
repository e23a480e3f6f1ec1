"""How the joint graph of forward and backward was partitioned."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location


class Partition(Fact, frozen=True, kw_only=True, tag="partition"):
    """The partition of one joint graph; `graph` holds the compile id."""

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """As in JointNode."""
    partitioner: str = ""
    """The function that decided: `min_cut_rematerialization_partition`, `default_partition`, or the program's own."""
    defined: str = ""
    """`torch/_functorch/partitioners.py:3725`."""
    custom: str = ""
    """Class of Inductor's `custom_partitioner_fn`, if the program has set one; it may call torch's own."""
    budget: float | None = None
    """`activation_memory_budget` for this graph, 0 to 1; None if no min cut was computed."""
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
    """As in JointNode."""
    node: str
    """Name in the joint graph."""
    decision: str
    """saved (the forward returns it) or recomputed (the backward computes it again)."""
    bytes: Int64 | None = None
    """Bytes of its storage, with symbols at their hints; None for numbers."""
    size: str = ""
    """The bytes as an expression, if symbolic: `256*s77`."""
    of: str = ""
    """If it is a view: the input or output of the program, or the saved value, whose memory it shares."""
    is_input: bool = False
    """True for a parameter or another input. The forward may return a copy of it, in another layout."""
    is_static: bool | None = None
    """For an input and a view of one: whether it is a parameter or a buffer, which stays alive; the program may drop
    any other before the backward. None if it is no input, or torch does not say.
    """
    is_needed: bool = False
    """True if the backward itself reads it; else only recomputed nodes do."""
    readers: tuple[str, ...] = ()
    """The first nodes of the backward that read it, without recomputed ones."""
    policy: str = ""
    """`JointNode.policy`, with what torch added before the cut."""
    banned: str = ""
    """torch's words why it must not be recomputed; `no reason told` if it gives none."""
    lifted: str = ""
    """The same for the first cut, if the budget removed the ban from the cut that was taken."""
    unsavable: str = ""
    """torch's words why it must not be saved."""
    weight: Int64 | None = None
    """The cost of saving it in the cut: its bytes, increased if it is far from the backward or would be fused away."""
    where: Location | None = None
