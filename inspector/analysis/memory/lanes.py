"""Pieces of memory folded by what repeats: all that one source line makes is one lane, however many layers run it."""

from bisect import bisect_left
from itertools import accumulate
from typing import Final, NamedTuple

from inspect_compile.analysis.memory.holders import Holder
from inspect_compile.facts import AotMetadata, Location
from inspect_compile.graph import CompiledGraph, grouped
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.saved_owners import other, saved_pieces
from inspect_compile.graph.memory.storages import Storage

_PRIMALS: Final = "primals_"
_TANGENTS: Final = "tangents_"
"""AOTAutograd's prefixes for the program's tensors and for gradients among the inputs."""


class Lane(NamedTuple):
    """What one source line holds during a call."""

    where: Location | None
    nodes: tuple[str, ...]
    """The operators that made the pieces, without the numbers of their nodes."""
    pieces: tuple[Holder, ...]
    is_saved: bool
    """They live from the forward to the backward, and only autograd holds them."""
    live: tuple[int, ...]
    """Bytes held after each step of the memory, in order."""

    @property
    def most(self) -> int:
        """The most bytes that are held at once."""
        return max(self.live, default=0)


class StepMemory(NamedTuple):
    """Memory of a step, in bytes; None for what the dump does not say."""

    static: int | None
    """Parameters and buffers, which the program holds all the time."""
    saved: int | None
    """What the forward saves for the backward."""


def lanes(graph: CompiledGraph, found: Memory, held: list[Holder]) -> list[Lane]:
    """A lane for each source line; saved memory first, then in order of the most bytes. `held`: of `holders`.

    What a nested graph holds is not in it: it has pieces of its own.
    """
    kept = saved_pieces(graph)
    pieces = [index for index, storage in enumerate(found.storages) if storage.bytes]
    rows = [
        (row, found.storages[index], index in kept or _was_saved(row)) for index, row in zip(pieces, held, strict=True)
    ]
    ticks = list(accumulate((found.ticks.get(step.index, step.index) for step in found.steps), max))
    made = []
    for (is_saved, _), own in grouped(rows, lambda one: (one[2], _place(one[0]))).items():
        holders = tuple(row for row, _, _ in own)
        nodes = tuple(dict.fromkeys(_operator(row.node or row.named) for row in holders))
        live = _live([storage for _, storage, _ in own], ticks)
        made.append(Lane(holders[0].where, nodes, holders, is_saved, live))
    return sorted(made, key=lambda lane: (not lane.is_saved, -lane.most))


def step_memory(graph: CompiledGraph) -> StepMemory:
    """The totals of a training step; nothing is known of a graph without a backward."""
    forward = other(graph, "forward")
    if forward.fact.kind != "forward" or graph.fact.kind not in ("forward", "backward"):
        return StepMemory(None, None)
    storages = forward.memory.storages
    kept = saved_pieces(forward)
    return StepMemory(_static(forward), sum(storages[index].bytes for index in kept) if kept else None)


def _static(forward: CompiledGraph) -> int | None:
    """Bytes of the inputs that keep their address; None where the inputs are not those that AOTAutograd recorded."""
    sizes = {
        node.name: node.values[0].bytes or 0
        for node in forward.nodes
        if node.graph == forward.name and node.op == "placeholder" and node.values
    }
    records = forward.dump.rows_of_compile(AotMetadata, forward.fact.compile_id)
    if len(records) != 1 or records[0].inner_inputs:
        return None
    static = [f"{_PRIMALS}{number}" for number, row in enumerate(records[0].inputs, 1) if row.is_static]
    return sum(sizes.get(name, 0) for name in static) if static else None


def _was_saved(row: Holder) -> bool:
    """True for what the forward had saved, and not for gradients that are handed over."""
    return row.origin == "given" and not all(name.startswith(_TANGENTS) for name in row.buffers)


def _place(row: Holder) -> tuple[str, int] | str:
    return _operator(row.node or row.named) if row.where is None else (row.where.file, row.where.line)


def _operator(node: str) -> str:
    """`addmm` of `addmm_12`."""
    name, _, number = node.rpartition("_")
    return name if name and number.isdecimal() else node


def _live(storages: list[Storage], ticks: list[int]) -> tuple[int, ...]:
    """Bytes after each of `ticks`."""
    changes = [0] * (len(ticks) + 1)
    for storage in storages:
        for first, last in storage.lives:
            changes[bisect_left(ticks, first)] += storage.bytes
            changes[len(ticks) if last is None else bisect_left(ticks, last)] -= storage.bytes
    return tuple(accumulate(changes[:-1]))
