"""Names of Inductor's code generation."""

from inspect_compile.torch_compat import Name

_CPP = "torch._inductor.codegen.cpp"
_COMMON = "torch._inductor.codegen.common"
_WRAPPER = "torch._inductor.codegen.wrapper"
_HEURISTICS = "torch._inductor.runtime.triton_heuristics"

TRITON_DEFINE = Name(
    "torch._inductor.codegen.triton", "TritonScheduling.define_kernel", "a Triton kernel gets its name and source"
)
CPP_DEFINE = Name(_CPP, "CppScheduling.define_kernel", "a C++ kernel gets its name and source")
WRAPPER_DEFINE = Name(
    _WRAPPER, "PythonWrapperCodegen.define_kernel", "every kernel's final source, user-written ones too"
)
WRAPPER_PASSES = Name(
    _WRAPPER, "PythonWrapperCodegen.run_wrapper_ir_passes", "the wrapper's lines, after memory planning"
)
WRAPPER_GENERATE = Name(
    _WRAPPER, "PythonWrapperCodegen._generate", "the output code with its line map, subgraph wrappers too"
)
AUTOTUNER_PRECOMPILE = Name(
    _HEURISTICS,
    "CachingAutotuner.precompile",
    "all configurations of a Triton kernel are compiled, here or in a worker process",
)
AUTOTUNER_COMPILE = Name(
    _HEURISTICS,
    "CachingAutotuner._precompile_config",
    "one configuration of a Triton kernel is compiled, in this process",
)
CPP_FUNCTIONS = Name(
    _CPP,
    "CppKernelProxy.codegen_functions",
    "the loops of a C++ kernel get their bodies: here it is decided which of them are vectorized",
)
CPP_VECTORIZED = Name(_CPP, "TilingSelect.select_tiling", "which loops, and why none: torch counts")
CPP_KERNEL = Name(_CPP, "CppKernel", "a C++ kernel, as opposed to a Triton one")
CPP_LOOPS = Name(
    _CPP, "CppKernel.codegen_loops_impl", "the loops as they are written, with those that are spread over threads"
)
CPP_BODIES = Name(
    _CPP, "CppKernelProxy.gen_body", "the body of a loop nest is written, one part after the other: main loop and tails"
)
CPP_BODY = Name(_CPP, "CppKernel.gen_body", "one of these parts, which is put in there next")
CPP_THREADS = Name(_CPP, "parallel_num_threads", "how many threads a C++ kernel is generated for")
TRITON_CACHE = Name(
    "torch._inductor.runtime.cache_dir_utils",
    "triton_cache_dir",
    "where Triton keeps the stages of a kernel of which torch kept its launcher alone",
)
TRITON_CACHE_KEY = Name(
    "torch._inductor.runtime.runtime_utils", "triton_hash_to_path_key", "the folder of one kernel in there"
)
CODE_WRITTEN = Name(
    "torch._inductor.codecache", "write", "a source gets the key that it is compiled and found under, from its text"
)
TRITON_KEY = Name("triton.compiler.compiler", "get_cache_key", "the key of a kernel in Triton's cache is computed")
TRITON_FOLDER = Name("triton.knobs", "cache.dir", "where that cache is")
LINE_CONTEXT = Name(_WRAPPER, "LineContext", "a line that writes nothing, and is found again in the line map")
CSE_GENERATE = Name(
    _COMMON,
    "CSE.generate",
    "an expression becomes a variable of a kernel, or is one already: then that one has several sources",
)
CSE_NEW = Name(_COMMON, "CSE.newvar", "a kernel gets a new variable: what it holds is computed")
_PROXY = "CSEProxy"
OPS_DEFAULT = Name(_COMMON, f"{_PROXY}._default", "an operation of a loop's body becomes a variable of a kernel")
OPS_LOAD = Name(_COMMON, f"{_PROXY}.load", "a value of a buffer becomes one")
OPS_STORE = Name(_COMMON, f"{_PROXY}.store", "a variable is stored in a buffer")
OPS_STORE_REDUCTION = Name(_COMMON, f"{_PROXY}.store_reduction", "the result of a reduction is stored in a buffer")
OPS_REDUCTION = Name(_COMMON, f"{_PROXY}.reduction", "variables are reduced to one")
PYBINDINGS = Name("torch._inductor.codecache", "CppPythonBindingsCodeCache", "compiles and loads a C++ kernel")
LOAD_PYBINDING = Name(
    "torch._inductor.codecache",
    "CppPythonBindingsCodeCache.load_pybinding_async",
    "a C++ kernel is compiled and loaded: its source as it really is",
)
WRITE_LINE = Name("torch._inductor.utils", "IndentedBuffer.writeline", "a statement of a kernel, while it is generated")
BOXED_GRADS = Name(
    "torch.autograd.function",
    "Function.boxed_grads_call",
    "a backward is given its gradients in a list that it empties: they are gone once its code frees them",
    versions="2.13-2.15",
)
