"""FX graphs and their nodes, at each stage that keeps one."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location, Tensor

STAGES = ("dynamo", "joint", "aot", "post_grad")


class Graph(Fact, frozen=True, kw_only=True, tag="graph"):
    """One graph that went into Inductor, written when its lowering starts."""

    table: ClassVar[str] = "graphs"
    per_graph: ClassVar[bool] = False

    kind: str
    """forward, backward, inference; for nested ones subgraph, autotune or constants."""
    compile_id: str | None = None
    parent: str | None = None
    name: str = ""
    """What torch calls it: `model__0_forward_1`, `true_graph_0`."""
    inputs: Int64 = 0
    is_cpp_wrapper: bool = False
    device: str = ""
    tf32: bool | None = None
    """Whether matmuls of float32 on a GPU may round what they multiply to tf32; None where that is not known."""


class GraphEnd(Fact, frozen=True, kw_only=True, tag="graph_end"):
    """The compile of one graph ended."""

    table: ClassVar[str] = "graphs"
    per_graph: ClassVar[bool] = False

    status: str
    """compiled, failed, stopped (the recording ended before the compile did: the dump had its size)."""
    seconds: float
    exception: str | None = None


class Node(Fact, frozen=True, kw_only=True, tag="node"):
    """One FX node of one stage's graph, in the graph's order."""

    table: ClassVar[str] = "nodes"

    stage: str
    index: Int64
    name: str
    op: str
    """placeholder, get_attr, call_function, call_method, call_module, output."""
    target: str
    """`aten.convolution.default`; for a placeholder the input's name."""
    inputs: tuple[str, ...] = ()
    """The nodes that it reads, in order of their first use."""
    arguments: str = ""
    """args and kwargs as torch prints them."""
    users: tuple[str, ...] = ()
    values: tuple[Tensor, ...] = ()
    """One for each tensor that comes out."""
    where: Location | None = None
    module: str = ""
    """Path of the nn.Module that ran it, `layers.0.attention`; empty at the top."""
    module_type: str = ""
    origins: tuple[str, ...] = ()
    """Nodes of earlier graphs that it comes from, nearest first (FX `from_node`)."""
    is_backward: bool = False
    original_aten: str = ""
    """The operator that it was taken apart from, where it is not its own: kernels are named after it."""


class Symbol(Fact, frozen=True, kw_only=True, tag="symbol"):
    """One free symbol of a graph's sizes."""

    table: ClassVar[str] = "symbols"

    name: str
    """`s0` of an input, `u0` where only the run tells."""
    hint: str = ""
    """The value that it had in the example; empty where there is none."""
    lower: str = ""
    upper: str = ""
    """`int_oo`: no end."""
    source: str = ""
    """What it is, `L['x'].size()[0]`; empty for `u0`."""
    where: Location | None = None
    """The first user line that has to do with it."""


class DynamoNode(Node, frozen=True, kw_only=True, tag="dynamo_node"):
    """A node of Dynamo's graph; `graph` holds the compile id, of a graph nested in it `0/0/cond_true_0`."""

    table: ClassVar[str] = "dynamo_nodes"
    per_graph: ClassVar[bool] = False


class JointNode(Node, frozen=True, kw_only=True, tag="joint_node"):
    """A node of AOTAutograd's graph of forward and backward, as the partitioner gets it: after the joint passes.

    `graph` holds the compile id, of a graph nested in it `0/0/true_graph_0`.
    """

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """torch's name of the joint graph, `model__0_joint_0`; its parts begin with `model__0_` too."""
    gradient_of: str = ""
    """Of a node of the backward the first node of the forward whose gradient it is a part of (autograd's sequence
    numbers)."""
    policy: str = ""
    """What the program says of computing it again (`torch.utils.checkpoint`): `must_save`, `prefer_recompute`."""
