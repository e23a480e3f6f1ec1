"""What there is to say of a memory plan, in words, for texts, tables and the app."""

from inspect_compile.analysis.memory import Memory
from inspect_compile.analysis.memory_holders import Moment
from inspect_compile.analysis.saved import Kept
from inspect_compile.tables.text import clean


def memory_notes(found: Memory) -> list[str]:
    """What else there is to say of a replay, in sentences."""
    notes = []
    if found.unplanned is not None and found.unplanned != found.peak:
        change = found.unplanned / found.peak - 1 if found.peak > 0 else 0.0
        notes.append(
            f"without memory planning the peak is {found.unplanned:,} B ({change:+.0%}): no buffer is used again"
        )
    if found.dropped != found.peak:
        named = ", ".join(found.given[:3]) + (", …" if len(found.given) > 3 else "")
        notes.append(f"{found.dropped:,} B at the peak if the program has let go of {named} by then")
    if found.estimate is not None:
        notes.append(f"Inductor's own estimate of the peak: {found.estimate:,} B, inputs that can be freed included")
    return [clean(note) for note in notes]


def moment_notes(now: Moment) -> list[str]:
    """What is live beside the pieces of memory themselves."""
    notes = []
    if now.nested:
        notes.append(f"{now.nested:,} B more inside of the nested graph that runs there")
    if now.returned:
        notes.append(f"{now.returned:,} B less: what the forward had saved, and is freed by then")
    return notes


def why_kept(row: Kept) -> str:
    """What a value of the forward is to the backward, in words."""
    if row.decision == "saved" and row.of == row.node:
        return "the program's own, or given to it: no memory more"
    if row.of:
        return f"a view of {clean(row.of)}: no memory more"
    if row.bytes is None:
        return "a number"
    if row.decision == "recomputed":
        return "the backward reads it" if row.is_needed else "on the way to what the backward reads"
    return "" if row.is_needed else "what is computed again reads it, the backward itself does not"
