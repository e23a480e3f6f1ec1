"""Names of TorchDynamo and its guards."""

from inspect_compile.torch_compat import Name

COMPILE_FRAME = Name(
    "torch._dynamo.convert_frame",
    "_compile",
    "2.11-2.15",
    "one attempt to compile one Python frame begins and ends here",
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
