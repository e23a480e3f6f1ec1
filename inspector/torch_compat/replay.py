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
GRAPH_NAMES = "torch._functorch._aot_autograd.logging_utils"
"""In 2.11 to 2.15: its model_name, graph_being_compiled and nth_graph make up the name of a graph."""
