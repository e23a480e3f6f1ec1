"""Names that are used where a graph is taken along, and compiled on its own: for a GPU that is not here, or once more.

What compiles is a process of its own, where a missing name costs that compile, which says so in the dump. In the
program's process a missing one costs what is done for a GPU that is not here, which a note of the run says.
"""

from inspect_compile.torch_compat import Name

_GUARDS = "torch._guards"
_FAKE_TENSOR = "torch._subclasses.fake_tensor"
_PRIMS = "torch._prims_common"
_OPS = "torch._ops"
_CPP_BUILDER = "torch._inductor.cpp_builder"

SET_COMPILE_CONTEXT = Name(_GUARDS, "compile_context", "sets that id")
COMPILE_ID = Name(_GUARDS, "CompileId", "the compile id itself")
TRACING_CONTEXT = Name(_GUARDS, "TracingContext", "what Dynamo knows of a graph, for AOTAutograd and Inductor")
TRACING = Name(_GUARDS, "tracing", "sets what Dynamo knows")
DETECT_FAKE_MODE = Name(_GUARDS, "detect_fake_mode", "the mode, with its symbols, of a graph's example inputs")
CONSTANT_SOURCE = Name("torch._dynamo.source", "ConstantSource", "where a symbol of a recorded graph comes from")
LOCAL_SOURCE = Name("torch._dynamo.source", "LocalSource", "where an input of a Dynamo graph comes from")
FAKE_TENSOR = Name(_FAKE_TENSOR, "FakeTensor", "inputs with a shape and no contents")
FAKE_TENSOR_MODE = Name(_FAKE_TENSOR, "FakeTensorMode", "makes them, on a device that is not here")
GRAPH_PICKLER = Name("torch.fx._graph_pickler", "GraphPickler", "takes a graph and its symbols to another process")
PICKLER_OPTIONS = Name("torch.fx._graph_pickler", "Options", "what of them goes along")
PYTREE = Name("torch.utils", "_pytree", "walks through the tensors in a structure of arguments")
SET_TENSOR_METADATA = Name(
    "torch", "_utils.set_tensor_metadata", "marks a lazily conjugated or negated input as it was"
)
CONTIGUOUS_STRIDES = Name(_PRIMS, "make_contiguous_strides_for", "strides of an input of which no more is known")
SUGGEST_MEMORY_FORMAT = Name(_PRIMS, "suggest_memory_format", "channels-last or not, as operators ask it")
TENSOR_MODULE = Name("torch", "_tensor", "the module of a tensor's methods: its lines are not the program's")
FUNCTORCH_CONFIG = Name("torch._functorch", "config", "AOTAutograd's settings")
AOT_CONTEXT = Name(
    "torch._functorch.aot_autograd",
    "get_aot_compilation_context",
    "the number that AOTAutograd gives a graph, from which its name is made",
)
BOXED_BOOL = Name("torch._inductor.utils", "BoxedBool", "are CUDA graphs wanted? An argument of Inductor's")
BOXED_DEVICE_INDEX = Name("torch._inductor.cudagraph_utils", "BoxedDeviceIndex", "on which device; another one")
OPERATOR = Name(_OPS, "OpOverload", "what a node of a graph calls")
OPERATORS_OF_SPACE = Name(_OPS, "_OpNamespace", "the operators of a namespace, beside what torch.ops itself has")
OPERATOR_PACKET = Name(_OPS, "OpOverloadPacket", "what it calls before an overload is chosen")
RMS_NORM, RMS_NORM_BACKWARD = (
    Name("torch._decomp.decompositions", attribute, "how a kernel that only a GPU has is taken apart")
    for attribute in ("_fused_rms_norm", "_fused_rms_norm_backward")
)
ORIGINAL_OPERATOR = Name(
    "torch.fx.experimental.proxy_tensor",
    "set_original_aten_op",
    "names the operator that nodes were taken apart from: the names of kernels are made of it",
)
SAVES_EAGER_INPUTS = Name(
    "torch.fx.experimental.proxy_tensor",
    "_should_save_eager_input_vals",
    "does a node keep what eager calls its operator with, whose strides its inputs get?",
)
DECOMPOSITION_TABLE = Name(
    "torch._inductor.decomposition", "select_decomp_table", "operators as Inductor wants them taken apart"
)
DISPATCH_KEY = Name("torch", "_C.DispatchKey", "names the rules below autograd that differ by device")
DISPATCH_KEY_SET = Name("torch", "_C.DispatchKeySet", "a set of them")
EXCLUDE_KEYS = Name("torch", "_C._ExcludeDispatchKeyGuard", "runs an operator without a device's autocast")
ALL_OPERATORS = Name("torch", "_C._dispatch_get_all_op_names", "all operators, to find those that autocast changes")
HAS_KERNEL = Name("torch", "_C._dispatch_has_kernel_for_dispatch_key", "does autocast change this one?")
CPP_BUILDER = Name(_CPP_BUILDER, "CppBuilder", "the command line of the C++ compiler")
CPP_OPTIONS = Name(_CPP_BUILDER, "CppTorchDeviceOptions", "the flags for a kernel of the CPU")
PICK_VEC_ISA = Name("torch._inductor.cpu_vec_isa", "pick_vec_isa", "the vector instructions that it writes kernels for")
VEC_ISAS = Name("torch._inductor.cpu_vec_isa", "valid_vec_isa_list", "has this process asked what the processor has?")
BUILDS = tuple(
    Name(module, attribute, "hands C++ code to a compiler: nothing of a replay is run, so it is left out")
    for module, attribute in (
        ("torch._inductor.async_compile", "AsyncCompile.cpp"),
        ("torch._inductor.async_compile", "AsyncCompile.cpp_pybinding"),
        ("torch._inductor.codecache", "CppWrapperCodeCache.load_pybinding"),
    )
)
STORE_TIMINGS = Name(
    "torch._inductor.codecache",
    "CacheBase.update_local_cache",
    "keeps the timings of candidates on disk: what a replay times is no answer for the program",
)
MODEL_NAME, GRAPH_BEING_COMPILED, NTH_GRAPH = (
    Name("torch._functorch._aot_autograd.logging_utils", attribute, "a part of the name of a graph")
    for attribute in ("model_name", "graph_being_compiled", "nth_graph")
)
