"""Why Inductor realizes a value, in plain words, by the calling functions and the conditions that they checked.

Source: torch/_inductor/{graph,ir,lowering,mkldnn_ir,comm_lowering}.py and kernel/, torch 2.11, 2.13 and 2.15.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Weight(NamedTuple):
    """How expensive a value is to compute, and torch's limits. 0: not known."""

    users: int = 0
    reads: int = 0
    operations: int = 0
    reads_limit: int = 0
    """Limit for a value that several nodes use."""
    gathered_limit: int = 0
    """Limit on reads of any value."""
    operations_limit: int = 0
    dear: tuple[str, ...] = ()
    """Operations in it that are slow on a CPU."""
    is_output: bool = False
    is_visible: bool = False
    """True if the program sees its strides."""
    is_channels_last: bool = False
    """True if torch prefers channels-last memory for it because of a convolution, and the program does not see that."""


PASSING: Final = frozenset(
    {
        *("realize", "realize_hint", "mark_reuse", "realize_input", "copy_input", "unwrap_storage", "realize_inputs"),
        *("require_strides", "require_stride_order", "require_exact_strides", "require_contiguous", "require_stride1"),
        *("require_contiguous_strides", "require_channels_last", "as_storage_and_layout", "as_exact_strides"),
        *("<listcomp>", "<genexpr>", "<lambda>", "wrapped", "inner", "call_function", "__getattr__", "guard", "watch"),
        *("tree_map", "tree_map_only", "tree_map_", "unflatten", "map_only", "try_match_insignificant_strides"),
    }
)
"""Functions that forward another one's request, by their bare names."""

SEVERAL_STEPS: Final = "the reduction runs in several steps"
"""Of the first of these steps: the lowering has split the reduction."""

