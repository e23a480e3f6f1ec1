"""Names of TorchDynamo and its guards."""

from inspect_compile.torch_compat import Name

CACHE_SIZE = Name(
    "torch._dynamo.convert_frame", "compute_cache_size", "2.11-2.15", "Dynamo looks at one Python frame: its code"
)
COMPILE_METRICS = Name(
    "torch._dynamo.metrics_context",
    "MetricsContext.update_outer",
    "2.11-2.15",
    "an attempt to compile a frame begins, and ends with its result",
)
RECOMPILE_LIMIT = Name(
    "torch._dynamo.convert_frame",
    "exceeds_recompile_limit",
    "2.11-2.15",
    "a frame that was compiled too often is not compiled again",
)
USER_COMPILER = Name(
    "torch._dynamo.output_graph",
    "OutputGraph.call_user_compiler",
    "2.11-2.15",
    "Dynamo's graph on its way to the backend, whichever that is",
)
GRAPH_BREAK = Name(
    "torch._dynamo.symbolic_convert",
    "InstructionTranslatorBase.log_graph_break",
    "2.11-2.15",
    "a graph break with reason and user stack",
)
RECOMPILE_REASONS = Name(
    "torch._dynamo.convert_frame",
    "get_and_maybe_log_recompilation_reasons",
    "2.11-2.15",
    "the guards that failed before a frame is compiled again",
)
CHECK_FUNCTION = Name(
    "torch._dynamo.guards", "CheckFunctionManager.__init__", "2.11-2.15", "the guards of one compile, complete"
)
COMPILE_CONTEXT = Name("torch._guards", "CompileContext", "2.11-2.15", "the compile id of the running thread")
COUNTS_COMPILE = Name(
    "torch._dynamo.convert_frame", "get_compile_id", "2.11-2.15", "torch counts a new compile: the object of its id"
)
COUNTS_ANEW = Name(
    "torch._dynamo.compiled_autograd",
    "reset",
    "2.11-2.15",
    "a part of torch._dynamo.reset(): ids of compiles occur again after it",
)
GUARD_LATENCY = Name(
    "torch._dynamo.guards",
    "profile_guard_manager",
    "2.11-2.15",
    "torch times one evaluation of the guards that it has just made, in every compile",
)
SKIP_REASON = Name(
    "torch._dynamo.convert_frame", "add_skip_reason", "2.13-2.15", "why a frame is not compiled, in torch's words"
)
CONFIG = Name("torch._dynamo", "config", "2.11-2.15", "the recompile limit that was reached")
NO_TORCH_FUNCTION = Name(
    "torch._C",
    "DisableTorchFunction",
    "2.11-2.15",
    "a tensor's shape is read without asking a mode or a subclass of the program's",
)
TIME_BEGINS = Name(
    "torch._dynamo.utils",
    "ChromiumEventLogger.log_event_start",
    "2.11-2.15",
    "torch begins to time a part of a compile, in every compile",
)
TIME_ENDS = Name(
    "torch._dynamo.utils",
    "ChromiumEventLogger.log_event_end",
    "2.11-2.15",
    "the same part ends: its name, its start and its end",
)
