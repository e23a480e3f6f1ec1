"""Texts about a memory plan, for files, tables and the TUI."""

from inspect_compile.analysis.memory.holders import Moment
from inspect_compile.analysis.memory.saved import Activations, NeededActivation
from inspect_compile.analysis.memory.uncounted import Uncounted
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.replay import RETURN
from inspect_compile.knowledge.memory.saved_reasons import NO_REASON, by_code
from inspect_compile.knowledge.memory.workspaces import BLOCK
from inspect_compile.tables.text import byte_text, clean, number_of, place_text


def memory_notes(found: Memory) -> list[str]:
    """Notes on a replay, in sentences."""
    notes = []
    if found.unplanned is not None and found.unplanned != found.peak:
        change = found.unplanned / found.peak - 1 if found.peak > 0 else 0.0
        notes.append(
            f"without memory planning the peak is {found.unplanned:,} B ({change:+.0%}): no buffer is used again"
        )
    if (found.dropped, found.dropped_end) != (found.peak, found.end):
        named = ", ".join(found.given[:3]) + (", …" if len(found.given) > 3 else "")
        also = f", {found.dropped_end:,} B at the end," if found.dropped_end != found.end else ""
        notes.append(f"{found.dropped:,} B at the peak{also} if only autograd holds {named} by then")
    for growth in found.loops:
        more = "further rounds change nothing"
        if growth > 0:
            more = f"each further one keeps {growth:,} B more, and what is computed from all of them grows too"
        notes.append(f"the number of rounds of a loop is known only at run time: computed for two rounds, {more}")
    if found.unentered > found.peak:
        notes.append(f"{found.unentered:,} B at least if the loop is not entered: its carried values are copied")
    if found.estimate is not None:
        notes.append(f"Inductor's estimate of the peak: {found.estimate:,} B, including inputs that can be freed")
    return [clean(note) for note in notes]


def uncounted_notes(found: Uncounted) -> list[str]:
    """What to consider in a comparison with an allocator's figures."""
    notes = []
    if found.calls:
        named = ", ".join(f"{name} ({number_of(count, 'call')})" for name, count in found.calls.items())
        notes.append(f"not included: what these allocate and free while they run: {named}")
    if found.cublas:
        notes.append(
            f"not included: {found.cublas:,} B that torch keeps for cuBLAS on each stream from its first call on"
        )
    if found.in_blocks is not None:
        notes.append(f"{found.in_blocks:,} B at least at the peak in the allocator's blocks, multiples of {BLOCK} B")
    return notes


def moment_text(found: Memory, now: Moment, line: int | None = None) -> str:
    """The moment in words: `after line 164`, the requested line or the last one that changed anything."""
    line = now.line if line is None else line
    is_peak = " (peak)" if now.index == found.peak_index else ""
    if now.nested:
        return f"while line {line} runs{is_peak}"
    if found.steps and now.index == found.steps[-1].index and found.steps[-1].what == RETURN:
        return "when it has returned"
    return f"after line {line}{is_peak}"


def peak_text(found: Memory) -> str:
    """`peak 262 kB after line 164`."""
    return f"peak {byte_text(found.peak)}" + (f" after line {found.peak_line}" if found.peak_line else "")


def moment_notes(now: Moment) -> list[str]:
    """What is live besides the pieces of memory listed."""
    notes = []
    if now.nested:
        notes.append(f"{now.nested:,} B more inside the nested graph that runs there")
    if now.returned:
        notes.append(f"{now.returned:,} B less: what the forward had saved, and is freed by then")
    return notes


def kept_text(found: Activations) -> str:
    """What the backward keeps, on one line."""
    again = sum(row.decision == "recomputed" for row in found.kept)
    saved = f"{byte_text(found.saved)}, {byte_text(found.without)} if nothing were computed again"
    counts = f"{number_of(len(found.kept) - again, 'value')} saved, {number_of(again, 'node')} computed again"
    return f"kept for the backward: {saved}   {counts}, {found.unneeded:,} not needed"


def partition_notes(found: Activations) -> list[str]:
    """Who chose what to save, and how."""
    row = found.partition
    if row is None:
        return []
    notes = [f"cut by {row.partitioner} ({row.defined})"]
    if row.custom:
        notes.append(f"for custom_partitioner_fn {row.custom}")
    if row.budget is not None and row.budget != 1:
        taken = f"cut {row.cut:,} of {row.cuts:,}" if row.cut else "no cut: only what the program holds is kept"
        freed = f", {number_of(row.lifted, 'value')} freed from its rules" if row.lifted else ""
        notes.append(f"activation_memory_budget {row.budget:g}: {taken}{freed}")
    return [clean(", ".join(notes))]


def why_kept(row: NeededActivation) -> str:
    """What the backward needs a value of the forward for, and why it is saved or recomputed."""
    if row.of == row.node and row.decision == "saved":
        return "the program's own, or an input: no extra memory"
    if row.of:
        return f"a view of {clean(row.of)}: no extra memory"
    if row.bytes is None and not row.size and row.decision == "saved":
        return "a number"
    reason = by_code(row.why)
    is_known = reason is not None and (row.why != "banned" or row.told == NO_REASON)
    because = reason.meaning if reason is not None and is_known else clean(row.told)
    if row.decision == "recomputed":
        use = f"for {clean(row.readers[0])}" if row.readers else "on the path to what the backward reads"
        return f"{use}; {because}" if because else use
    use = "" if row.is_needed else "read only by what is recomputed"
    return "; ".join(filter(None, (because, use)))


def kept_story(row: NeededActivation) -> list[str]:
    """Everything known about one value, in lines."""
    size = "" if row.bytes is None else f"{row.bytes:,} B"
    lines = [f"{row.decision}   {size}{f'   {row.size}' if row.size else ''}   {why_kept(row)}"]
    if row.told:
        lines.append(f"torch    {row.told}")
    knob = getattr(by_code(row.why), "knob", "")
    if knob:
        lines.append(f"setting  torch._functorch.config.{knob}")
    if row.weight is not None:
        lines.append(f"weight   {row.weight:,} in the minimum cut: its bytes, more where it is far from the backward")
    if row.readers:
        lines.append(f"read by  {' '.join(row.readers)}")
    if row.kernels:
        lines.append(f"again in {' '.join(row.kernels)}")
    if row.where is not None:
        lines.append(f"line     {place_text(row.where)}   {row.where.code.strip()}")
    return [clean(line) for line in lines]
