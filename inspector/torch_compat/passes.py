"""Names of the passes over FX graphs, and of the stages that run them."""

from typing import Final

from inspect_compile.torch_compat import Name

_COMPILE_FX = "torch._inductor.compile_fx"
_OBSERVER = "torch.fx.passes.graph_transform_observer"
_MATCHER = "torch._inductor.pattern_matcher"
_PARTITIONERS = "torch._functorch.partitioners"
_QUANTIZATION = "torch._inductor.fx_passes.quantization"

PRE_GRAD = Name(
    _COMPILE_FX, "_recursive_pre_grad_passes", "the passes over Dynamo's graph, those of graphs nested in it too"
)
JOINT = Name(
    _COMPILE_FX,
    "_recursive_joint_graph_passes",
    "the passes over the graph that AOTAutograd has just traced, backward included",
)
POST_GRAD = Name(_COMPILE_FX, "_recursive_post_grad_passes", "the passes over the graph that is lowered")
VIEW_TO_RESHAPE = Name(_COMPILE_FX, "view_to_reshape", "the only edit between the joint and post-grad passes")
OBSERVER_ENTER = Name(_OBSERVER, "GraphTransformObserver.__enter__", "a pass begins")
OBSERVER_EXIT = Name(_OBSERVER, "GraphTransformObserver.__exit__", "a pass has ended")
OBSERVER_APPLIES: Final = tuple(
    Name(_OBSERVER, f"GraphTransformObserver.{method}", "the function that a pass runs, and so where it is defined")
    for method in ("apply_gm_pass", "apply_graph_pass")
)
MATCHER = Name(_MATCHER, "PatternMatcherPass.apply", "the patterns that a pass looks for; how often they matched")
LOWERING_PATTERN = Name(_MATCHER, "LoweringPatternEntry.apply", "a pattern has matched, and will be lowered as one")
GRAPH_PATTERN = Name(_MATCHER, "GraphPatternEntry.apply", "a pattern has matched, and a function rewrites it")
REPLACEMENT_PATTERN = Name(
    _MATCHER, "ReplacementPatternEntry.apply", "a pattern has matched, and another graph takes its place"
)
PRE_GRAD_FUNCTIONS: Final = tuple(
    Name("torch._inductor.fx_passes.pre_grad", function, "an edit of Dynamo's graph outside of a pass")
    for function in ("numpy_compat_normalization", "fuse_fx", "stable_topological_sort")
)
JOINT_FUNCTIONS: Final = tuple(
    Name("torch._inductor.fx_passes.joint_graph", function, "an edit of the joint graph outside of a pass")
    for function in ("canonicalize_aten_ir_passes", "replace_random_passes", "stable_topological_sort")
)
QUANT_LIFT_UP = Name(_QUANTIZATION, "quant_lift_up", "an edit of a graph outside of a pass")
CONCAT_LINEAR = Name(_QUANTIZATION, "concat_linear_woq_int4", "an edit of a graph outside of a pass")
DEAD_CODE = Name("torch.fx.graph", "Graph.eliminate_dead_code", "nodes vanish outside of a pass")
PARTITIONED = Name(
    _PARTITIONERS,
    "_extract_fwd_bwd_modules",
    "a joint graph is cut in two: what the forward returns for the backward, and what both compute",
)
CHOOSE_SAVED = Name(
    _PARTITIONERS,
    "choose_saved_values_set",
    "the min-cut partitioner chooses what the forward keeps, within a budget: of several cuts one is taken",
)
SOLVE_MIN_CUT = Name(
    _PARTITIONERS, "solve_min_cut", "one minimum cut: by which rules, and which values may not be computed again"
)
CUT_IS_KNOWN = Name(
    _PARTITIONERS,
    "get_name_to_node",
    "what solve_min_cut calls next when it has cut: the network stands in its frame, with torch's reasons and weights",
)
CUSTOM_PARTITIONER = Name("torch._inductor.config", "custom_partitioner_fn", "a partitioner of the program's own")
