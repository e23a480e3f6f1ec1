"""How much memory the wrapper holds after each of its lines: a replay of allocations, reuses, pools and frees.

Bytes are relative to the start of the call. The memory of inputs belongs to the caller, with one exception: what the
forward saved is freed by the backward. Not visible: workspaces of extern kernels, and the allocator's rounding.
"""

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from inspect_compile.graph.memory.replay import MemoryStep, Replay, replays
from inspect_compile.graph.memory.saved_owners import OnlySaved, only_saved
from inspect_compile.graph.memory.storages import Storage

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph


class Memory(msgspec.Struct, frozen=True):
    """The replay of one graph's wrapper."""

    graph: str
    steps: list[MemoryStep]
    peak: int
    peak_index: int | None
    """The first Wrapper IR line after which `peak` is held; None if nothing is allocated."""
    peak_line: int | None
    """Line number of the peak in output_code.py."""
    allocated: int
    """Bytes of all allocations."""
    allocations: int
    end: int
    """Bytes of the outputs' memory, less what the forward had saved and is freed by then."""
    storages: list[Storage]
    """Every piece of memory, in order of allocation; those passed in by the caller come first."""
    nested: int
    """The part of the peak that a nested graph holds while it is called."""
    unplanned: int | None
    """The peak without buffer reuse and pools: from the lines before memory planning."""
    dropped: int
    """The peak if nothing but autograd holds what the backward reads of the forward's inputs, outputs and gradients."""
    given: tuple[str, ...]
    """Inputs that others may hold. `peak` and everything else assume that they do."""
    estimate: int | None
    """Inductor's own estimate of the peak, if it made one."""
    loops: tuple[int, ...] = ()
    """For each loop whose rounds are known only at run time, the bytes that each round beyond the second adds."""
    unentered: int = 0
    """Bytes held if a loop is not entered, because what it would have carried is copied. Not part of `peak`."""
    dropped_end: int = 0
    """`end` under the assumption of `dropped`."""
    lines: tuple[int, int] | None = None
    """First and last line of the wrapper in output_code.py."""
    ticks: dict[int, int] = {}
    """Wrapper IR line → its last tick on the clock of `Storage.lives`; of `peak_index`, the tick of the peak."""


def memories(graph: "CompiledGraph") -> dict[str, Memory]:
    """The replay of `graph`, then of each nested graph that has a wrapper."""
    saved = only_saved(graph)
    found = replays(graph).items()
    return {name: _memory(name, replay, saved if name == graph.name else OnlySaved({}, {})) for name, replay in found}


def _memory(graph: str, replay: Replay, saved: OnlySaved) -> Memory:
    steps: list[MemoryStep] = []
    played = replay.play(graph, saved.own, steps, is_planned=True)
    peak, plan = played.peak, replay.plan
    made = [storage for storage in played.storages.all if storage.origin != "given" and storage.bytes]
    lines = [row.line for row in replay.rows if row.line is not None]
    line = next((row.line for row in replay.rows if row.index == played.at), None)
    unplanned = replay.play(graph, saved.own, [], is_planned=False).peak if plan is not None else None
    dropped = replay.play(graph, saved.own | saved.given, [], is_planned=True) if saved.given else played
    return Memory(
        graph,
        [
            replace(step, share=max(step.live, 0) / peak if peak > 0 else 0.0, is_peak=step.index == played.at)
            for step in steps
        ],
        peak,
        played.at,
        line,
        sum(storage.bytes for storage in made),
        len(made),
        played.storages.live,
        played.storages.all,
        played.nested,
        unplanned,
        dropped.peak,
        tuple(name for names in saved.given for name in names),
        plan.estimate if plan is not None else None,
        played.growth,
        played.unentered,
        dropped.storages.live,
        (lines[0], lines[-1]) if lines else None,
        played.ticks if played.at is None else played.ticks | {played.at: played.peak_tick},
    )
