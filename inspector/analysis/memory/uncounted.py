"""Memory that a replay of the wrapper leaves out: what libraries allocate, and the allocator's rounding."""

from collections import Counter

import msgspec

from inspect_compile.analysis.cost.roofs import gpu_of
from inspect_compile.facts import WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.memory.replay import replays
from inspect_compile.graph.memory.saved_owners import only_saved
from inspect_compile.knowledge.memory.workspaces import BLOCK, CONFIG, cublas_workspace, library


class Uncounted(msgspec.Struct, frozen=True):
    """What is not counted for one graph's wrapper."""

    calls: dict[str, int]
    """Library → number of calls that may allocate and free memory internally; on a CPU all together."""
    cublas: int | None = None
    """Bytes that torch reserves for cuBLAS on each stream; None if the graph does not call it, or that is not known."""
    in_blocks: int | None = None
    """The peak if each allocation is rounded up to whole blocks; None if the allocator has no blocks."""


def uncounted(graph: CompiledGraph) -> Uncounted:
    """What `memory` of the graph does not count; includes calls in its nested graphs."""
    facts = graph.dump.graph(graph.name)
    externs = [row.kernel or "" for row in graph.rows(WrapperLine) if row.what == "extern"]
    if facts is None or not facts.device.startswith("cuda"):
        return Uncounted({"extern kernels": len(externs)} if externs else {})
    calls = dict(Counter(map(library, externs)).most_common())
    gpu = gpu_of(graph.dump)
    cublas = None
    if gpu is not None and gpu.backend == "cuda" and "cuBLAS" in calls:
        config = graph.dump.run.environment.get(CONFIG, "")
        cublas = cublas_workspace(gpu.capability, graph.dump.run.versions.get("torch", ""), config)
    found = replays(graph)
    rounded = found[graph.name].play(graph.name, only_saved(graph).own, [], is_planned=True, block=BLOCK)
    return Uncounted(calls, cublas, rounded.peak if len(found) == 1 else None)
