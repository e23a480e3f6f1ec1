"""Names of TorchDynamo and its guards."""

from inspect_compile.torch_compat import Name

_CONVERT_FRAME = "torch._dynamo.convert_frame"

CACHE_SIZE = Name(_CONVERT_FRAME, "compute_cache_size", "Dynamo looks at one Python frame: its code")
COMPILE_METRICS = Name(
    "torch._dynamo.metrics_context",
    "MetricsContext.update_outer",
    "an attempt to compile a frame begins, and ends with its result",
)
RECOMPILE_LIMIT = Name(
    _CONVERT_FRAME, "exceeds_recompile_limit", "a frame that was compiled too often is not compiled again"
)
USER_COMPILER = Name(
    "torch._dynamo.output_graph",
    "OutputGraph.call_user_compiler",
    "Dynamo's graph on its way to the backend, whichever that is",
)
GRAPH_BREAK = Name(
    "torch._dynamo.symbolic_convert",
    "InstructionTranslatorBase.log_graph_break",
    "a graph break with reason and user stack",
)
RECOMPILE_REASONS = Name(
    _CONVERT_FRAME, "get_and_maybe_log_recompilation_reasons", "the guards that failed before a frame is compiled again"
)
CHECK_FUNCTION = Name("torch._dynamo.guards", "CheckFunctionManager.__init__", "the guards of one compile, complete")
COMPILE_CONTEXT = Name("torch._guards", "CompileContext", "the compile id of the running thread")
COUNTS_COMPILE = Name(_CONVERT_FRAME, "get_compile_id", "torch counts a new compile: the object of its id")
COUNTS_ANEW = Name(
    "torch._dynamo.compiled_autograd", "reset", "a part of torch._dynamo.reset(): ids of compiles occur again after it"
)
GUARD_LATENCY = Name(
    "torch._dynamo.guards",
    "profile_guard_manager",
    "torch times one evaluation of the guards that it has just made, in every compile",
)
SKIP_REASON = Name(
    _CONVERT_FRAME, "add_skip_reason", "why a frame is not compiled, in torch's words", versions="2.13-2.15"
)
AFTER_GUARDS = Name(
    "torch._C._dynamo.eval_frame",
    "set_guard_complete_hook",
    "what torch calls with whether a call of a compiled frame fits one of its compiles",
)
UNINTERESTING = Name(
    "torch._dynamo.guards",
    "uninteresting_files",
    "the files whose frames torch passes over where it looks for the line that a condition on sizes comes from",
)
STACK_SUMMARY = Name(
    "torch.utils._traceback",
    "_extract_symbolized_tb",
    "the stacks that torch logs and keeps: the frames of each, as dictionaries, the innermost first",
)
CONFIG = Name("torch._dynamo", "config", "the recompile limit that was reached")
NO_TORCH_FUNCTION = Name(
    "torch._C", "DisableTorchFunction", "a tensor's shape is read without asking a mode or a subclass of the program's"
)
TIME_BEGINS = Name(
    "torch._dynamo.utils",
    "ChromiumEventLogger.log_event_start",
    "torch begins to time a part of a compile, in every compile",
)
TIME_ENDS = Name(
    "torch._dynamo.utils", "ChromiumEventLogger.log_event_end", "the same part ends: its name, its start and its end"
)
COMPILES = Name(
    "torch._dynamo.eval_frame",
    "_TorchDynamoContext.__call__",
    "torch.compile makes what is called in the place of a function",
)
DISABLES = Name("torch._dynamo.eval_frame", "DisableContext", "what a disabled function reads in each call")
DISABLED = Name(
    "torch._dynamo.eval_frame",
    "DisableContext.__call__",
    "torch.compiler.disable makes what is called in the place of a function",
)
DISABLED_ALONE = Name(
    "torch._dynamo.decorators",
    "get_nonrecursive_disable_wrapper",
    "torch.compiler.disable(recursive=False) makes what is called in the place of a function",
)
SET_FRAME_STRATEGY = Name(
    "torch._C._dynamo.eval_frame", "set_code_exec_strategy", "Dynamo is never offered a function of ours"
)
FRAME_STRATEGY = Name(
    "torch._C._dynamo.eval_frame",
    "_FrameExecStrategy",
    "what Dynamo does with a function, and with those that it calls",
)
FRAME_ACTION = Name("torch._C._dynamo.eval_frame", "_FrameAction", "the choices for either: SKIP, or DEFAULT")
SKIP_CODE = Name("torch._dynamo.eval_frame", "skip_code", "a function of ours is not compiled when a frame calls it")
FLATTEN = Name("torch.utils._pytree", "tree_flatten_with_path", "the tensors in what a function returns")
PATH_TEXT = Name("torch.utils._pytree", "keystr", "where a tensor is in what a function returns")
APPLIES = Name(
    "torch._dynamo.variables.misc",
    "AutogradFunctionVariable.call_apply",
    "Dynamo captures a call of an autograd.Function, of which its graph may get the forward alone",
)
KEEPS_BACKWARD = Name(
    "torch._dynamo.variables.higher_order_ops",
    "AutogradFunctionApplyVariable.call_function",
    "the same with its backward",
)
CALLS_REGION_AGAIN = Name(
    "torch._dynamo.variables.invoke_subgraph",
    "stamp_out_subgraph",
    "Dynamo takes the graph of a nested_compile_region's earlier call for another one",
    versions="2.13-2.15",
)
