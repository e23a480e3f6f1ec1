"""Names of what exports programs, compiles them ahead of time, and saves and loads what was compiled."""

from typing import Final

from inspect_compile.torch_compat import Name

_AOT_COMPILE = "torch._dynamo.aot_compile"

CALLS: Final = {
    Name("torch.export._trace", "_export", "traces a program"): "torch.export.export",
    Name("torch.export", "save", "writes an exported program"): "torch.export.save",
    Name("torch.export", "load", "reads one"): "torch.export.load",
    Name("torch._inductor.debug", "aot_inductor_minifier_wrapper", "makes a package of an exported program"): (
        "aoti_compile_and_package"
    ),
    Name("torch._inductor.package", "load_package", "loads a package"): "aoti_load_package",
    Name(_AOT_COMPILE, "aot_compile_fullgraph", "compiles a function before it is called"): "aot_compile",
    Name(_AOT_COMPILE, "AOTCompiledFunction.save_compiled_function", "writes it"): "save_compiled_function",
    Name(_AOT_COMPILE, "AOTCompiledFunction.deserialize", "reads it"): "load_compiled_function",
    Name("torch.compiler._cache", "CacheArtifactManager.serialize", "packs what caches have"): "save_cache_artifacts",
    Name("torch.compiler._cache", "CacheArtifactManager.populate_caches", "unpacks it"): "load_cache_artifacts",
}
"""What is called, and what torch's documentation calls it."""
COMPILE: Final = "compile_fx_aot"
"""The timer of a compile that belongs to no frame of Dynamo's."""
