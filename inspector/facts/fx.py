"""FX graphs and their nodes, at each recorded stage."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location, Tensor


class Graph(Fact, frozen=True, kw_only=True, tag="graph"):
    """One graph that went into Inductor; written when its lowering starts."""

    table: ClassVar[str] = "graphs"
    per_graph: ClassVar[bool] = False

    kind: str
    """`forward`, `backward`, `inference`; for nested ones `subgraph`, `autotune` (tried and thrown away) or
    `constants`; `kernels`: no graph, but Triton's kernels of which no graph is known.
    """
    compile_id: str | None = None
    """Dynamo's, None where no frame was compiled (`torch.export`, AOTInductor)."""
    parent: str | None = None
    """The graph around a nested one."""
    name: str = ""
    """torch's name: `model__0_forward_1`, `true_graph_0`."""
    inputs: Int64 = 0
    """Number of placeholders."""
    is_cpp_wrapper: bool = False
    """The wrapper is C++."""
    device: str = ""
    """Of its values."""
    tf32: bool | None = None
    """Whether matmuls of float32 on a GPU may round what they multiply to tf32; None where torch does not say."""
    operators: dict[str, str] = msgspec.field(default_factory=dict)
    """Operators in it that `torch.library.custom_op` defined → the module that defines them."""
    kept: str = ""
    """With `--cache auto`, where torch took the graph from its cache: when it was compiled and its facts recorded,
    `2026-11-25 14:33:09+00:00`: the times in its rows are of that compile; empty where it was compiled in this run.
    """


class GraphEnd(Fact, frozen=True, kw_only=True, tag="graph_end"):
    """The compile of one graph ended."""

    table: ClassVar[str] = "graphs"
    per_graph: ClassVar[bool] = False

    status: str
    """`compiled`, `failed`; `stopped`: the dump had its size before the compile ended."""
    seconds: float
    """From the first look to the end."""
    exception: str | None = None
    """Of a failed compile; of a C++ compiler its errors and the lines that they are about, without its command line."""
    stage: str = ""
    """Of a failed compile what failed: `lowering`, `scheduling`, `code generation`, `compiling the generated code`;
    empty if not known.
    """
    nodes: tuple[str, ...] = ()
    """Of a failed compile the FX nodes of what was being compiled, several where one loop computes them; empty if not
    known.
    """


class CallSite(Fact, frozen=True, kw_only=True, tag="call_site"):
    """One call on the way to an FX node, a break or a compile: a line, and the call that led to its function.

    Each is recorded once, however many nodes share it: together they are the tree of the calls that were traced.

    `graph` is empty.
    """

    table: ClassVar[str] = "call_sites"
    per_graph: ClassVar[bool] = False

    site: Int64
    """Its number, from 1."""
    caller: Int64 = 0
    """The site that called the function of this line, always an earlier one; 0 for the outermost."""
    file: str
    """The file of the line."""
    line: Int64
    """The line in it."""
    function: str = ""
    """The function that the line is in."""
    code: str = ""
    """The line's text, where it could be read."""


class Node(Fact, frozen=True, kw_only=True, tag="node"):
    """One FX node of one stage's graph, in graph order."""

    table: ClassVar[str] = "nodes"

    stage: str
    """`dynamo`, `joint`, `aot`, `post_grad`."""
    index: Int64
    """Position in the graph."""
    name: str
    """FX name."""
    op: str
    """`placeholder`, `get_attr`, `call_function`, `call_method`, `call_module`, `output`."""
    target: str
    """`aten.convolution.default`; for a placeholder the input's name."""
    inputs: tuple[str, ...] = ()
    """Nodes that it reads, in order of first use."""
    arguments: str = ""
    """Args and kwargs in one line, nodes as `%name`."""
    users: tuple[str, ...] = ()
    """Nodes that read it."""
    values: tuple[Tensor, ...] = ()
    """One for each tensor that comes out."""
    where: Location | None = None
    """The user's line."""
    module: str = ""
    """Path of the nn.Module that ran it, `layers.0.attention`; empty at the top."""
    module_type: str = ""
    """Class of that module."""
    origins: tuple[str, ...] = ()
    """Nodes of earlier graphs that it comes from, nearest first (FX `from_node`); of one that a pass made without any,
    those of what it stands for.
    """
    is_backward: bool = False
    """It came from autograd."""
    original_aten: str = ""
    """The operator that it was decomposed from, where that is not its own: kernels are named after it."""


class Symbol(Fact, frozen=True, kw_only=True, tag="symbol"):
    """One free symbol in the sizes of a graph; a nested graph has rows of its own."""

    table: ClassVar[str] = "symbols"

    name: str
    """`s0` for an input size, `u0` for one that is only known at run time."""
    hint: str = ""
    """Its value in the example, as text; empty where there is none."""
    lower: str = ""
    """The lower end of its range, as a text."""
    upper: str = ""
    """The upper end, as a text; `int_oo` if there is none."""
    source: str = ""
    """What it stands for: `L['x'].size()[0]`; empty for `u0`."""
    where: Location | None = None
    """The first user line whose value or inputs hold it."""


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
    """torch's name of the graph, `model__0_joint_0`; the names of its parts begin with `model__0_` too."""
    gradient_of: str = ""
    """Of a node of the backward the first node of the forward whose gradient it is a part of, as autograd numbers them.
    """
    policy: str = ""
    """What the program says of computing it again (`torch.utils.checkpoint`): `must_save`, `prefer_recompute`,
    `must_recompute` …; mostly empty.
    """
