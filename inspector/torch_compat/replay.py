"""Names that a replay of a recorded graph replaces, in a separate process."""

from inspect_compile.torch_compat import Name

BUILDS = tuple(
    Name(module, attribute, "2.11-2.15", "hands C++ code to a compiler: nothing of a replay is run, so it is left out")
    for module, attribute in (
        ("torch._inductor.async_compile", "AsyncCompile.cpp"),
        ("torch._inductor.async_compile", "AsyncCompile.cpp_pybinding"),
        ("torch._inductor.codecache", "CppWrapperCodeCache.load_pybinding"),
    )
)
STORE_TIMINGS = Name(
    "torch._inductor.codecache",
    "CacheBase.update_local_cache",
    "2.11-2.15",
    "keeps the timings of candidates on disk: what a replay times is no answer for the program",
)
MODEL_NAME, GRAPH_BEING_COMPILED, NTH_GRAPH = (
    Name("torch._functorch._aot_autograd.logging_utils", attribute, "2.11-2.15", "a part of the name of a graph")
    for attribute in ("model_name", "graph_being_compiled", "nth_graph")
)
