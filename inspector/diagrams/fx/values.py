"""The nodes of an FX graph that are worth a box, and which of them each reads: views, constants and parameters are left
out unless asked for. Pure.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from inspect_compile.facts import JointNode, Node
from inspect_compile.graph import Id
from inspect_compile.knowledge.frontend.operator_names import operator_name

VIEWS: Final = frozenset(
    {
        "_unsafe_view", "alias", "as_strided", "chunk", "contiguous_view", "detach", "expand", "flatten", "movedim",
        "permute", "reshape", "select", "slice", "split", "split_with_sizes", "squeeze", "t", "transpose", "unbind",
        "unfold", "unsqueeze", "unsafe_view", "view", "view_as", "getitem",
    }
)  # fmt: skip
"""Operators that move nothing, as programs write them."""
HEAVY: Final = frozenset(
    {
        "addmm", "baddbmm", "conv1d", "conv2d", "conv3d", "convolution", "convolution_backward", "einsum", "linear",
        "matmul", "scaled_dot_product_attention", "scaled_dot_product_flash_attention_backward",
    }
)  # fmt: skip
"""Operators that most of the time usually goes to."""
_FEW_INPUTS: Final = 8
"""Up to this many inputs have boxes where it is not known which of them are parameters."""


class Value(NamedTuple):
    """A node with a box."""

    node: Node
    reads: tuple[int, ...]
    """Positions of the values that it reads, directly or through views."""
    hidden: tuple[str, ...]
    """Parameters and constants that it reads."""

    @property
    def operator(self) -> str:
        """What it calls, as the program writes it."""
        return operator_name(self.node.target) if self.node.op.startswith("call") else self.node.op


def key_of(node: Node) -> Id:
    """Names are unique in one graph; joint graphs of one compile share the compile's id."""
    return Id(f"{node.graph} {node.aot_graph}" if isinstance(node, JointNode) else node.graph, node.name)


def values(nodes: Sequence[Node], arguments: Collection[Id] | None, *, everything: bool) -> list[Value]:
    """The nodes with a box, in order. `arguments`: inputs that are no parameters, None if that is not known."""
    count = sum(node.op == "placeholder" for node in nodes)
    found: list[Value] = []
    reads: dict[Id, tuple[int, ...]] = {}
    hidden: dict[Id, tuple[str, ...]] = {}
    for node in nodes:
        key = key_of(node)
        graph = key[0]
        own = tuple(dict.fromkeys(place for name in node.inputs for place in reads.get(Id(graph, name), ())))
        given = tuple(dict.fromkeys(one for name in node.inputs for one in hidden.get(Id(graph, name), ())))
        if not everything and is_view(node):
            reads[key], hidden[key] = own, given
            continue
        if not everything and node.op == "placeholder":
            is_shown = count <= _FEW_INPUTS if arguments is None else key in arguments
        else:
            is_shown = everything or node.op != "get_attr"
        if is_shown:
            reads[key] = (len(found),)
            found.append(Value(node, own, given))
        else:
            hidden[key] = (node.name,)
    return found


def is_view(node: Node) -> bool:
    """True for a node that passes one value on. One that reads several has a box, so that nothing is lost."""
    return (
        node.op.startswith("call")
        and len(node.inputs) == 1
        and (operator_name(node.target) in VIEWS or operator_name(node.target).rpartition("::")[2] in VIEWS)
    )
