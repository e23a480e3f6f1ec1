"""Names used by a process that compiles a separate graph: for a GPU that is not present, or again.

None of this is in the program's process; there, a missing name fails that compile, which the dump says.
"""

from inspect_compile.torch_compat import Name

CONTEXT = (
    Name("torch._guards", "compile_context", "2.11-2.15", "sets that id"),
    Name("torch._guards", "CompileId", "2.11-2.15", "the compile id itself"),
    Name("torch._guards", "TracingContext", "2.11-2.15", "what Dynamo knows of a graph, for AOTAutograd and Inductor"),
    Name("torch._guards", "tracing", "2.11-2.15", "sets what Dynamo knows"),
    Name("torch._guards", "detect_fake_mode", "2.11-2.15", "the mode, with its symbols, of a graph's example inputs"),
    Name("torch._dynamo.source", "ConstantSource", "2.11-2.15", "where a symbol of a recorded graph comes from"),
    Name("torch._dynamo.source", "LocalSource", "2.11-2.15", "where an input of a Dynamo graph comes from"),
)
TENSORS = (
    Name("torch._subclasses.fake_tensor", "FakeTensor", "2.11-2.15", "inputs with a shape and no contents"),
    Name("torch._subclasses.fake_tensor", "FakeTensorMode", "2.11-2.15", "makes them, on a device that is not here"),
    Name("torch.fx._graph_pickler", "GraphPickler", "2.11-2.15", "takes a graph and its symbols to another process"),
    Name("torch.fx._graph_pickler", "Options", "2.11-2.15", "what of them goes along"),
    Name("torch.utils", "_pytree", "2.11-2.15", "walks through the tensors in a structure of arguments"),
    Name("torch", "_utils.set_tensor_metadata", "2.11-2.15", "marks a lazily conjugated or negated input as it was"),
    Name(
        "torch._prims_common",
        "make_contiguous_strides_for",
        "2.11-2.15",
        "strides of an input of which no more is known",
    ),
    Name("torch._prims_common", "suggest_memory_format", "2.11-2.15", "channels-last or not, as operators ask it"),
    Name("torch", "_tensor", "2.11-2.15", "the module of a tensor's methods: its lines are not the program's"),
    Name("torch.utils", "_foreach_utils", "2.11-2.15", "the devices of which optimizers update all parameters at once"),
)
COMPILER = (
    Name("torch._functorch", "config", "2.11-2.15", "AOTAutograd's settings"),
    Name(
        "torch._functorch.aot_autograd",
        "get_aot_compilation_context",
        "2.11-2.15",
        "the number that AOTAutograd gives a graph, from which its name is made",
    ),
    Name("torch._inductor.utils", "BoxedBool", "2.11-2.15", "are CUDA graphs wanted? An argument of Inductor's"),
    Name("torch._inductor.cudagraph_utils", "BoxedDeviceIndex", "2.11-2.15", "on which device; another one"),
)
OPERATORS = (
    Name("torch._ops", "OpOverload", "2.11-2.15", "what a node of a graph calls"),
    Name("torch._ops", "OpOverloadPacket", "2.11-2.15", "what it calls before an overload is chosen"),
    Name("torch._decomp", "decompositions", "2.11-2.15", "how operators are taken apart, the same for all devices"),
    Name(
        "torch._inductor.decomposition",
        "select_decomp_table",
        "2.11-2.15",
        "operators as Inductor wants them taken apart",
    ),
    Name("torch", "_C.DispatchKey", "2.11-2.15", "names the rules below autograd that differ by device"),
    Name("torch", "_C.DispatchKeySet", "2.11-2.15", "a set of them"),
    Name("torch", "_C._ExcludeDispatchKeyGuard", "2.11-2.15", "runs an operator without a device's autocast"),
    Name("torch", "_C._dispatch_get_all_op_names", "2.11-2.15", "all operators, to find those that autocast changes"),
    Name("torch", "_C._dispatch_has_kernel_for_dispatch_key", "2.11-2.15", "does autocast change this one?"),
)
CPP_COMMAND = (
    Name("torch._inductor.cpp_builder", "CppBuilder", "2.11-2.15", "the command line of the C++ compiler"),
    Name("torch._inductor.cpp_builder", "CppTorchDeviceOptions", "2.11-2.15", "the flags for a kernel of the CPU"),
    Name(
        "torch._inductor.cpu_vec_isa", "pick_vec_isa", "2.11-2.15", "the vector instructions that it writes kernels for"
    ),
)
