"""memory.txt: the bytes that the wrapper holds after each of its lines."""

from inspect_compile.analysis.memory.holders import holders, moment
from inspect_compile.analysis.memory.plan import Memory, memories
from inspect_compile.analysis.memory.uncounted import uncounted
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.memory.memory import HELD, STEPS
from inspect_compile.tables.memory.memory_words import memory_notes, moment_notes, uncounted_notes
from inspect_compile.tables.text import clean, number_of

_MOST = 40
"""Maximum number of pieces of memory listed for the peak."""


def memory_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph; nested graphs follow with their own replays."""
    return clean("\n".join(_one(dump, graph, found) for found in memories(dump, graph).values()))


def _one(dump: Dump, graph: str, found: Memory) -> str:
    peak = f"{found.peak:,} B" + (f" after line {found.peak_line} of the output code" if found.peak_line else "")
    lines = [
        found.graph,
        f"peak {peak}, relative to the start of the call",
        f"{number_of(found.allocations, 'allocation')}, {found.allocated:,} B together; {found.end:,} B at the end",
        *memory_notes(found),
        *(uncounted_notes(uncounted(dump, graph)) if found.graph == graph else ()),
        *_at_peak(dump, graph, found),
        "",
        *text_lines(STEPS, found.steps),
    ]
    return "\n".join(lines) + "\n"


def _at_peak(dump: Dump, graph: str, found: Memory) -> list[str]:
    if found.peak_index is None:
        return []
    now = moment(found, holders(dump, graph, found), found.peak_index)
    left = len(now.holders) - _MOST
    more = [f"… and {number_of(left, 'smaller one')}"] if left > 0 else []
    return ["", "at the peak", *text_lines(HELD, now.holders[:_MOST]), *more, *moment_notes(now)]
