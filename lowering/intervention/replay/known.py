"""What is known of a recorded graph besides its text. Imports no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

TensorText = tuple[str, Sequence[int | str], Sequence[int | str], str]
"""dtype, size, stride and device of a tensor: `("float32", [8, "s0"], ["s0", 1], "cuda:0")`."""


class OwnValues(TypedDict):
    """What was recorded of a call of an operator that torch does not define."""

    outputs: Mapping[str, TensorText]
    """Index of each tensor that it returns and that is read → what it is; the index of the only one that is no part of
    a tuple is empty.
    """
    tensors: Sequence[str]
    """Those of the nodes that it reads that are tensors."""
    is_read: bool
    """Whether another node reads what it returns."""


@dataclass(frozen=True)
class Known:
    """What the dump knows of a graph, and its text does not say."""

    graph: str
    kind: str
    compile_id: str = ""
    operators: Mapping[str, str] = field(default_factory=dict)
    """Operators that a library or the program defined → the module that did."""
    own: Mapping[str, OwnValues] = field(default_factory=dict)
    """Node that calls an operator that torch does not define → what is known of that call."""
    attributes: Mapping[str, TensorText] = field(default_factory=dict)
    """Node that reads a parameter or a constant of the graph → what it is."""
    visible: Sequence[int] = ()
    """The outputs that the program receives, not the backward."""
    unbacked: Sequence[int] = ()
    """Numbers of the symbols for sizes that are only known at run time."""
    static: Sequence[str] = ()
    """Inputs whose memory is always the same, and aligned."""
    donated: Sequence[str] = ()
    """Inputs whose memory may be reused."""
    first: Sequence[str] = ()
    """The nodes up to the last input, in order, if not all of them are inputs."""
    originals: Mapping[str, str] = field(default_factory=dict)
    """Node → the operator that it was decomposed from. Here and below a node of a subgraph is prefixed with that:
    `true_graph_0/add`.
    """
    origins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Node → the nodes of earlier graphs that it comes from, nearest first."""
    stacks: Mapping[str, str] = field(default_factory=dict)
    """Node → the source line, in the form of a traceback."""
    modules: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Node → path and type of its nn.Module."""
    backward: Sequence[str] = ()
    """Nodes that come from autograd."""
