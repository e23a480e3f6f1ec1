"""How much memory the wrapper holds after each of its lines: a replay of allocations, reuses and frees.

Relative to the start of the call. An input's memory is the caller's, with one exception: what the forward graph saved
goes when the backward graph frees it. Not seen: workspaces inside of extern kernels, and what an allocator rounds up.
"""

import re

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Operation, WrapperLine

_ALLOCATING_EXTERN = "ExternKernelAllocLine"
"""The other extern calls write into a buffer that an earlier line allocated."""
_HELD_BY_OTHERS = ("primals_", "tangents_")
"""Names that AOTAutograd gives to the program's own tensors, and to gradients that come in."""


_CALL = re.compile(r"\b(\w+)\(")


class MemoryStep(msgspec.Struct, frozen=True, tag_field="fact", tag="memory_step"):
    """One line of the wrapper that changes what is live, or launches something. `show memory --json` prints these."""

    graph: str
    index: int
    """Of the Wrapper IR line."""
    line: int | None
    """In output_code.py."""
    what: str
    buffer: str | None
    """The name that the line binds or drops; for `reuse` and `reinterpret` the new one."""
    of: str | None
    """For `reuse` and `reinterpret` the buffer whose memory it takes."""
    kernel: str | None
    change: int
    """Bytes more (or, negative, fewer) than before the line."""
    live: int
    """Bytes after the line."""


class Memory(msgspec.Struct, frozen=True):
    """The replay of one graph's wrapper."""

    graph: str
    steps: list[MemoryStep]
    peak: int
    peak_line: int | None
    """The first line in output_code.py after which `peak` is held; None where nothing is allocated."""
    allocated: int
    """Bytes of all allocations together."""
    allocations: int
    end: int
    """Bytes that are returned: the outputs' own."""
    notes: tuple[str, ...]
    """What the replay could not follow."""


class _Storages:
    """Names point at storages; a storage lives while a name points at it."""

    def __init__(self) -> None:
        self.live = 0
        self.allocated = 0
        self.allocations = 0
        self._sizes: list[int] = []
        self._references: list[int] = []
        self._of: dict[str, list[int]] = {}

    def given(self, name: str, size: int) -> None:
        """The caller holds `size` bytes for us, until we drop them."""
        self._sizes.append(size)
        self._references.append(1)
        self._of[name] = [len(self._sizes) - 1]

    def new(self, size: int) -> int:
        self._sizes.append(size)
        self._references.append(0)
        if size:
            self.allocated += size
            self.allocations += 1
        return len(self._sizes) - 1

    def of(self, name: str | None) -> list[int]:
        return list(self._of.get(name or "", ()))

    def bind(self, name: str, storages: list[int]) -> None:
        for storage in storages:
            self._references[storage] += 1
            if self._references[storage] == 1:
                self.live += self._sizes[storage]
        self.drop(name)
        self._of[name] = storages

    def drop(self, name: str | None) -> None:
        for storage in self._of.pop(name or "", ()):
            self._references[storage] -= 1
            if not self._references[storage]:
                self.live -= self._sizes[storage]

    def keep_only(self, names: set[str]) -> None:
        for name in [name for name in self._of if name not in names]:
            self.drop(name)


def memory(dump: Dump, graph: str) -> Memory:
    """Replay the wrapper of `graph`. A nested graph's own peak counts at the line that calls it."""
    return memories(dump, graph)[graph]


def memories(dump: Dump, graph: str) -> dict[str, Memory]:
    """The replay of `graph`, then of each graph nested in it, as far as they have a wrapper."""
    lines: dict[str, list[WrapperLine]] = {graph: []}
    for row in dump.rows(WrapperLine, graph):
        lines.setdefault(row.graph, []).append(row)
    operations: dict[str, list[Operation]] = {}
    for operation in dump.rows(Operation, graph):
        operations.setdefault(operation.graph, []).append(operation)
    called: dict[str, dict[str, int]] = {}
    found: dict[str, Memory] = {}
    for name in sorted(lines, key=lambda name: -name.count("/")):  # those inside of others come first
        saved = _saved(dump, graph) if name == graph else {}
        found[name] = _replay(name, lines[name], operations.get(name, []), saved, called.get(name, {}))
        above, _, own = name.rpartition("/")
        called.setdefault(above, {})[own] = found[name].peak
    return {name: found[name] for name in lines}