REASONS: Final[dict[str, str]] = {
    # graph.py
    "mark_buffer_mutated": "it reads what is about to be written in place, and must be computed before",
    "_realize_inputs_at_stream_boundaries": "it is read on another stream",
    "_realize_inputs_at_context_boundaries": "it is read on another stream, or in another memory pool",
    "output": "output of the graph",
    "placeholder": "an input that is copied",
    # ir.py
    "MutationLayoutSHOULDREMOVE.realize_into": "it is written in place",
    "ConcatKernel.realize_into": "it is written into its place in a concatenation",
    "ConcatKernel.create": "part of a concatenation",
    "make_reduction.<locals>.inner": "the result of a reduction is always realized",
    "ArgReduction.create": "the result of a reduction is always realized",
    "WelfordReduction.create": "the result of a reduction is always realized",
    "OnlineSoftmaxReduction.create": "the result of a reduction is always realized",
    "OnlineSoftmaxReduction._create_no_split": "the result of a reduction is always realized",
    "OnlineSoftmaxReduction.create_multilayer": SEVERAL_STEPS,
    "WelfordReduction.create_multilayer": SEVERAL_STEPS,
    "Reduction.create_multilayer_helper": SEVERAL_STEPS,
    "Reduction.check_for_split_dense_dim_reindexing": "a reduction over it is split along how it lies in memory",
    "Scan.create": "the result of a scan is always realized",
    "Sort.create": "the result of a sort is always realized",
    "process_kernel": "input of a fallback kernel",
    "unwrap_storage_for_input": "input of an extern kernel",
    "DynamicScalar.__init__": "a size is read from it",
    "ScatterFallback.__init__": "input of a scatter that runs as an extern kernel",
    "IndexPutFallback.__init__": "input of an index_put that runs as an extern kernel",
    "UserDefinedTritonKernel.__init__": "input of the program's own Triton kernel",
    "OrderingBarrier.__init__": "another operation has to wait for it",
    "create_inplace": "input of a collective",
    "create_out_of_place": "input of a collective",
    "realize_as_comm_buffer": "a collective needs its own buffer",
    # lowering.py
    "var_mean_sum_": "the mean is an output too, and not only a step to the variance",
    "var_mean_welford_": "the result of a reduction is always realized",
    "as_strided": "as_strided needs memory to view",
    "slice_": "a slice whose start is known at run time needs memory to view",
    "select": "a selection whose index is known at run time needs memory to view",
    "index": "input of a fallback kernel: the indices are booleans",
    "index_put_impl_": "it is written in place at the indices",
    "scatter_reduce_": "it is written in place at the indices",
    "zeros_and_scatter_lowering": "it is written in place at the indices",
    "scatter_fallback": "input of a scatter that runs as an extern kernel",
    "index_put_fallback": "input of an index_put that runs as an extern kernel",
    "expand": "expand reads its elements several times",
    "repeat": "repeat reads its elements several times",
    "unfold": "unfold reads its elements several times",
    "upsample_nearestnd": "upsampling reads its elements several times",
    "upsample_nearest2d_backward": "the gradient of upsampling reads its elements several times",
    "_max_pool_with_offsets": "pooling reads its elements several times",
    "_fractional_max_pool": "pooling reads its elements several times",
    "_avg_poolnd": "pooling reads its elements several times",
    "_adaptive_avg_pool2d": "pooling reads its elements several times",
    "adaptive_max_pool2d": "pooling reads its elements several times",
    "max_pool2d_with_indices_backward": "the gradient of pooling reads its elements several times",
    "avg_pool2d_backward": "the gradient of pooling reads its elements several times",
    "avg_pool3d_backward": "the gradient of pooling reads its elements several times",
    "mutate_to": "it is written in place",
    "bernoulli_": "it is written in place",
    "set__source_tensor": "its memory changes hands",
    "shallow_copy_data_": "its memory changes hands",
    "resize_storage_bytes_": "its memory is resized",
    "empty_strided": "uninitialized memory",
    "_realize_as_pinned": "it must be in pinned memory",
    "_realize": "the graph says so",
    "inductor_random": "random numbers are drawn once",
    "searchsorted": "a search is too expensive to repeat for each reader",
    "bucketize": "a search is too expensive to repeat for each reader",
    "foreach_group_loop": "one of a foreach operation's tensors",
    "_foreach_map": "one of a foreach operation's tensors",
    "inplace_constant_pad_nd": "it is padded in place",
    "cat": "a concatenation of bytes is an extern kernel on a CPU",
    "_assert_async": "it is checked at run time",
    "control_deps_op_lowering": "another operation has to wait for it",
    "invoke_quant_tracer": "the result of a quantized region",
    "with_effects": "it has a side effect",
    "get_inverse_offsets": "offsets of a jagged tensor are searched",
    "sort_fallback": "input of a sort that runs as an extern kernel",
    # layout constraints, and operations that hold graphs
    "constrain_to_fx_strides": "its reader needs the strides that eager has",
    "constrain_to_fake_tensors": "its reader needs the strides that eager has",
    "constrain_to_fake_tensor": "its reader needs the strides that eager has",
    "Conditional.create": "operand of a subgraph",
    "Switch.create": "operand of a subgraph",
    "WhileLoop.create": "operand of a subgraph",
    "InvokeSubgraph.create": "operand of a subgraph",
    # kernel/ and mkldnn_ir.py
    "_prepare_convolution_fusion_create": "input of an oneDNN kernel",
    "_prepare_linear_fusion_create": "input of an oneDNN kernel",
    "convolution": "input of a convolution",
    "convolution_backward_lowering": "input of a convolution's gradient",
    "mm_args": "input of a matrix multiplication",
    "_convert_to_0d_constant": "a constant of an oneDNN kernel",
}
"""Function, by its qualified or its bare name → text. The innermost caller in this table decides."""

_MANNER: Final = (
    ("require_exact_strides", "with exactly these strides"),
    ("require_stride_order", "with strides in this order"),
    ("require_contiguous", "in contiguous memory"),
    ("require_contiguous_strides", "in contiguous memory"),
    ("require_channels_last", "in channels-last memory"),
    ("require_stride1", "with neighbours side by side"),
)
_RUN_NODE: Final = "run_node"


class DecidingCaller(NamedTuple):
    """The caller that decided."""

    position: int
    """Position in the chain; the last one if only helpers are known."""
    function: str
    """The bare name."""


def asked(chain: Sequence[str]) -> DecidingCaller:
    """The innermost of the qualified names `chain` that does not just forward a request."""
    for position, name in enumerate(chain):
        bare = _bare(name)
        if name in REASONS or bare not in PASSING:
            return DecidingCaller(position, bare)
    return DecidingCaller(len(chain) - 1, _bare(chain[-1]) if chain else "")


