"""Names of the functions that a graph passes through from Dynamo to the callable that runs."""

from typing import Final

from inspect_compile.torch_compat import Name

_COMPILE_FX = "torch._inductor.compile_fx"
_GRAPH = "torch._inductor.graph"

AOT_AUTOGRAD = Name(
    "torch._dynamo.backends.common",
    "AotAutograd.__call__",
    "a backend hands a graph to AOTAutograd; what comes back is what Dynamo's code calls",
)
AOT_TRACE = Name(
    "torch._functorch.aot_autograd",
    "aot_stage1_graph_capture",
    "AOTAutograd traces the graph again, for training forward and backward as one",
)
PARTITION = Name(_COMPILE_FX, "partition_fn", "the joint graph is cut into forward and backward")
FORWARD = Name(_COMPILE_FX, "compile_fx_forward", "Inductor is handed a forward graph, or one that needs no gradients")
BACKWARD = Name(_COMPILE_FX, "compile_fx_backward", "Inductor is handed a backward graph")
CALL_BACKWARD = Name(
    "torch._functorch._aot_autograd.runtime_wrappers",
    "call_func_at_runtime_with_args",
    "autograd calls a compiled backward; autocast is the program's, and off inside if it was on in the forward",
)
FREEZING = Name(_COMPILE_FX, "fw_compiler_freezing", "Inductor is handed a graph whose parameters become constants")
COMPILE_INNER = Name(_COMPILE_FX, "compile_fx_inner", "compiles one ATen graph, with what stands around it")
INNER = Name(_COMPILE_FX, "_compile_fx_inner", "one graph is compiled, or found compiled")
CUDAGRAPHIFY = Name(_COMPILE_FX, "cudagraphify", "a callable goes into a CUDA graph")
CUDAGRAPHS_SETTING = Name("torch._inductor.config", "triton.cudagraphs", "whether CUDA graphs are asked for")
LOAD = Name(_GRAPH, "GraphLowering.compile_to_module", "the generated module, and its `call`")
CODEGEN = Name(_GRAPH, "GraphLowering.codegen", "the code of a graph is generated")
SCHEDULE = Name(_GRAPH, "GraphLowering._update_scheduler", "the operations of a graph are scheduled")
POST_COMPILE = Name(
    "torch._inductor.output_code",
    "CompiledFxGraph.post_compile",
    "what is put around the generated `call`: CUDA graphs, copies of unaligned inputs",
)
CALLED: Final = "current_callable"
"""What the calls of a compiled graph run: an attribute that each has once `post_compile` has returned. Seen in
2.11-2.15.
"""
PARTITIONS: Final = "partitions"
"""The generated `Runner`, whose method `call` is a graph's function, has a list of its parts here, which torch replaces
by the same as CUDA graphs. Seen in 2.11-2.15.
"""
LIBRARY = Name(
    "torch._inductor.codecache", "AotCodeCompiler.compile", "AOTInductor makes a library of the code of a graph"
)
PACKAGES = Name("torch._inductor", "aoti_compile_and_package", "an exported module becomes a package of AOTInductor")
LOADS_PACKAGE = Name("torch._inductor.package.package", "load_package", "a model of a package, which is called")
