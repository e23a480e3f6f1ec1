"""Names of what exports programs, compiles them ahead of time, and saves and loads what was compiled."""

from inspect_compile.torch_compat import Name

_AOT_COMPILE = "torch._dynamo.aot_compile"
_CACHE = "torch.compiler._cache"

EXPORT = Name("torch.export._trace", "_export", "traces a program")
SAVE_EXPORTED = Name("torch.export", "save", "writes an exported program")
LOAD_EXPORTED = Name("torch.export", "load", "reads an exported program")
MAKE_PACKAGE = Name("torch._inductor.debug", "aot_inductor_minifier_wrapper", "makes a package of an exported program")
LOAD_PACKAGE = Name("torch._inductor.package", "load_package", "loads a package")
COMPILE_FUNCTION = Name(_AOT_COMPILE, "aot_compile_fullgraph", "compiles a function before it is called")
SAVE_FUNCTION = Name(_AOT_COMPILE, "AOTCompiledFunction.save_compiled_function", "writes such a function")
LOAD_FUNCTION = Name(_AOT_COMPILE, "AOTCompiledFunction.deserialize", "reads such a function")
SAVE_ARTIFACTS = Name(_CACHE, "CacheArtifactManager.serialize", "packs what torch's caches have")
LOAD_ARTIFACTS = Name(_CACHE, "CacheArtifactManager.populate_caches", "unpacks it into torch's caches")
