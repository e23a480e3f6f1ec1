"""Names that are used where a graph is taken along, and compiled on its own: for a GPU that is not here, or once more.

What compiles is a process of its own, where a missing name costs that compile, which says so in the dump. In the
program's process a missing one costs what is done for a GPU that is not here, which a note of the run says.
"""

from inspect_compile.torch_compat import Name

SET_COMPILE_CONTEXT = Name("torch._guards", "compile_context", "2.11-2.15", "sets that id")
COMPILE_ID = Name("torch._guards", "CompileId", "2.11-2.15", "the compile id itself")
TRACING_CONTEXT = Name(
    "torch._guards", "TracingContext", "2.11-2.15", "what Dynamo knows of a graph, for AOTAutograd and Inductor"
)
TRACING = Name("torch._guards", "tracing", "2.11-2.15", "sets what Dynamo knows")
DETECT_FAKE_MODE = Name(
    "torch._guards", "detect_fake_mode", "2.11-2.15", "the mode, with its symbols, of a graph's example inputs"
)
CONSTANT_SOURCE = Name(
    "torch._dynamo.source", "ConstantSource", "2.11-2.15", "where a symbol of a recorded graph comes from"
)
LOCAL_SOURCE = Name("torch._dynamo.source", "LocalSource", "2.11-2.15", "where an input of a Dynamo graph comes from")
FAKE_TENSOR = Name("torch._subclasses.fake_tensor", "FakeTensor", "2.11-2.15", "inputs with a shape and no contents")
FAKE_TENSOR_MODE = Name(
    "torch._subclasses.fake_tensor", "FakeTensorMode", "2.11-2.15", "makes them, on a device that is not here"
)
GRAPH_PICKLER = Name(
    "torch.fx._graph_pickler", "GraphPickler", "2.11-2.15", "takes a graph and its symbols to another process"
)
PICKLER_OPTIONS = Name("torch.fx._graph_pickler", "Options", "2.11-2.15", "what of them goes along")
PYTREE = Name("torch.utils", "_pytree", "2.11-2.15", "walks through the tensors in a structure of arguments")
SET_TENSOR_METADATA = Name(
    "torch", "_utils.set_tensor_metadata", "2.11-2.15", "marks a lazily conjugated or negated input as it was"
)
CONTIGUOUS_STRIDES = Name(
    "torch._prims_common", "make_contiguous_strides_for", "2.11-2.15", "strides of an input of which no more is known"
)
SUGGEST_MEMORY_FORMAT = Name(
    "torch._prims_common", "suggest_memory_format", "2.11-2.15", "channels-last or not, as operators ask it"
)
TENSOR_MODULE = Name(
    "torch", "_tensor", "2.11-2.15", "the module of a tensor's methods: its lines are not the program's"
)
FUNCTORCH_CONFIG = Name("torch._functorch", "config", "2.11-2.15", "AOTAutograd's settings")
AOT_CONTEXT = Name(
    "torch._functorch.aot_autograd",
    "get_aot_compilation_context",
    "2.11-2.15",
    "the number that AOTAutograd gives a graph, from which its name is made",
)
BOXED_BOOL = Name(
    "torch._inductor.utils", "BoxedBool", "2.11-2.15", "are CUDA graphs wanted? An argument of Inductor's"
)
BOXED_DEVICE_INDEX = Name(
    "torch._inductor.cudagraph_utils", "BoxedDeviceIndex", "2.11-2.15", "on which device; another one"
)
OPERATOR = Name("torch._ops", "OpOverload", "2.11-2.15", "what a node of a graph calls")
OPERATOR_PACKET = Name("torch._ops", "OpOverloadPacket", "2.11-2.15", "what it calls before an overload is chosen")
RMS_NORM, RMS_NORM_BACKWARD = (
    Name("torch._decomp.decompositions", attribute, "2.11-2.15", "how a kernel that only a GPU has is taken apart")
    for attribute in ("_fused_rms_norm", "_fused_rms_norm_backward")
)
DECOMPOSITION_TABLE = Name(
    "torch._inductor.decomposition", "select_decomp_table", "2.11-2.15", "operators as Inductor wants them taken apart"
)
DISPATCH_KEY = Name("torch", "_C.DispatchKey", "2.11-2.15", "names the rules below autograd that differ by device")
DISPATCH_KEY_SET = Name("torch", "_C.DispatchKeySet", "2.11-2.15", "a set of them")
EXCLUDE_KEYS = Name("torch", "_C._ExcludeDispatchKeyGuard", "2.11-2.15", "runs an operator without a device's autocast")
ALL_OPERATORS = Name(
    "torch", "_C._dispatch_get_all_op_names", "2.11-2.15", "all operators, to find those that autocast changes"
)
HAS_KERNEL = Name("torch", "_C._dispatch_has_kernel_for_dispatch_key", "2.11-2.15", "does autocast change this one?")
CPP_BUILDER = Name("torch._inductor.cpp_builder", "CppBuilder", "2.11-2.15", "the command line of the C++ compiler")
CPP_OPTIONS = Name(
    "torch._inductor.cpp_builder", "CppTorchDeviceOptions", "2.11-2.15", "the flags for a kernel of the CPU"
)
PICK_VEC_ISA = Name(
    "torch._inductor.cpu_vec_isa", "pick_vec_isa", "2.11-2.15", "the vector instructions that it writes kernels for"
)
