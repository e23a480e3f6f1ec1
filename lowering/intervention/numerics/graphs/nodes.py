"""What an FX node does that matters to a check: it draws random numbers, changes memory, orders equal elements, …"""

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_aggregate

from inspect_compile.lowering.intervention.numerics.graphs.mutations import (
    changed_without_copy,
    launches_own_kernel,
    written_by_kernel,
)
from inspect_compile.lowering.intervention.numerics.graphs.patterns import pattern_of

Found = TypeVar("Found")

RANDOM: Final = "prims.inductor_random.default"
RANDINT: Final = "prims.inductor_randint.default"
_OF_ROWS: Final = "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"
"""Torch (2.13) computes something else of arguments whose last dimension has another stride than 1."""
_BITS: Final = ("aten.view.dtype", "prims.view_element_type.default")
"""These take the bits of a value for another type: there are none of an exact value."""
_IN_PLACE: Final = "_inplace_generalized_scatter"
"""A function of torch's that changes its first argument; operators say so in their schema."""
_DENSE: Final = ("flex_attention", "flex_attention_backward")
"""Operators that run their nested graphs themselves, in the dtypes of what they are given."""
_CALLING: Final = (
    "auto_functionalized",
    "auto_functionalized_v2",
    "with_effects",
    "out_dtype",
    "cond",
    "while_loop",
    "while_loop_stack_output",
    "map_impl",
    "scan",
    "associative_scan",
    "invoke_subgraph",
    "control_deps",
    "hints_wrapper",
)
"""Higher-order operators that do nothing but call an operator, or graphs that are nested in theirs."""
_UNINITIALIZED: Final = ("aten.empty", "aten.new_empty")
"""How the names of operators begin that give memory as it is."""
_STATES: Final = ("philox_seed", "philox_offset", "rng_state", "unused", "debug_attn_mask")
"""What the schemas of attentions call the state of their random numbers, and what they leave empty."""
_COLLECTIVES: Final = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
"""Operators of these namespaces take part in collectives, which all ranks must call equally often."""
_CONVOLUTIONS: Final = ("convolution", "convolution_backward")
_MATMULS: Final = ("mm", "addmm", "bmm", "baddbmm")
_ORDERS: Final = {"aten.sort.default": 1, "aten.sort.stable": 1, "aten.topk.default": 2}
"""Operators whose second result is the order of elements → position of the argument that says along which dimension."""


def inputs_of(module: GraphModule) -> list[str]:
    """The names of a graph's inputs, in order."""
    return [node.name for node in module.graph.nodes if node.op == "placeholder"]


def results_of(module: GraphModule) -> list[Any]:
    """What the graph returns: several values, or the one that the graph of a function nested in another may return."""
    found = module.graph.output_node().args[0]
    return list(found) if isinstance(found, (list, tuple)) else [found]


def names_of(module: GraphModule) -> list[str]:
    """The nodes of a graph's results; empty for one that is no node."""
    return [one.name if isinstance(one, Node) else "" for one in results_of(module)]


def once_an_operator(function: Callable[[Any], Found]) -> Callable[[Any], Found]:
    """`function` of what a node calls, which is computed once for each operator of torch's: each look at a node asks
    again, and putting names together alone took a tenth of a check.
    """
    known = functools.lru_cache(maxsize=4096)(function)

    @functools.wraps(function)
    def found(target: Any) -> Found:
        return known(target) if hasattr(target, "namespace") else function(target)

    return found


@once_an_operator
def name_of(target: Any) -> str:
    """What a node calls, as text."""
    return str(target)


def in_rows(target: Any, args: Any) -> Any:
    """The arguments of a call; as Inductor lays them out, if the operator is right only where the elements of each row
    follow each other.
    """
    if name_of(target) != _OF_ROWS:
        return args
    return map_aggregate(args, lambda one: one.contiguous() if isinstance(one, torch.Tensor) else one)


def is_random(node: Node) -> bool:
    return _draws_numbers(node.target)


