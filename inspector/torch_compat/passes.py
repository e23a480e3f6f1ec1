"""Names of the passes over FX graphs, and of the stages that run them."""

from typing import Final

from inspect_compile.torch_compat import Name

PRE_GRAD = Name(
    "torch._inductor.compile_fx",
    "_recursive_pre_grad_passes",
    "2.11-2.15",
    "the passes over Dynamo's graph, those of graphs nested in it too",
)
JOINT = Name(
    "torch._inductor.compile_fx",
    "_recursive_joint_graph_passes",
    "2.11-2.15",
    "the passes over the graph that AOTAutograd has just traced, backward included",
)
POST_GRAD = Name(
    "torch._inductor.compile_fx",
    "_recursive_post_grad_passes",
    "2.11-2.15",
    "the passes over the graph that is lowered",
)
VIEW_TO_RESHAPE = Name(
    "torch._inductor.compile_fx", "view_to_reshape", "2.11-2.15", "the only edit between the joint and post-grad passes"
)
OBSERVER_ENTER = Name(
    "torch.fx.passes.graph_transform_observer",
    "GraphTransformObserver.__enter__",
    "2.11-2.15",
    "a pass begins",
)
OBSERVER_EXIT = Name(
    "torch.fx.passes.graph_transform_observer", "GraphTransformObserver.__exit__", "2.11-2.15", "a pass has ended"
)
OBSERVER_APPLIES: Final = tuple(
    Name(
        "torch.fx.passes.graph_transform_observer",
        f"GraphTransformObserver.{method}",
        "2.11-2.15",
        "the function that a pass runs, and so where it is defined",
    )
    for method in ("apply_gm_pass", "apply_graph_pass")
)
MATCHER = Name(
    "torch._inductor.pattern_matcher",
    "PatternMatcherPass.apply",
    "2.11-2.15",
    "the patterns that a pass looks for; how often they matched",
)
LOWERING_PATTERN = Name(
    "torch._inductor.pattern_matcher",
    "LoweringPatternEntry.apply",
    "2.11-2.15",
    "a pattern has matched, and will be lowered as one",
)
GRAPH_PATTERN = Name(
    "torch._inductor.pattern_matcher",
    "GraphPatternEntry.apply",
    "2.11-2.15",
    "a pattern has matched, and a function rewrites it",
)
REPLACEMENT_PATTERN = Name(
    "torch._inductor.pattern_matcher",
    "ReplacementPatternEntry.apply",
    "2.11-2.15",
    "a pattern has matched, and another graph takes its place",
)
PRE_GRAD_FUNCTIONS: Final = tuple(
    Name("torch._inductor.fx_passes.pre_grad", function, "2.11-2.15", "an edit of Dynamo's graph outside of a pass")
    for function in ("numpy_compat_normalization", "fuse_fx", "stable_topological_sort")
)
JOINT_FUNCTIONS: Final = tuple(
    Name("torch._inductor.fx_passes.joint_graph", function, "2.11-2.15", "an edit of the joint graph outside of a pass")
    for function in ("canonicalize_aten_ir_passes", "replace_random_passes", "stable_topological_sort")
)
QUANT_LIFT_UP = Name(
    "torch._inductor.fx_passes.quantization", "quant_lift_up", "2.11-2.15", "an edit of a graph outside of a pass"
)
CONCAT_LINEAR = Name(
    "torch._inductor.fx_passes.quantization",
    "concat_linear_woq_int4",
    "2.11-2.15",
    "an edit of a graph outside of a pass",
)
DEAD_CODE = Name("torch.fx.graph", "Graph.eliminate_dead_code", "2.11-2.15", "nodes vanish outside of a pass")
PARTITIONED = Name(
    "torch._functorch.partitioners",
    "_extract_fwd_bwd_modules",
    "2.11-2.15",
    "a joint graph is cut in two: what the forward returns for the backward, and what both compute",
)
CHOOSE_SAVED = Name(
    "torch._functorch.partitioners",
    "choose_saved_values_set",
    "2.11-2.15",
    "the min-cut partitioner chooses what the forward keeps, within a budget: of several cuts one is taken",
)
SOLVE_MIN_CUT = Name(
    "torch._functorch.partitioners",
    "solve_min_cut",
    "2.11-2.15",
    "one minimum cut: by which rules, and which values may not be computed again",
)
CUT_IS_KNOWN = Name(
    "torch._functorch.partitioners",
    "get_name_to_node",
    "2.11-2.15",
    "what solve_min_cut calls next when it has cut: the network stands in its frame, with torch's reasons and weights",
)
CUSTOM_PARTITIONER = Name(
    "torch._inductor.config", "custom_partitioner_fn", "2.11-2.15", "a partitioner of the program's own"
)
