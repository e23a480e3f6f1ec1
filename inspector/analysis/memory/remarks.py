"""Remarks about memory that the plan could have saved, and about recomputation."""

from typing import Final

from inspect_compile.analysis.memory.saved import activations
from inspect_compile.facts import MemoryPlan, Remark
from inspect_compile.graph import CompiledGraph, Graphs

CODE: Final = "reuse-raises-peak"
AGAIN: Final = "recomputes-in-backward"
_WORTH: Final = 0.01
"""A peak that would be lower by less than this share gets no remark."""
_KNOB: Final = "torch._inductor.config.allow_buffer_reuse"
_POOLS: Final = "torch._inductor.config.memory_planning"


def memory_remarks(graphs: Graphs) -> list[Remark]:
    """Where the peak would be lower if buffers were not reused, and what the backward computes again."""
    found = [_reuse(graph) for graph in graphs if graph.rows(MemoryPlan)]
    found += [_again(graph) for graph in graphs if graph.fact.kind == "forward"]
    return [remark for remark in found if remark is not None]


def _reuse(graph: CompiledGraph) -> Remark | None:
    held = graph.memory
    less = 1 - held.unplanned / held.peak if held.unplanned is not None and held.peak > 0 else 0.0
    if held.unplanned is None or less < _WORTH:
        return None
    pools = any(storage.origin == "pool" for storage in held.storages)
    what = "memory pools hold" if pools else "buffers kept for reuse hold"
    return Remark(
        graph=graph.name,
        kind="missed",
        code=CODE,
        message=f"{what} memory: the peak is {held.peak:,} B, {held.unplanned:,} B ({less:.0%} less) without",
        numbers={"peak": held.peak, "without": held.unplanned},
        knob=_POOLS if pools else _KNOB,
    )


def _again(graph: CompiledGraph) -> Remark | None:
    found = activations(graph)
    if found is None or found.without <= found.saved:
        return None
    less = found.without - found.saved
    count = len(found.again)
    values = f"{count:,} value{'s' * (count != 1)}"
    return Remark(
        graph=graph.name,
        kind="analysis",
        code=AGAIN,
        message=f"recomputes {values} in the backward: saves {less:,} B of {found.without:,} B",
        numbers={"values": count, "saved": less, "without": found.without},
    )
