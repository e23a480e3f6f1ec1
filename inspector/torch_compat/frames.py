"""Functions of torch whose variables are read while they run, or from their closures: no argument tells as much.

What a variable that is gone costs is the one fact that it was read for.
"""

from inspect_compile.torch_compat import Frame

_SCHEDULER = "torch._inductor.scheduler"
_TREES = "torch._inductor.cudagraph_trees"

BENCHMARKED = Frame(
    _SCHEDULER,
    "Scheduler.speedup_by_fusion.<locals>.benchmark_when_ready",
    ("ms1", "ms2", "why", "log_fusion"),
    "two nodes are being timed, and their fusion: the times of both, and what knows their names",
)
LOG_FUSION = Frame(
    _SCHEDULER,
    "Scheduler.speedup_by_fusion.<locals>.log_fusion",
    ("node1", "node2"),
    "the names of that pair, where the function that times it has no `why`",
)
DECIDES = Frame(
    _TREES, "CUDAGraphTreeManager._run", ("status", "status_logger"), "why no recording of a CUDA graph fits a call"
)
GIVES_UP = Frame(
    _TREES,
    "CUDAGraphTreeManager._run",
    ("self", "function_id", "new_inputs"),
    "of which function a CUDA graph is given up, as it was recorded too often",
)
CHANGES_INPUTS = Frame(
    _TREES,
    "CUDAGraphTreeManager._update_non_cudagraph_managed_mutation",
    ("self", "function_id", "inputs"),
    "of which function a CUDA graph is given up, as it writes to its inputs",
)
CUDAGRAPHIFY = Frame(
    "torch._inductor.compile_fx",
    "cudagraphify_impl",
    ("model",),
    "Inductor captures a CUDA graph without the trees: which callable goes into it",
)
SOLVE_MIN_CUT = Frame(
    "torch._functorch.partitioners",
    "solve_min_cut",
    ("nx_graph",),
    "the network that is cut, with torch's reasons and weights",
)
LAUNCH = Frame(
    "torch._higher_order_ops.triton_kernel_wrap",
    "triton_kernel_wrapper_mutation_dense",
    ("kernel_idx", "constant_args_idx"),
    "a node of a graph launches a kernel of the program's: which node",
)
CHECKS_MATCH = Frame(
    "torch._inductor.pattern_matcher",
    "register_replacement.<locals>.check_fn",
    ("search_fn",),
    "the function that a pattern was traced from",
)
COUNTS_BACKWARD = Frame(
    "torch._inductor.graph",
    "GraphLowering.decide_layout_opt.<locals>.is_conv_bwd",
    (),
    "convolutions of a backward graph count for its layout, too",
    versions="2.15-2.15",
)
RUNS_BACKWARD = Frame(
    "torch.autograd.graph",
    "_engine_run_backward",
    (),
    "runs autograd's C++ engine: what it calls without a Python frame of its own is C++ too",
)
COMPILES_FRAME = Frame(
    "torch._dynamo.convert_frame",
    "_compile",
    ("one_graph",),
    "a frame was compiled too often: with fullgraph=True torch raises an error, and else runs it eagerly",
)
ISSUES_GUARD = Frame(
    "torch.fx.experimental.symbolic_shapes",
    "ShapeEnv.produce_guards_verbose.<locals>.issue_guard",
    ("guard",),
    "a condition on sizes becomes a guard: which one, where that fails",
)
CALLS_MODULE = Frame(
    "torch.nn.modules.module",
    "Module._call_impl",
    ("self",),
    "a module is being called: the path of the one whose method is compiled, in the outermost of them",
)
