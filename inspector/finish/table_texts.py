"""flops.txt, fusion.txt and memory.txt: the tables of one graph in full."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.flop_rows import flop_rows
from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.cost.schedule_rows import fused_rows
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.memory.holders import holders, moment
from inspect_compile.analysis.memory.uncounted import uncounted
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.cost.flops import COLUMNS, footnotes
from inspect_compile.tables.fusion.fusion import ATTEMPTS, MISSES, REFUSALS, found_text
from inspect_compile.tables.fusion.why_text import left_out_lines, order_text
from inspect_compile.tables.memory.memory import STEPS, moment_lines
from inspect_compile.tables.memory.memory_text import memory_notes, uncounted_notes
from inspect_compile.tables.schedule import GROUPS
from inspect_compile.tables.text import clean, number_of

_COUNTED: Final = "How FLOPs are counted: docs/flops.md of inspect-compile."
_MOST_MISSES: Final = 40
_MOST_HELD: Final = 40
"""Maximum number of pieces of memory listed for the peak."""


def flops_text(graph: CompiledGraph) -> str:
    """The whole text for one outermost graph."""
    return clean("\n".join([graph.name, "", *flops_table(graph), "", _COUNTED]) + "\n")


def flops_table(graph: CompiledGraph, *, depth: int | None = None) -> Iterator[str]:
    """The table, followed by what has no count and what is free; modules deeper than `depth` are left out."""
    found = graph_flops(graph)
    yield from text_lines(COLUMNS, [row for row in flop_rows(found) if depth is None or row.depth <= depth], rule=True)
    yield from footnotes(found)


def fusion_text(graph: CompiledGraph) -> str:
    """The whole text for one outermost graph."""
    found = fusion(graph)
    lines = [graph.name, found_text(found), ""]
    if found.refusals:
        lines += [*text_lines(REFUSALS, found.refusals), ""]
    groups = text_lines(GROUPS, fused_rows(graph), indent="  ")
    lines += ["After fusion, in the order of the generated code", *groups, ""]
    if found.misses:
        lines += [f"Apart although they share bytes, {order_text(found.misses)}"]
        lines += text_lines(MISSES, found.misses[:_MOST_MISSES], indent="  ")
        if len(found.misses) > _MOST_MISSES:
            lines.append(f"  and {number_of(len(found.misses) - _MOST_MISSES, 'more', 'more')}")
        lines += [*(f"  {line}" for line in left_out_lines(found.left_out)), ""]
    lines += ["Every attempt", *(text_lines(ATTEMPTS, candidates(graph), indent="  ") or ["  none"])]
    return clean("\n".join(lines) + "\n")


def memory_text(graph: CompiledGraph) -> str:
    """The whole text for one outermost graph; nested graphs follow with their own replays."""
    return clean("\n".join(_one(graph, found) for found in graph.memories.values()))


def _one(graph: CompiledGraph, found: Memory) -> str:
    peak = f"{found.peak:,} B" + (f" after line {found.peak_line} of the output code" if found.peak_line else "")
    lines = [
        found.graph,
        f"peak {peak}, relative to the start of the call",
        f"{number_of(found.allocations, 'allocation')}, {found.allocated:,} B together; {found.end:,} B at the end",
        *memory_notes(found),
        *(uncounted_notes(uncounted(graph)) if found.graph == graph.name else ()),
        *_at_peak(graph, found),
        "",
        *text_lines(STEPS, found.steps),
    ]
    return "\n".join(lines) + "\n"


def _at_peak(graph: CompiledGraph, found: Memory) -> list[str]:
    if found.peak_index is None:
        return []
    now = moment(found, holders(graph, found), found.peak_index)
    return ["", "at the peak", *moment_lines(now, _MOST_HELD)]
