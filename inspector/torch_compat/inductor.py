"""Names of TorchInductor, from compile_fx to the scheduler."""

from inspect_compile.torch_compat import Name

VIRTUALIZED = Name(
    "torch._inductor.virtualized", "V", "2.11-2.15", "the graph and the debug context of the running thread"
)
DEBUG_CONTEXT = Name(
    "torch._inductor.debug",
    "DebugContext",
    "2.11-2.15",
    "one compile_fx_inner; its methods are what TORCH_COMPILE_DEBUG calls",
)
DEBUG_ENTER = Name("torch._inductor.debug", "DebugContext.__enter__", "2.11-2.15", "the compile of one graph begins")
DEBUG_EXIT = Name(
    "torch._inductor.debug", "DebugContext.__exit__", "2.11-2.15", "the compile of one graph ends, or fails"
)
AOT_GRAPH_NAME = Name(
    "torch._inductor.debug",
    "get_aot_graph_name",
    "2.11-2.15",
    "torch's name of the graph being compiled, model__0_forward_1",
)
SAVE_REPRO = Name(
    "torch._dynamo.repro.after_aot",
    "save_graph_repro",
    "2.11-2.15",
    "renders fx_graph_runnable.py; torch up to 2.13 does it for every compile: then it is taken, not rendered again",
)
SYMBOL_LOG = Name(
    "torch.fx.experimental.sym_node", "sym_node_log", "2.11-2.15", "logs the arithmetic that SAVE_REPRO does with sizes"
)
SCHEDULER_LOG = Name("torch._inductor.scheduler", "log", "2.11-2.15", "logs each node whose text cannot be made")
WORKER_POOL = Name(
    "torch._inductor.compile_worker.subproc_pool",
    "SubprocPool.__init__",
    "2.11-2.15",
    "processes are started: those of a `spawn` pool compile whole graphs, others only kernels",
)
WORKER_ENVIRONMENT = Name(
    "torch._inductor.compile_worker.subproc_pool",
    "python_subprocess_env",
    "2.11-2.15",
    "the environment that they start with: torch makes one without our door",
)
CACHE_CANDIDATES = Name(
    "torch._inductor.codecache",
    "GuardedCache.iterate_over_candidates",
    "2.11-2.15",
    "what both caches of whole graphs have for a key: a look-up that hits leaves no lowering to watch",
)
CACHE_FOLDER = Name(
    "torch._inductor.codecache",
    "GuardedCache._get_tmp_dir_for_key",
    "2.11-2.15",
    "where what either cache has for a key lies: nothing there is a miss without us too",
)
CACHE_LOG = (
    Name("torch._inductor.codecache", "log", "2.11-2.15", "tells the hits of the FX-graph cache, if a program asks"),
    Name(
        "torch._functorch._aot_autograd.autograd_cache",
        "log",
        "2.11-2.15",
        "tells the hits of the AOTAutograd cache, if a program asks",
    ),
)
METRICS = Name("torch._inductor", "metrics", "2.11-2.15", "Inductor's statistics, which a program can read")
FX_KEY = Name(
    "torch._inductor.codecache",
    "FxGraphCache.prepare_key",
    "2.11-2.15",
    "the key of a graph in the FX-graph cache, or why it has none",
)
AOT_KEY = Name(
    "torch._functorch._aot_autograd.autograd_cache",
    "autograd_cache_key",
    "2.11-2.15",
    "the key of a graph in the AOTAutograd cache, or why it has none",
)
FX_LOAD = Name(
    "torch._inductor.codecache", "FxGraphCache.load_with_key", "2.11-2.15", "what the FX-graph cache answered"
)
AOT_LOOKUP = Name(
    "torch._functorch._aot_autograd.autograd_cache",
    "AOTAutogradCache._lookup",
    "2.11-2.15",
    "what the AOTAutograd cache answered",
)
GRAPH_INIT = Name(
    "torch._inductor.graph", "GraphLowering.__init__", "2.11-2.15", "a graph or subgraph is about to be lowered"
)
RUN_NODE = Name("torch._inductor.graph", "GraphLowering.run_node", "2.11-2.15", "one FX node becomes IR")
GRAPH_RUN = Name("torch._inductor.graph", "GraphLowering.run", "2.11-2.15", "all nodes of a graph are lowered")
GRAPH_FINALIZE = Name(
    "torch._inductor.graph",
    "GraphLowering.finalize",
    "2.11-2.15",
    "a graph's outputs are lowered and its layouts decided: its decisions stand in attributes",
)
DECIDE_LAYOUT = Name(
    "torch._inductor.graph",
    "GraphLowering.decide_layout_opt",
    "2.11-2.15",
    "which convolutions it counts: from 2.15 on those of a backward graph too",
)
IS_MKLDNN_CONVOLUTION = Name(
    "torch._inductor.graph", "is_mkldnn_conv", "2.11-2.15", "a convolution that a pass has fused for oneDNN"
)
MKLDNN = Name("torch", "backends.mkldnn", "2.11-2.15", "whether convolutions on a CPU are oneDNN's")
MKLDNN_DEVICES = Name("torch._inductor.graph", "SUPPORTED_MKLDNN_DEVICES", "2.11-2.15", "where it runs")
FALLBACK_BY_TYPE = Name(
    "torch._inductor.lowering",
    "fallback_node_due_to_unsupported_type",
    "2.11-2.15",
    "whether a node falls back because of its values' types",
)
FALLBACK_BY_DEFAULT = Name(
    "torch._inductor.utils", "should_fallback_by_default", "2.11-2.15", "whether it does because all nodes do"
)
DECOMPOSITIONS = Name("torch._decomp", "get_decompositions", "2.11-2.15", "whether torch could take an operator apart")
COMPILED_GRAPH = Name(
    "torch._inductor.output_code",
    "CompiledFxGraph.__init__",
    "2.11-2.15",
    "a graph is compiled, and torch knows whether it can be a CUDA graph",
)
CUDAGRAPH_SKIPPED = Name(
    "torch._inductor.cudagraph_trees",
    "log_cudagraph_skip_and_bump_counter",
    "2.11-2.15",
    "a CUDA graph is given up while the program runs",
)
SHOULD_PAD = Name(
    "torch._inductor.fx_passes.pad_mm", "should_pad", "2.11-2.15", "whether a matrix multiplication is padded"
)
PADDED_IS_FASTER = Name(
    "torch._inductor.fx_passes.pad_mm", "is_padded_faster", "2.11-2.15", "both times, where torch measured them"
)
PADDED_LENGTHS = Name(
    "torch._inductor.fx_passes.pad_mm", "get_padded_length", "2.11-2.15", "what would be added to a length"
)
PADDED_TO = Name(
    "torch._inductor.fx_passes.pad_mm", "get_alignment_size", "2.11-2.15", "what it would become a multiple of"
)
SUBGRAPH_INIT = Name(
    "torch._inductor.subgraph_lowering",
    "PointwiseSubgraphLowering.__init__",
    "2.11-2.15",
    "a pointwise subgraph (flex_attention, scans) is about to be lowered",
)
SUBGRAPH_CALL = Name(
    "torch._inductor.subgraph_lowering",
    "PointwiseSubgraphLowering.call_function",
    "2.11-2.15",
    "one of its calls becomes IR",
)
SUBGRAPH_OUTPUT = Name(
    "torch._inductor.subgraph_lowering", "PointwiseSubgraphLowering.output", "2.11-2.15", "all of its nodes are lowered"
)
LAYOUT_CONSTRAINTS = Name(
    "torch._inductor.lowering", "maybe_layout_constraints", "2.11-2.15", "the layout constraint of an operator"
)
LOWERINGS = Name("torch._inductor.lowering", "lowerings", "2.11-2.15", "operator → the function that lowers it")
FLOP_REGISTRY = Name(
    "torch.utils.flop_counter", "flop_registry", "2.11-2.15", "torch's FLOP formulas, operator → function of shapes"
)
BUFFER_TEXTS = tuple(
    Name("torch._inductor.ir", f"{text}", "2.11-2.15", "a buffer's text, which holds the texts of all that it reads")
    for text in ("ComputedBuffer.__repr__", "ExternKernel.__str__", "ExternKernel.__repr__")
)
FORMATTER = Name(
    "torch._inductor.ops_handler",
    "KernelFormatterHandler",
    "2.11-2.15",
    "writes a loop's operations as statements, and maps trees for each",
)
OPERATION_TEXTS = Name(
    "torch._inductor.ops_handler", "MockHandler", "2.11-2.15", "the text of one operation in such a statement"
)
INDEX_TEXT = Name("torch._inductor.utils", "sympy_str", "2.11-2.15", "the text of an index in such a statement")
FLEXIBLE_LAYOUT = Name(
    "torch._inductor.ir", "FlexibleLayout", "2.11-2.15", "whose buffers may be indexed while a loop is written"
)
STACK_TRACES = Name(
    "torch._inductor.ir", "IRNode.get_stack_traces", "2.11-2.15", "the user's stacks, in each IR text again"
)
BODY_TEXT = Name(
    "torch._inductor.loop_body", "LoopBodyBlock.debug_str", "2.11-2.15", "a loop body as Python, dear to print"
)
PRETTY = Name(
    "torch._inductor.scheduler", "pformat", "2.11-2.15", "a scheduler node's dependencies and layouts, by pprint"
)
CONFIG = Name("torch._inductor", "config", "2.11-2.15", "Inductor's settings, thresholds among them")
REALIZE = Name(
    "torch._inductor.ir",
    "StorageBox.realize",
    "2.11-2.15",
    "a value becomes a buffer; the caller's frame is the reason",
)
LOG_PRE_FUSION = Name("torch._inductor.debug", "log_ir_pre_fusion", "2.11-2.15", "the scheduler nodes before fusion")
SCHEDULER_INIT = Name(
    "torch._inductor.scheduler", "Scheduler._init", "2.11-2.15", "the schedule, complete, in its final order"
)
EXTERN_CALL = Name(
    "torch._inductor.scheduler",
    "Scheduler.codegen_extern_call",
    "2.11-2.15",
    "the lines of the wrapper that one extern operation writes, some of which are plain text",
)
WHY_NO_FUSE = Name(
    "torch._inductor.scheduler", "WhyNoFuse.__call__", "2.11-2.15", "torch's own words for a refusal, which it drops"
)
FAIL_REASON = Name(
    "torch._inductor.scheduler",
    "Scheduler.decide_fusion_fail_reason",
    "2.11-2.15",
    "torch's own words for indices that do not fit together, which it says only into a table of metrics",
)
CAN_FUSE = Name("torch._inductor.scheduler", "Scheduler.can_fuse", "2.11-2.15", "one look at one pair")
FUSE_ONCE = Name("torch._inductor.scheduler", "Scheduler.fuse_nodes_once", "2.11-2.15", "one round of fusion")
SCORE = Name(
    "torch._inductor.scheduler", "Scheduler.score_fusion_key", "2.11-2.15", "the order in which legal pairs are tried"
)
FUSE_TWO = Name("torch._inductor.scheduler", "Scheduler.fuse_two_nodes", "2.11-2.15", "a fusion that is done")
MAY_FUSE = Name(
    "torch._inductor.choices",
    "InductorChoices.can_fuse",
    "2.11-2.15",
    "the memory score of a pair, which decides whether it is worth a fusion",
)
POSSIBLE_FUSIONS = Name(
    "torch._inductor.scheduler",
    "Scheduler.get_possible_fusions",
    "2.11-2.15",
    "a round's nodes before, its candidates in the order in which they are tried after",
)
HIGHEST_PRIORITY = Name(
    "torch._inductor.scheduler",
    "Scheduler.get_possible_fusions_with_highest_priority",
    "2.11-2.15",
    "candidates that the backend puts off to a later round",
)
BENCHMARK = Name(
    "torch._inductor.scheduler",
    "Scheduler.benchmark_codegened_module",
    "2.11-2.15",
    "how long a kernel takes, of a pair that is fused only if that is faster",
)
MULTI_TEMPLATE = "MultiTemplateBuffer"
"""The class in torch._inductor.ir, 2.11-2.15, of an operation for which the scheduler will choose a template."""
COMBO_KERNELS = Name(
    "torch._inductor.scheduler",
    "Scheduler.create_combo_kernel_nodes",
    "2.11-2.15",
    "nodes that need nothing of each other are put into one kernel",
)
WHOLE_BUFFER = Name(
    "torch._inductor.dependencies", "StarDep", "2.11-2.15", "a dependency on all of a buffer, which knows its bytes"
)
CHANGED = Name("torch._inductor.ir", "MutationOutput", "2.11-2.15", "says that an extern kernel wrote to a buffer")
ALLOWS_TF32 = Name(
    "torch._C",
    "_get_cublas_allow_tf32",
    "2.11-2.15",
    "whether matmuls of float32 on a GPU may round to tf32; it raises where a program has set both of torch's switches",
)
REUSE_KEY = Name(
    "torch._inductor.codegen.wrapper",
    "buffer_reuse_key",
    "2.11-2.15",
    "buffers of one key can have each other's memory: how much a fusion would take away of that",
)
LOOPS_BORN = Name(
    "torch._inductor.ir",
    "Loops.__post_init__",
    "2.11-2.15",
    "a loop is made, while the FX node that it is of is lowered",
)
BODY_OPERATION = Name(
    "torch._inductor.loop_body",
    "LightTracer.create_node",
    "2.11-2.15",
    "one operation of a loop's body is written down, while the function of that loop runs",
)
REDUCTION_OF_ROWS = Name(
    "torch._inductor.loop_body",
    "LoopBodyBlock.extract_pw_from_reduction",
    "2.11-2.15",
    "in a kernel that reduces along both axes, a reduction and its store become one operation, made anew",
)
SPLIT_CANCELLED = Name(
    "torch._inductor.scheduler",
    "SchedulerNode.cancel_reduction_split",
    "2.11-2.15",
    "a reduction in two stages becomes one of a single stage again",
)
NESTED_REDUCTIONS = Name(
    "torch._inductor.scheduler",
    "FusedNestedReductions",
    "2.13-2.15",
    "scheduler node of whose operations only some are told when its kernel is defined",
)
HANDLERS = Name("torch._inductor.virtualized", "threadlocal", "2.11-2.15", "what each thread has at hand, by name")
INTERPRETER = Name(
    "torch._inductor.virtualized",
    "_interpreter",
    "2.11-2.15",
    "runs a loop's body, to write it down again or to generate code; knows the operation that it is at",
)
KERNEL = Name("torch._inductor.virtualized", "_kernel", "2.11-2.15", "the kernel that is generated")
