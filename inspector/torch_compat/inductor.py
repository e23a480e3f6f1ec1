"""Names of TorchInductor, from compile_fx to the scheduler."""

from inspect_compile.torch_compat import Name

_VIRTUALIZED = "torch._inductor.virtualized"
_DEBUG = "torch._inductor.debug"
_SCHEDULER = "torch._inductor.scheduler"
_CODECACHE = "torch._inductor.codecache"
_AUTOGRAD_CACHE = "torch._functorch._aot_autograd.autograd_cache"
_GRAPH = "torch._inductor.graph"
_LOWERING = "torch._inductor.lowering"
_PAD_MM = "torch._inductor.fx_passes.pad_mm"
_SUBGRAPH = "torch._inductor.subgraph_lowering"
_IR = "torch._inductor.ir"
_LOOP_BODY = "torch._inductor.loop_body"
_SUBPROC_POOL = "torch._inductor.compile_worker.subproc_pool"
_UTILS = "torch._inductor.utils"
_OPS_HANDLER = "torch._inductor.ops_handler"

_FUNCTIONALIZE = "torch._higher_order_ops.auto_functionalize"

FUNCTIONALIZED = Name(
    _FUNCTIONALIZE, "auto_functionalized_dense", "an operator is called on copies of what it changes, or of a part"
)
FUNCTIONALIZED_V2 = Name(_FUNCTIONALIZE, "auto_functionalized_v2_dense", "the same for views of what it changes")
TORCH_KEY = Name(_CODECACHE, "torch_key", "hashes torch's sources, once in a process that compiles")
VIRTUALIZED = Name(_VIRTUALIZED, "V", "the graph and the debug context of the running thread")
DEBUG_CONTEXT = Name(_DEBUG, "DebugContext", "one compile_fx_inner; its methods are what TORCH_COMPILE_DEBUG calls")
DEBUG_ENTER = Name(_DEBUG, "DebugContext.__enter__", "the compile of one graph begins")
DEBUG_EXIT = Name(_DEBUG, "DebugContext.__exit__", "the compile of one graph ends, or fails")
AOT_GRAPH_NAME = Name(_DEBUG, "get_aot_graph_name", "torch's name of the graph being compiled, model__0_forward_1")
SAVE_REPRO = Name(
    "torch._dynamo.repro.after_aot",
    "save_graph_repro",
    "renders fx_graph_runnable.py; torch up to 2.13 does it for every compile: then it is taken, not rendered again",
)
SYMBOL_LOG = Name(
    "torch.fx.experimental.sym_node", "sym_node_log", "logs the arithmetic that SAVE_REPRO does with sizes"
)
SCHEDULER_LOG = Name(_SCHEDULER, "log", "logs each node whose text cannot be made")
WORKER_POOL = Name(
    _SUBPROC_POOL,
    "SubprocPool.__init__",
    "processes are started: those of a `spawn` pool compile whole graphs, others only kernels",
)
WORKER_ENVIRONMENT = Name(
    _SUBPROC_POOL, "python_subprocess_env", "the environment that they start with: torch makes one without our door"
)
CACHE_CANDIDATES = Name(
    _CODECACHE,
    "GuardedCache.iterate_over_candidates",
    "what both caches of whole graphs have for a key: a look-up that hits leaves no lowering to watch",
)
CACHE_FOLDER = Name(
    _CODECACHE,
    "GuardedCache._get_tmp_dir_for_key",
    "where what either cache has for a key lies: nothing there is a miss without us too",
)
CACHE_LOG = (
    Name(_CODECACHE, "log", "tells the hits of the FX-graph cache, if a program asks"),
    Name(_AUTOGRAD_CACHE, "log", "tells the hits of the AOTAutograd cache, if a program asks"),
)
METRICS = Name("torch._inductor", "metrics", "Inductor's statistics, which a program can read")
FX_KEY = Name(_CODECACHE, "FxGraphCache.prepare_key", "the key of a graph in the FX-graph cache, or why it has none")
AOT_KEY = Name(_AUTOGRAD_CACHE, "autograd_cache_key", "the key of a graph in the AOTAutograd cache, or why it has none")
FX_LOAD = Name(_CODECACHE, "FxGraphCache.load_with_key", "what the FX-graph cache answered")
AOT_LOOKUP = Name(_AUTOGRAD_CACHE, "AOTAutogradCache._lookup", "what the AOTAutograd cache answered")
AOT_TRY_LOAD = Name(
    _AUTOGRAD_CACHE, "AOTAutogradCache.try_load", "takes a compile from the AOTAutograd cache, with the graph at hand"
)
AOT_STORED = Name(
    _AUTOGRAD_CACHE, "AOTAutogradCache._write_to_local_cache", "what is stored under a key of the AOTAutograd cache"
)
GRAPH_INIT = Name(_GRAPH, "GraphLowering.__init__", "a graph or subgraph is about to be lowered")
RUN_NODE = Name(_GRAPH, "GraphLowering.run_node", "one FX node becomes IR")
GRAPH_RUN = Name(_GRAPH, "GraphLowering.run", "all nodes of a graph are lowered")
GRAPH_FINALIZE = Name(
    _GRAPH,
    "GraphLowering.finalize",
    "a graph's outputs are lowered and its layouts decided: its decisions stand in attributes",
)
DECIDE_LAYOUT = Name(
    _GRAPH,
    "GraphLowering.decide_layout_opt",
    "which convolutions it counts: from 2.15 on those of a backward graph too",
)
IS_MKLDNN_CONVOLUTION = Name(_GRAPH, "is_mkldnn_conv", "a convolution that a pass has fused for oneDNN")
MKLDNN = Name("torch", "backends.mkldnn", "whether convolutions on a CPU are oneDNN's")
MKLDNN_DEVICES = Name(_GRAPH, "SUPPORTED_MKLDNN_DEVICES", "where it runs")
FALLBACK_BY_TYPE = Name(
    _LOWERING, "fallback_node_due_to_unsupported_type", "whether a node falls back because of its values' types"
)
FALLBACK_BY_DEFAULT = Name(_UTILS, "should_fallback_by_default", "whether it does because all nodes do")
DECOMPOSITIONS = Name("torch._decomp", "get_decompositions", "whether torch could take an operator apart")
COMPILED_GRAPH = Name(
    "torch._inductor.output_code",
    "CompiledFxGraph.__init__",
    "a graph is compiled, and torch knows whether it can be a CUDA graph",
)
CUDAGRAPH_SKIPPED = Name(
    "torch._inductor.cudagraph_trees",
    "log_cudagraph_skip_and_bump_counter",
    "a CUDA graph is given up while the program runs",
)
SHOULD_PAD = Name(_PAD_MM, "should_pad", "whether a matrix multiplication is padded")
PADDED_IS_FASTER = Name(_PAD_MM, "is_padded_faster", "both times, where torch measured them")
PADDED_LENGTHS = Name(_PAD_MM, "get_padded_length", "what would be added to a length")
PADDED_TO = Name(_PAD_MM, "get_alignment_size", "what it would become a multiple of")
SUBGRAPH_INIT = Name(
    _SUBGRAPH,
    "PointwiseSubgraphLowering.__init__",
    "a pointwise subgraph (flex_attention, scans) is about to be lowered",
)
SUBGRAPH_CALL = Name(_SUBGRAPH, "PointwiseSubgraphLowering.call_function", "one of its calls becomes IR")
SUBGRAPH_OUTPUT = Name(_SUBGRAPH, "PointwiseSubgraphLowering.output", "all of its nodes are lowered")
LAYOUT_CONSTRAINTS = Name(_LOWERING, "maybe_layout_constraints", "the layout constraint of an operator")
LOWERINGS = Name(_LOWERING, "lowerings", "operator → the function that lowers it")
FLOP_REGISTRY = Name(
    "torch.utils.flop_counter", "flop_registry", "torch's FLOP formulas, operator → function of shapes"
)
BUFFER_TEXTS = tuple(
    Name(_IR, f"{text}", "a buffer's text, which holds the texts of all that it reads")
    for text in ("ComputedBuffer.__repr__", "ExternKernel.__str__", "ExternKernel.__repr__")
)
FORMATTER = Name(
    _OPS_HANDLER, "KernelFormatterHandler", "writes a loop's operations as statements, and maps trees for each"
)
OPERATION_TEXTS = Name(_OPS_HANDLER, "MockHandler", "the text of one operation in such a statement")
OPERATIONS = Name(_OPS_HANDLER, "DefaultHandler", "what a loop asks for, one operation after the other")
INDEX_TEXT = Name(_UTILS, "sympy_str", "the text of an index in such a statement")
FLEXIBLE_LAYOUT = Name(_IR, "FlexibleLayout", "whose buffers may be indexed while a loop is written")
STACK_TRACES = Name(_IR, "IRNode.get_stack_traces", "the user's stacks, in each IR text again")
BODY_TEXT = Name(_LOOP_BODY, "LoopBodyBlock.debug_str", "a loop body as Python, dear to print")
PRETTY = Name(_SCHEDULER, "pformat", "a scheduler node's dependencies and layouts, by pprint")
CONFIG = Name("torch._inductor", "config", "Inductor's settings, thresholds among them")
REALIZE = Name(_IR, "StorageBox.realize", "a value becomes a buffer; the caller's frame is the reason")
LOG_PRE_FUSION = Name(_DEBUG, "log_ir_pre_fusion", "the scheduler nodes before fusion")
SCHEDULER_INIT = Name(_SCHEDULER, "Scheduler._init", "the schedule, complete, in its final order")
EXTERN_CALL = Name(
    _SCHEDULER,
    "Scheduler.codegen_extern_call",
    "the lines of the wrapper that one extern operation writes, some of which are plain text",
)
WHY_NO_FUSE = Name(_SCHEDULER, "WhyNoFuse.__call__", "torch's own words for a refusal, which it drops")
FAIL_REASON = Name(
    _SCHEDULER,
    "Scheduler.decide_fusion_fail_reason",
    "torch's own words for indices that do not fit together, which it says only into a table of metrics",
)
CAN_FUSE = Name(_SCHEDULER, "Scheduler.can_fuse", "one look at one pair")
FUSE_ONCE = Name(_SCHEDULER, "Scheduler.fuse_nodes_once", "one round of fusion")
SCORE = Name(_SCHEDULER, "Scheduler.score_fusion_key", "the order in which legal pairs are tried")
FUSE_TWO = Name(_SCHEDULER, "Scheduler.fuse_two_nodes", "a fusion that is done")
MAY_FUSE = Name(
    "torch._inductor.choices",
    "InductorChoices.can_fuse",
    "the memory score of a pair, which decides whether it is worth a fusion",
)
POSSIBLE_FUSIONS = Name(
    _SCHEDULER,
    "Scheduler.get_possible_fusions",
    "a round's nodes before, its candidates in the order in which they are tried after",
)
HIGHEST_PRIORITY = Name(
    _SCHEDULER,
    "Scheduler.get_possible_fusions_with_highest_priority",
    "candidates that the backend puts off to a later round",
)
BENCHMARK = Name(
    _SCHEDULER,
    "Scheduler.benchmark_codegened_module",
    "how long a kernel takes, of a pair that is fused only if that is faster",
)
MULTI_TEMPLATE = "MultiTemplateBuffer"
"""The class in torch._inductor.ir, 2.11-2.15, of an operation for which the scheduler will choose a template."""
COMBO_KERNELS = Name(
    _SCHEDULER, "Scheduler.create_combo_kernel_nodes", "nodes that need nothing of each other are put into one kernel"
)
WHOLE_BUFFER = Name("torch._inductor.dependencies", "StarDep", "a dependency on all of a buffer, which knows its bytes")
CHANGED = Name(_IR, "MutationOutput", "says that an extern kernel wrote to a buffer")
ALLOWS_TF32 = Name(
    "torch._C",
    "_get_cublas_allow_tf32",
    "whether matmuls of float32 on a GPU may round to tf32; it raises where a program has set both of torch's switches",
)
REUSE_KEY = Name(
    "torch._inductor.codegen.wrapper",
    "buffer_reuse_key",
    "buffers of one key can have each other's memory: how much a fusion would take away of that",
)
LOOPS_BORN = Name(_IR, "Loops.__post_init__", "a loop is made, while the FX node that it is of is lowered")
BODY_OPERATION = Name(
    _LOOP_BODY,
    "LightTracer.create_node",
    "one operation of a loop's body is written down, while the function of that loop runs",
)
REDUCTION_OF_ROWS = Name(
    _LOOP_BODY,
    "LoopBodyBlock.extract_pw_from_reduction",
    "in a kernel that reduces along both axes, a reduction and its store become one operation, made anew",
)
SPLIT_CANCELLED = Name(
    _SCHEDULER, "SchedulerNode.cancel_reduction_split", "a reduction in two stages becomes one of a single stage again"
)
NESTED_REDUCTIONS = Name(
    _SCHEDULER,
    "FusedNestedReductions",
    "scheduler node of which only some operations are known when its kernel is defined",
    versions="2.13-2.15",
)
HANDLERS = Name(_VIRTUALIZED, "threadlocal", "what each thread has at hand, by name")
INTERPRETER = Name(
    _VIRTUALIZED,
    "_interpreter",
    "runs a loop's body, to write it down again or to generate code; knows the operation that it is at",
)
KERNEL = Name(_VIRTUALIZED, "_kernel", "the kernel that is generated")
SAYS_WHY_NOT = Name(_SCHEDULER, "WhyNoFuse", "says in torch's fusion log why a pair stays apart")
MAKES_CYCLE = Name(
    _SCHEDULER,
    "Scheduler.will_fusion_create_cycle",
    "the last question before two nodes are fused, also those that had to be benchmarked first",
)
COMBINES = Name(
    _SCHEDULER,
    "Scheduler.speedup_by_combo_kernel",
    "whether nodes that do not depend on each other become one combo kernel",
)
STORES = (
    Name(_CODECACHE, "FxGraphCache._save_graph", "puts a graph into the cache of FX graphs"),
    Name(_AUTOGRAD_CACHE, "AOTAutogradCache.save", "puts a graph into the cache of AOTAutograd"),
)