def reason_of(chain: Sequence[str], conditions: str = "", weight: Weight | None = None) -> str:
    """The reason for the callers `chain`, innermost first, up to the lowering of the node.

    `conditions` are those that torch checked, if the lowering of the node itself asked.
    """
    who = asked(chain)
    passed = [_bare(name) for name in chain[: who.position]]
    if "maybe_apply_channels_last_stride_order" in (*passed, who.function):
        return "a convolution further down wants channels-last memory, and it is read too often to be inlined"
    if who.function == _RUN_NODE:
        return _own(conditions, weight or Weight(), passed)
    if who.function == "output" and "realize_input" not in passed:
        return "an input: torch checks whether it was written in place"
    manner = next((words for function, words in _MANNER if function in passed), "")
    if not chain:
        return "it is not known what asked for it"
    words = REASONS.get(chain[who.position]) or REASONS.get(who.function)
    if words is None:
        name = _name(chain[who.position])
        words = f"{name} needs it in memory" if "realize_input" not in passed else f"input of {name}"
    return f"{words}, {manner}" if manner else words


def _own(conditions: str, weight: Weight, passed: Sequence[str]) -> str:
    """Why the lowering of a node realizes its own result."""
    output = "output of the graph" if weight.is_output else "an as_strided views its memory"
    if "inductor_realize_to_strides" in conditions:
        return "a pass wants it in memory, with the strides that eager has"
    if "need_fixed_channels_last_layout" in conditions:
        return f"used by {weight.users} nodes, one of which needs it in channels-last memory"
    if "need_fixed_layout" in conditions:
        return f"used by {weight.users} nodes, one of which needs it in a fixed layout"
    if "needs_realized_inputs" in conditions and "user.op" not in conditions:
        return f"used by {weight.users} nodes, one of which needs its inputs in memory"
    if "user.op ==" in conditions:
        others = weight.users - 1
        return f"output of the graph, and read by {others} other node{'' if others == 1 else 's'}"
    if "has_exceeded_max_reads" in conditions:
        return _gathered(weight)
    if "has_large_inner_fn(threshold=100)" in conditions:
        return f"its {weight.operations} operations are more than what is ever inlined (100)"
    if "mark_reuse" in passed:
        return _reused(weight)
    if "is_input_for_as_strided" in conditions:
        if weight.is_channels_last and weight.is_output:
            return f"{output}, in channels-last memory, which a convolution next to it prefers"
        return f"{output}, with the strides that {'eager has' if weight.is_visible else 'it has in the graph'}"
    if "is_output" in conditions:
        return "output of the graph, and a view: it needs memory to view"
    return "the lowering of the node itself wants it in memory"


def _reused(weight: Weight) -> str:
    used = f"used by {weight.users} nodes"
    if weight.reads > weight.reads_limit > 0:
        return (
            f"{used}, and it reads {_buffers(weight.reads)}, more than {weight.reads_limit} (realize_reads_threshold)"
        )
    if weight.operations > weight.operations_limit > 0:
        return f"{used}, and its {weight.operations} operations are more than {_operations(weight)}"
    if weight.dear:
        return f"{used}, and {' and '.join(weight.dear)} in it {'is' if len(weight.dear) == 1 else 'are'} slow on a CPU"
    what = f"{weight.operations} operations, {_buffers(weight.reads)} read"
    return f"{used}, and expensive enough to be computed only once ({what})"


def _gathered(weight: Weight) -> str:
    if weight.reads > weight.gathered_limit > 0:
        limit = f"{weight.gathered_limit} (realize_acc_reads_threshold)"
        return f"it has accumulated reads of {_buffers(weight.reads)}, more than {limit}"
    if weight.operations > weight.operations_limit > 0:
        return f"it has accumulated {weight.operations} operations, more than {_operations(weight)}"
    return f"what it reads ({_buffers(weight.reads)}) is too large in total (realize_acc_reads_size_threshold)"


def _operations(weight: Weight) -> str:
    return f"{weight.operations_limit} (realize_opcount_threshold)"


def _buffers(count: int) -> str:
    return f"{count} buffer{'' if count == 1 else 's'}"


def _name(function: str) -> str:
    """The user's name for a function: the class of a constructor, the operator of a tuned lowering."""
    *classes, bare = function.split(".")
    return classes[-1] if classes and bare in ("__init__", "create") else bare.removeprefix("tuned_")


def _bare(name: str) -> str:
    return name.rsplit(".", 1)[-1]
