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
LINE_CONTEXT = Name(
    "torch._inductor.codegen.wrapper",
    "LineContext",
    "2.11-2.15",
    "a line that writes nothing, and is found again in the line map",
)
