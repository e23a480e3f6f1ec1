"""Pieces of memory folded by what repeats: all that one source line makes is one lane, however many layers run it."""

from bisect import bisect_left
from itertools import accumulate
from typing import Final, NamedTuple

from inspect_compile.analysis.memory.holders import Holder
from inspect_compile.dump import Dump
from inspect_compile.facts import AotMetadata, Frame, Location
from inspect_compile.graph import CompiledGraph, Id, grouped
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.saved_owners import other, saved_pieces
from inspect_compile.graph.memory.storages import Storage

_OPTIMIZERS: Final = "/torch/optim/"
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
    layers: tuple[str, ...] = ()
    """Paths of the repeated modules that it runs in, `h.0` and `h.1`, if there are several."""

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
    optimizer: int | None
    """What a compiled optimizer changes at its step besides the parameters."""


def lanes(graph: CompiledGraph, found: Memory, held: list[Holder]) -> list[Lane]:
    """A lane for each source line; saved memory first, then in order of the most bytes. `held`: of `holders`.

    What a nested graph holds is not in it: it has pieces of its own.
    """
    kept = saved_pieces(graph)
    modules = {Id.of(node): node.module for node in graph.nodes if node.module}
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
        paths = (modules.get(Id(graph.name, row.node), "") for row in holders)
        layers = dict.fromkeys(layer for path in paths if (layer := _layer(path)))
        made.append(Lane(holders[0].where, nodes, holders, is_saved, live, tuple(layers) if len(layers) > 1 else ()))
    return sorted(made, key=lambda lane: (not lane.is_saved, -lane.most))


def step_memory(graph: CompiledGraph) -> StepMemory:
    """The totals of a training step; nothing is known of a graph without a backward."""
    forward = other(graph, "forward")
    if forward.fact.kind != "forward" or graph.fact.kind not in ("forward", "backward"):
        return StepMemory(None, None, None)
    storages = forward.memory.storages
    kept = saved_pieces(forward)
    saved = sum(storages[index].bytes for index in kept) if kept else None
    return StepMemory(_static(forward), saved, _optimizer_state(graph.dump))


def _optimizer_state(dump: Dump) -> int | None:
    """Bytes of what the compiled steps of torch's optimizers change and autograd does not know; None without such a
    step.
    """
    steps = {row.graph for row in dump.rows(Frame) if _OPTIMIZERS in row.file.replace("\\", "/")}
    found: dict[str, int] = {}
    for fact in dump.outermost():
        records = dump.rows_of_compile(AotMetadata, fact.compile_id) if fact.compile_id in steps else []
        if len(records) != 1 or records[0].inner_inputs:
            continue
        nodes = CompiledGraph(dump, fact.graph).nodes
        given = [node for node in nodes if node.graph == fact.graph and node.op == "placeholder"]
        if len(given) != len(records[0].inputs):
            continue
        changed = (
            node.values[0].bytes or 0
            for node, row in zip(given, records[0].inputs, strict=True)
            if node.values and "data" in row.changes and not row.requires_grad
        )
        found[(fact.compile_id or "").partition("/")[0]] = sum(changed)  # of a frame compiled again, the last
    return sum(found.values()) if found else None


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


def _layer(path: str) -> str:
    """`h.0` of `h.0.attn`: a path up to its first number; empty without one."""
    parts = path.split(".")
    return next((".".join(parts[: place + 1]) for place, part in enumerate(parts) if part.isdecimal()), "")


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
