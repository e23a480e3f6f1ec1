"""Names of Inductor's code generation."""

from inspect_compile.torch_compat import Name

TRITON_DEFINE = Name(
    "torch._inductor.codegen.triton",
    "TritonScheduling.define_kernel",
    "2.11-2.15",
    "a Triton kernel gets its name and source",
)
CPP_DEFINE = Name(
    "torch._inductor.codegen.cpp", "CppScheduling.define_kernel", "2.11-2.15", "a C++ kernel gets its name and source"
)
WRAPPER_DEFINE = Name(
    "torch._inductor.codegen.wrapper",
    "PythonWrapperCodegen.define_kernel",
    "2.11-2.15",
    "every kernel's final source, user-written ones too",
)
WRAPPER_PASSES = Name(
    "torch._inductor.codegen.wrapper",
    "PythonWrapperCodegen.run_wrapper_ir_passes",
    "2.11-2.15",
    "the wrapper's lines, after memory planning",
)
WRAPPER_GENERATE = Name(
    "torch._inductor.codegen.wrapper",
    "PythonWrapperCodegen._generate",
    "2.11-2.15",
    "the output code with its line map, subgraph wrappers too",
)
AUTOTUNER_PRECOMPILE = Name(
    "torch._inductor.runtime.triton_heuristics",
    "CachingAutotuner.precompile",
    "2.11-2.15",
    "all configurations of a Triton kernel are compiled, here or in a worker process",
)
AUTOTUNER_COMPILE = Name(
    "torch._inductor.runtime.triton_heuristics",
    "CachingAutotuner._precompile_config",
    "2.11-2.15",
    "one configuration of a Triton kernel is compiled, in this process",
)
CPP_FUNCTIONS = Name(
    "torch._inductor.codegen.cpp",
    "CppKernelProxy.codegen_functions",
    "2.11-2.15",
    "the loops of a C++ kernel get their bodies: here it is decided which of them are vectorized",
)
CPP_VECTORIZED = Name(
    "torch._inductor.codegen.cpp", "TilingSelect.select_tiling", "2.11-2.15", "which loops, and why none: torch counts"
)
CPP_KERNEL = Name("torch._inductor.codegen.cpp", "CppKernel", "2.11-2.15", "a C++ kernel, as opposed to a Triton one")
CPP_LOOPS = Name(
    "torch._inductor.codegen.cpp",
    "CppKernel.codegen_loops_impl",
    "2.11-2.15",
    "the loops as they are written, with those that are spread over threads",
)
CPP_BODIES = Name(
    "torch._inductor.codegen.cpp",
    "CppKernelProxy.gen_body",
    "2.11-2.15",
    "the body of a loop nest is written, one part after the other: main loop and tails",
)
CPP_BODY = Name(
    "torch._inductor.codegen.cpp", "CppKernel.gen_body", "2.11-2.15", "one of these parts, which is put in there next"
)
CPP_THREADS = Name(
    "torch._inductor.codegen.cpp", "parallel_num_threads", "2.11-2.15", "how many threads a C++ kernel is generated for"
)
TRITON_CACHE = Name(
    "torch._inductor.runtime.cache_dir_utils",
    "triton_cache_dir",
    "2.11-2.15",
    "where Triton keeps the stages of a kernel of which torch kept its launcher alone",
)
TRITON_CACHE_KEY = Name(
    "torch._inductor.runtime.runtime_utils",
    "triton_hash_to_path_key",
    "2.11-2.15",
    "the folder of one kernel in there",
)
LINE_CONTEXT = Name(
    "torch._inductor.codegen.wrapper",
    "LineContext",
    "2.11-2.15",
    "a line that writes nothing, and is found again in the line map",
)
CSE_GENERATE = Name(
    "torch._inductor.codegen.common",
    "CSE.generate",
    "2.11-2.15",
    "an expression becomes a variable of a kernel, or is one already: then that one has several sources",
)
CSE_NEW = Name(
    "torch._inductor.codegen.common",
    "CSE.newvar",
    "2.11-2.15",
    "a kernel gets a new variable: what it holds is computed",
)
WRITE_LINE = Name(
    "torch._inductor.utils", "IndentedBuffer.writeline", "2.11-2.15", "a statement of a kernel, while it is generated"
)
BOXED_GRADS = Name(
    "torch.autograd.function",
    "Function.boxed_grads_call",
    "2.13-2.15",
    "a backward is given its gradients in a list that it empties: they are gone once its code frees them",
)
