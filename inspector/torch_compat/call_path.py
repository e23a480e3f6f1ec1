"""Names of the functions that a graph passes through from Dynamo to the callable that runs."""

from inspect_compile.torch_compat import Name

AOT_AUTOGRAD = Name(
    "torch._dynamo.backends.common",
    "AotAutograd.__call__",
    "2.11-2.15",
    "a backend hands a graph to AOTAutograd; what comes back is what Dynamo's code calls",
)
AOT_TRACE = Name(
    "torch._functorch.aot_autograd",
    "aot_stage1_graph_capture",
    "2.11-2.15",
    "AOTAutograd traces the graph again, for training forward and backward as one",
)
PARTITION = Name(
    "torch._inductor.compile_fx", "partition_fn", "2.11-2.15", "the joint graph is cut into forward and backward"
)
FORWARD = Name(
    "torch._inductor.compile_fx",
    "compile_fx_forward",
    "2.11-2.15",
    "Inductor is handed a forward graph, or one that needs no gradients",
)
BACKWARD = Name("torch._inductor.compile_fx", "compile_fx_backward", "2.11-2.15", "Inductor is handed a backward graph")
FREEZING = Name(
    "torch._inductor.compile_fx",
    "fw_compiler_freezing",
    "2.11-2.15",
    "Inductor is handed a graph whose parameters become constants",
)
COMPILE_INNER = Name(
    "torch._inductor.compile_fx", "compile_fx_inner", "2.11-2.15", "compiles one ATen graph, with what stands around it"
)
INNER = Name("torch._inductor.compile_fx", "_compile_fx_inner", "2.11-2.15", "one graph is compiled, or found compiled")
CUDAGRAPHIFY = Name("torch._inductor.compile_fx", "cudagraphify", "2.11-2.15", "a callable goes into a CUDA graph")
CUDAGRAPHS_SETTING = Name(
    "torch._inductor.config", "triton.cudagraphs", "2.11-2.15", "whether CUDA graphs are asked for"
)
LOAD = Name(
    "torch._inductor.graph", "GraphLowering.compile_to_module", "2.11-2.15", "the generated module, and its `call`"
)
CODEGEN = Name("torch._inductor.graph", "GraphLowering.codegen", "2.11-2.15", "the code of a graph is generated")
SCHEDULE = Name(
    "torch._inductor.graph", "GraphLowering._update_scheduler", "2.11-2.15", "the operations of a graph are scheduled"
)
POST_COMPILE = Name(
    "torch._inductor.output_code",
    "CompiledFxGraph.post_compile",
    "2.11-2.15",
    "what is put around the generated `call`: CUDA graphs, copies of unaligned inputs",
)
