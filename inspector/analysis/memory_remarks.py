"""What the memory plan gave away."""

from typing import Final

from inspect_compile.analysis.graphs import outermost
from inspect_compile.analysis.memory import memory
from inspect_compile.dump import Dump
from inspect_compile.facts import MemoryPlan, Remark

CODE: Final = "reuse-raises-peak"
_WORTH: Final = 0.01
"""A peak that would be less by less than this share is not worth a word."""
_KNOB: Final = "torch._inductor.config.allow_buffer_reuse"
_POOLS: Final = "torch._inductor.config.memory_planning"


def memory_remarks(dump: Dump, graph: str | None = None) -> list[Remark]:
    """A remark for each graph whose peak would be lower if buffers were not used again."""
    found: list[Remark] = []
    for facts in outermost(dump):
        if graph not in (None, facts.graph) or not dump.rows(MemoryPlan, facts.graph):
            continue
        held = memory(dump, facts.graph)
        less = 1 - held.unplanned / held.peak if held.unplanned is not None and held.peak > 0 else 0.0
        if held.unplanned is None or less < _WORTH:
            continue
        pools = any(storage.origin == "pool" for storage in held.storages)
        what = "memory pools hold" if pools else "buffers that wait to be used again hold"
        found.append(
            Remark(
                graph=facts.graph,
                kind="missed",
                code=CODE,
                message=f"{what} memory: the peak is {held.peak:,} B, {held.unplanned:,} B ({less:.0%} less) without",
                numbers={"peak": held.peak, "without": held.unplanned},
                knob=_POOLS if pools else _KNOB,
            )
        )
    return found
