"""FX graphs and their nodes, at each recorded stage."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location, Tensor


class Graph(Fact, frozen=True, kw_only=True, tag="graph"):
    """One graph that went into Inductor; written when its lowering starts."""

    table: ClassVar[str] = "graphs"
    per_graph: ClassVar[bool] = False

    kind: str
    """forward, backward or inference; for nested graphs subgraph, autotune or constants."""
    compile_id: str | None = None
    parent: str | None = None
    name: str = ""
    """torch's name: `model__0_forward_1`, `true_graph_0`."""
    inputs: Int64 = 0
    is_cpp_wrapper: bool = False
    device: str = ""
    tf32: bool | None = None
    """Whether float32 matmuls on a GPU may round their inputs to tf32; None if not known."""
    operators: dict[str, str] = msgspec.field(default_factory=dict)
    """Operators in it that a library or the program defines → the module that does: `mine::scale`."""
    kept: str = ""
    """When the compile was that its facts are of, `2026-11-25 14:33:09+00:00`, if torch took the graph from its cache
    in this run: the times in its rows are those of that compile. Empty if it was compiled in this run.
    """


class GraphEnd(Fact, frozen=True, kw_only=True, tag="graph_end"):
    """The compile of one graph ended."""

    table: ClassVar[str] = "graphs"
    per_graph: ClassVar[bool] = False

    status: str
    """compiled, failed, or stopped (the dump reached its size limit before the compile ended)."""
    seconds: float
    exception: str | None = None
    """Of a C++ compiler's errors, these and the lines that they are about, without its command line."""
    stage: str = ""
    """Of a failed compile what failed: lowering, scheduling, code generation and so on; empty if not known."""
    nodes: tuple[str, ...] = ()
    """Of a failed compile the FX nodes of what was being compiled: several where one loop computes them."""


class CallSite(Fact, frozen=True, kw_only=True, tag="call_site"):
    """One call on the way to an FX node, a break or a compile: a line, and the call that led to its function.

    Each is recorded once, however many nodes share it: together they are the tree of the calls that were traced.
    """

    table: ClassVar[str] = "call_sites"
    per_graph: ClassVar[bool] = False

    site: Int64
    """Its number, from 1."""
    caller: Int64 = 0
    """The site that called the function of this line, recorded before it; 0 for the outermost line."""
    file: str
    line: Int64
    function: str = ""
    code: str = ""


class Node(Fact, frozen=True, kw_only=True, tag="node"):
    """One FX node of one stage's graph, in graph order."""

    table: ClassVar[str] = "nodes"

    stage: str
    index: Int64
    name: str
    op: str
    """placeholder, get_attr, call_function, call_method, call_module, output."""
    target: str
    """`aten.convolution.default`; for a placeholder the name of the input."""
    inputs: tuple[str, ...] = ()
    """The nodes that it reads, in order of first use."""
    arguments: str = ""
    """args and kwargs as torch prints them."""
    users: tuple[str, ...] = ()
    values: tuple[Tensor, ...] = ()
    """One for each output tensor."""
    where: Location | None = None
    module: str = ""
    """Path of the nn.Module that ran it, `layers.0.attention`; empty at the top."""
    module_type: str = ""
    origins: tuple[str, ...] = ()
    """Nodes of earlier graphs that it comes from, nearest first (FX `from_node`)."""
    is_backward: bool = False
    original_aten: str = ""
    """The operator that it was decomposed from, if that is another one: kernels are named after it."""


class Symbol(Fact, frozen=True, kw_only=True, tag="symbol"):
    """One free symbol in the sizes of a graph."""

    table: ClassVar[str] = "symbols"

    name: str
    """`s0` for an input size, `u0` for one that is only known at run time."""
    hint: str = ""
    """Its value in the example inputs; empty if there is none."""
    lower: str = ""
    upper: str = ""
    """`int_oo` if there is no upper bound."""
    source: str = ""
    """Where it comes from, `L['x'].size()[0]`; empty for `u0`."""
    where: Location | None = None
    """The first source line that involves it."""


class DynamoNode(Node, frozen=True, kw_only=True, tag="dynamo_node"):
    """A node of Dynamo's graph; `graph` holds the compile id, in a nested graph `0/0/cond_true_0`."""

    table: ClassVar[str] = "dynamo_nodes"
    per_graph: ClassVar[bool] = False


class JointNode(Node, frozen=True, kw_only=True, tag="joint_node"):
    """A node of AOTAutograd's joint graph of forward and backward, as the partitioner receives it, after the joint
    passes.

    `graph` holds the compile id, in a nested graph `0/0/true_graph_0`.
    """

    table: ClassVar[str] = "joint_nodes"
    per_graph: ClassVar[bool] = False

    aot_graph: str = ""
    """torch's name of the joint graph, `model__0_joint_0`; the graphs cut from it also begin with `model__0_`."""
    gradient_of: str = ""
    """For a backward node, the first forward node whose gradient it contributes to (autograd's sequence numbers)."""
    policy: str = ""
    """The program's annotation about recomputing it (`torch.utils.checkpoint`): `must_save`, `prefer_recompute`."""