def _saved(dump: Dump, graph: str) -> dict[str, int]:
    """Inputs of a backward graph that only autograd holds, with their bytes."""
    facts = dump.graph(graph)
    if facts is None or facts.kind != "backward":
        return {}
    return {
        node.name: node.values[0].bytes or 0
        for node in dump.rows(Node, graph)
        if node.graph == graph and node.stage == "post_grad" and node.op == "placeholder" and node.values
        if not node.name.startswith(_HELD_BY_OTHERS)
    }


def _replay(
    graph: str, rows: list[WrapperLine], operations: list[Operation], saved: dict[str, int], called: dict[str, int]
) -> Memory:
    """The replay of one graph; `called` are the peaks of those nested in it, by name."""
    parts, outputs = _parts(operations), _outputs(operations)
    storages, steps, notes = _Storages(), [], []
    sizes = {name: size for whole in parts.values() for name, size in whole.items()}
    part_storages: dict[str, int] = {}
    for name, size in saved.items():
        storages.given(name, size)
    peak, peak_line = 0, None
    for row in rows:
        before, extra = storages.live, 0
        match row.what:
            case "allocate" if row.buffer:
                storages.bind(row.buffer, [storages.new(row.bytes or 0)])
            case "reuse" if row.buffer and row.becomes:
                storages.bind(row.becomes, storages.of(row.buffer))
                if row.delete_old and row.buffer not in outputs:
                    storages.drop(row.buffer)
            case "reinterpret" if row.becomes:
                storages.bind(row.becomes, storages.of(row.buffer))
            case "free" if not row.is_reused:
                storages.drop(row.buffer)
            case "extern" if row.torch_type == _ALLOCATING_EXTERN and row.buffer:
                if row.bytes is not None:
                    storages.bind(row.buffer, [storages.new(row.bytes)])
                else:
                    for name, size in parts.get(row.buffer, {}).items():
                        part_storages[name] = storages.new(size)
                    storages.bind(row.buffer, [part_storages[name] for name in parts.get(row.buffer, {})])
            case "multi_output" if row.buffer in sizes:
                # What a nested graph returned has no line that allocates it.
                storage = part_storages[row.buffer] if row.buffer in part_storages else storages.new(sizes[row.buffer])
                storages.bind(row.buffer, [storage])
            case "pool_allocate" | "pool_free":
                notes.append("memory pools (config.memory_planning): their sizes are not recorded")
            case "text":
                calls = _CALL.findall(row.text) if called else ()
                extra = max((called[name] for name in calls if name in called), default=0)
        if storages.live + extra > peak:
            peak, peak_line = storages.live + extra, row.line
        if storages.live != before or row.what in ("launch", "extern", "reuse") or extra:
            new, old = (row.becomes, row.buffer) if row.becomes else (row.buffer, None)
            change = storages.live - before
            steps.append(MemoryStep(graph, row.index, row.line, row.what, new, old, row.kernel, change, storages.live))
    if outputs:
        storages.keep_only(outputs)
    return Memory(
        graph,
        steps,
        peak,
        peak_line,
        storages.allocated,
        storages.allocations,
        storages.live,
        tuple(dict.fromkeys(notes)),
    )


def _parts(operations: list[Operation]) -> dict[str, dict[str, int]]:
    """Buffer that is a tuple → its parts with their bytes. A part that nothing uses has no operation and is missing."""
    found: dict[str, dict[str, int]] = {}
    for operation in operations:
        if operation.ir_type == "MultiOutput" and operation.reads:
            whole = found.setdefault(operation.reads[0].buffer, {})
            whole.update({write.buffer: write.bytes or 0 for write in operation.writes})
    return found


def _outputs(operations: list[Operation]) -> set[str]:
    """Buffers that the graph returns."""
    found: set[str] = set()
    for operation in operations:
        if "OUTPUT" in operation.users and len(operation.members) == 1:
            found.update(operation.buffers)
    return found
