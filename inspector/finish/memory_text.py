"""memory.txt: the bytes that the wrapper holds after each of its lines."""

from inspect_compile.analysis.memory import Memory, MemoryStep, memories
from inspect_compile.dump import Dump
from inspect_compile.tables.text import clean, columns, number_of

_BAR = 40
_HEAD = ("line", "what", "buffer", "change", "live", "")


def memory_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph; nested graphs follow it with replays of their own."""
    return clean("\n".join(_one(found) for found in memories(dump, graph).values()))


def _one(found: Memory) -> str:
    peak = f"{found.peak:,} B" + (f" after line {found.peak_line} of the output code" if found.peak_line else "")
    lines = [
        found.graph,
        f"peak {peak}, relative to the start of the call",
        f"{number_of(found.allocations, 'allocation')}, {found.allocated:,} B together; {found.end:,} B at the end",
        *(f"not followed: {note}" for note in found.notes),
        "",
        *columns([_HEAD, *(_row(step, found.peak) for step in found.steps)], right=frozenset({0, 3, 4})),
    ]
    return "\n".join(lines) + "\n"


def _row(step: MemoryStep, peak: int) -> tuple[str, ...]:
    what = step.buffer or step.kernel or ""
    if step.of is not None:
        what = f"{what} ← {step.of}"
    change = f"{step.change:+,}" if step.change else ""
    bar = "█" * round(_BAR * max(step.live, 0) / peak) if peak > 0 else ""
    return str(step.line or ""), step.what, what, change, f"{step.live:,}", bar
