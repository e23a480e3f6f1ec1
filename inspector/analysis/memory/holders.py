"""Who holds the memory: each piece with its buffers, the node that made them and the source line."""

import msgspec
from msgspec.structs import replace

from inspect_compile.facts import Location, WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.memory.calls import LIST
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.storages import Storage
from inspect_compile.graph.provenance.chain import Provenance


class Holder(msgspec.Struct, frozen=True, tag_field="fact", tag="memory_buffer"):
    """One piece of memory, from allocation to free."""

    graph: str
    buffers: tuple[str, ...]
    """Buffers that were in it, in order: each reuses, or views, the one before, or shares a pool with it."""
    bytes: int
    origin: str
    """allocated; extern (returned by an extern kernel); pool; nested (returned by a nested graph); given (saved by the
    forward, and freed by the backward).
    """
    since: tuple[int, ...]
    """For each buffer, the index of the Wrapper IR line after which it is in this memory."""
    first: int
    """Index of the Wrapper IR line that allocates it; -1 if it exists when the call begins."""
    last: int | None
    """Index of the line that frees it; one beyond the last line if the end of the call does; None if returned."""
    line: int | None
    """Line number in output_code.py."""
    end: int | None
    node: str
    """The node whose lowering made the first of the buffers."""
    where: Location | None
    """Source line of that node."""
    share: float | None = None
    """Of a moment: `bytes` as a share of everything that is held then; None for the whole call."""

    @property
    def named(self) -> str:
        """`buf3 → buf19`, each in the memory of the one before, or `pool of buf1 buf2`."""
        return f"pool of {' '.join(self.buffers)}" if self.origin == "pool" else " → ".join(self.buffers)

    @property
    def span(self) -> str:
        """Lines of the output code: `195–204`; `195–` if it is returned, `195–return` if the return frees it."""
        end = "" if self.last is None else "return" if self.end is None else str(self.end)
        return f"{'' if self.line is None else self.line}–{end}"


class Moment(msgspec.Struct, frozen=True):
    """What is held after one line: the bytes of `holders` and `nested`, less `returned`, are `live`."""

    index: int
    line: int | None
    """The last line of the output code so far that changed anything, or launched something."""
    live: int
    holders: list[Holder]
    """The largest first."""
    nested: int
    """Bytes of a nested graph that runs on this line."""
    returned: int
    """Bytes that the forward had saved and that are freed by now."""


def holders(graph: CompiledGraph, found: Memory | None = None) -> list[Holder]:
    """Every piece of memory of a graph's wrapper that is not empty, in order of allocation."""
    found = found or graph.memories[graph.name]
    chain = CompiledGraph(graph.dump, found.graph).provenance
    rows = {row.index: row.line for row in graph.rows(WrapperLine) if row.graph == found.graph}
    where = {node.name: node.where for node in chain.nodes if node.graph == found.graph}
    return [_holder(storage, found.graph, chain, rows, where) for storage in found.storages if storage.bytes]


def _holder(
    storage: Storage, graph: str, chain: Provenance, rows: dict[int, int | None], where: dict[str, Location | None]
) -> Holder:
    named = [
        (name, since)
        for name, since in zip(storage.names, storage.named, strict=True)
        if name in chain.maker_of_buffer or (storage.origin != "pool" and not name.endswith(LIST))
    ]
    names = tuple(name for name, _ in named)
    node = next((chain.maker_of_buffer[name] for name in names if name in chain.maker_of_buffer), "")
    if storage.origin == "given":
        node = names[0]
    last = storage.died
    return Holder(
        graph,
        names or tuple(storage.names),
        storage.bytes,
        storage.origin,
        tuple(since for _, since in named) or tuple(storage.named),
        storage.born,
        last,
        rows.get(storage.born),
        None if last is None else rows.get(last),
        node,
        where.get(node),
    )


def moment(found: Memory, held: list[Holder], index: int) -> Moment:
    """What is held after the line with this index; `held` is the result of `holders`."""
    before = [step for step in found.steps if step.index <= index]
    tick = found.ticks.get(index, index)
    pieces = [storage for storage in found.storages if storage.bytes]
    there: list[Holder] = []
    returned = 0
    for storage, row in zip(pieces, held, strict=True):
        is_held = storage.is_held(tick)
        returned += row.bytes if row.origin == "given" and not is_held else 0
        there += [row] if row.origin != "given" and is_held else []
    live, nested = before[-1].live if before else 0, 0
    if index == found.peak_index:
        live = found.peak
    if index == found.peak_index and found.nested:  # inside a call that has not returned anything yet
        there = [row for row in there if not (row.origin == "nested" and row.first == index)]
        nested = live + returned - sum(row.bytes for row in there)
    whole = sum(row.bytes for row in there) + nested
    there = [replace(row, share=row.bytes / whole if whole else None) for row in there]
    line = next((step.line for step in reversed(before) if step.line is not None), None)
    return Moment(index, line, live, sorted(there, key=lambda row: -row.bytes), nested, returned)


def index_at(found: Memory, at: str) -> int | None:
    """Index of the Wrapper IR line for `peak` or a line of output_code.py; None if the wrapper has no such line.

    For a line that changes nothing, the index of the last line before it that does, or -1.
    """
    if at == "peak":
        return found.peak_index
    if found.lines is None or not found.lines[0] <= int(at) <= found.lines[1]:
        return None
    steps = [step for step in found.steps if step.line is not None and step.line <= int(at)]
    return steps[-1].index if steps else -1
