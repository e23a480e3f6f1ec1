"""Names for steering fusion: the checks before a pair is put into one scheduler node."""

from inspect_compile.torch_compat import Name

WHY = Name("torch._inductor.scheduler", "WhyNoFuse", "2.11-2.15", "says in torch's fusion log why a pair stays apart")
MAKES_CYCLE = Name(
    "torch._inductor.scheduler",
    "Scheduler.will_fusion_create_cycle",
    "2.11-2.15",
    "the last question before two nodes are fused, also those that had to be benchmarked first",
)
COMBINES = Name(
    "torch._inductor.scheduler",
    "Scheduler.speedup_by_combo_kernel",
    "2.11-2.15",
    "whether nodes that do not depend on each other become one combo kernel",
)
STORES = (
    Name(
        "torch._inductor.codecache", "FxGraphCache._save_graph", "2.11-2.15", "puts a graph into the cache of FX graphs"
    ),
    Name(
        "torch._functorch._aot_autograd.autograd_cache",
        "AOTAutogradCache.save",
        "2.11-2.15",
        "puts a graph into the cache of AOTAutograd",
    ),
)