@once_an_operator
def _draws_numbers(target: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(target, "tags", ()) or name_of(target) in (RANDOM, RANDINT)


def is_uninitialized(node: Node) -> bool:
    """True for a node whose elements are whatever was in memory, until something writes to them."""
    return node.op == "call_function" and name_of(node.target).startswith(_UNINITIALIZED)


def takes_from_values(operator_: Any) -> bool:
    """True for an operator that makes a number of a tensor's value, or a size of values."""
    tags = getattr(operator_, "tags", ())
    return torch.Tag.dynamic_output_shape in tags or torch.Tag.data_dependent_output in tags


def is_collective(target: Any) -> bool:
    """True for an operator by which ranks exchange values, and for the one that waits for these."""
    return getattr(target, "namespace", "") in _COLLECTIVES


def has_collectives(module: GraphModule) -> bool:
    """True if the graph, or one nested in it, calls a collective."""
    modules = [one for one in module.modules() if isinstance(one, GraphModule)]
    return any(is_collective(node.target) for one in modules for node in one.graph.nodes)


def depends_on_random(module: GraphModule) -> set[str]:
    """The nodes of a graph of ATen operators whose values depend on random numbers."""
    found: set[str] = set()
    for node in module.graph.nodes:
        draws = is_random(node) and not has_no_dropout(node)
        draws = draws or any(map(_draws_inside, nested_in(node)))
        if draws or any(each.name in found for each in node.all_input_nodes):
            found.add(node.name)
    return found


def _draws_inside(module: GraphModule) -> bool:
    inner = [one for one in module.modules() if isinstance(one, GraphModule)]
    return any(is_random(node) and not has_no_dropout(node) for one in inner for node in one.graph.nodes)


def has_no_dropout(node: Node) -> bool:
    """True for an attention whose probability of dropout is 0: its operator has the tag of those that draw numbers."""
    schema = getattr(node.target, "_schema", None)
    for at, one in enumerate(schema.arguments if schema is not None else ()):
        if one.name == "dropout_p":
            return bool((node.args[at] if at < len(node.args) else node.kwargs.get(one.name, one.default_value)) == 0)
    return False


def changed_arguments(node: Node) -> list[int]:
    """Positions of the arguments that the node changes in place."""
    if getattr(node.target, "__name__", "") == _IN_PLACE:
        return [0]
    return list(_changed_positions(node.target))


def changed_values(node: Node) -> list[Any]:
    """The arguments that the node changes in place: nodes, and lists of them."""
    if launches_own_kernel(node):
        return list(written_by_kernel(node))
    if uncopied := changed_without_copy(node):
        return uncopied
    return [node.args[at] for at in changed_arguments(node) if at < len(node.args)]


def viewed(node: Node) -> Iterator[Node]:
    """The node, and what it is a view of, step by step."""
    yield node
    while _is_view(node) and isinstance(node.args[0], Node):
        node = node.args[0]
        yield node


def _is_view(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return node.target is operator.getitem
    return any(one.alias_info is not None for one in schema.returns)


@once_an_operator
def _changed_positions(target: Any) -> tuple[int, ...]:
    return tuple(at for at, _ in written_arguments(target))


def written_arguments(target: Any) -> list[tuple[int, str]]:
    """Position and name of each argument that an operator changes in place, as its schema says; none of another
    function.
    """
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    arguments = enumerate(schema.arguments)
    return [(at, one.name) for at, one in arguments if one.alias_info is not None and one.alias_info.is_write]


def changed_list(node: Node, args: Sequence[Any]) -> Any:
    """The tensors that an operator on a list of tensors changes in place: such an operator returns nothing, and its
    node stands for them. None for all other nodes.
    """
    schema = getattr(node.target, "_schema", None)
    if schema is None or schema.returns or changed_arguments(node) != [0]:
        return None
    return args[0] if isinstance(args[0], (list, tuple)) else None


def operator_without_form(target: Any) -> str:
    """Why an operator computes nothing in fp64; empty if it may do so."""
    if name_of(target) in _BITS:
        return f"{target} takes bits for another type"
    return f"{target} takes part in a collective" if is_collective(target) else ""


def without_form(node: Node) -> str:
    """Why a node has no value in fp64; empty if it may have one."""
    if node.op != "call_function":
        return f"{node.op} has no form in fp64"
    if reason := operator_without_form(node.target):
        return reason
    if pattern_of(node) is not None:
        return f"{getattr(node.target, '__name__', node.target)} is lowered as one, by a function of IR"
    if launches_own_kernel(node):
        return "a Triton kernel of the program has no form in fp64"
    if is_higher_order(node.target) and name_of(node.target) not in (*_DENSE, *_CALLING):
        return f"{node.target} has no form in fp64"
    return ""


def is_higher_order(target: Any) -> bool:
    """True for an operator that calls other operators, or graphs."""
    if hasattr(target, "overloadpacket"):
        return False
    return any(kind.__name__ == "HigherOrderOperator" for kind in type(target).__mro__)


def runs_itself(target: Any) -> bool:
    """True for a higher-order operator that computes in the dtypes of what it is given, as other operators do."""
    return name_of(target) in _DENSE


def calls_graphs(node: Node) -> bool:
    """True for a node whose nested graphs can be run in its place, node by node."""
    return is_higher_order(node.target) and name_of(node.target) in _CALLING


def nested_in(node: Node) -> list[GraphModule]:
    """The graphs that the node calls."""
    sources = [one for one in node.all_input_nodes if one.op == "get_attr"]
    root = node.graph.owning_module
    found = [getattr(root, str(one.target), None) for one in sources] if root is not None else []
    return [one for one in found if isinstance(one, GraphModule)]


def has_own_value(node: Node) -> bool:
    """True if more than the dtype of its value in its dtypes is needed to compute it, or another one, in fp64."""
    if node.op != "call_function" or is_random(node) or is_order(node) or without_form(node):
        return True
    return not isinstance(node.meta.get("val"), torch.Tensor)


def is_generator_state(node: Node) -> bool:
    """True for a result of an attention that is the state of a random number generator, or is not used at all."""
    if node.op != "call_function" or node.target is not operator.getitem or not isinstance(node.args[0], Node):
        return False
    schema, at = getattr(node.args[0].target, "_schema", None), node.args[1]
    if schema is None or not isinstance(at, int) or at >= len(schema.returns):
        return False
    return schema.returns[at].name in _STATES


def may_use_tf32(node: Node, value: Any) -> bool:
    """True for a matmul or convolution in float32 on a GPU that may round its arguments to TF32: the program has not
    forbidden it, and which of the library's algorithms is taken depends on shapes and strides.
    """
    is_single = isinstance(value, torch.Tensor) and value.dtype is torch.float32 and value.device.type == "cuda"
    if not is_single:
        return False
    name = str(node.target).removeprefix("aten.").partition(".")[0]
    try:
        if name in _CONVOLUTIONS:
            return bool(torch.backends.cudnn.allow_tf32)
        return name in _MATMULS and bool(torch.backends.cuda.matmul.allow_tf32)
    except RuntimeError:  # the program has used the newer settings, beside which torch refuses to tell the older ones
        return name in _CONVOLUTIONS + _MATMULS


def is_order(node: Node) -> bool:
    """True for the indices of the largest elements, or of a sort that need not keep the order of equal ones."""
    source = node.args[0] if node.op == "call_function" and node.target is operator.getitem else None
    if not isinstance(source, Node) or node.args[1] != 1 or str(source.target) not in _ORDERS:
        return False
    return not source.kwargs.get("stable")


def has_equal(ordered: Any, node: Node) -> bool:
    """True if neighbours in what `node` ordered are equal; NaN is NaN."""
    at = _ORDERS[str(node.target)]
    along = node.args[at] if len(node.args) > at else node.kwargs.get("dim", -1)
    pairs = ordered.shape[along] - 1 if ordered.dim() else 0
    if pairs < 1:
        return False
    first, second = ordered.narrow(along, 0, pairs), ordered.narrow(along, 1, pairs)
    return bool(((first == second) | ((first != first) & (second != second))).any())
