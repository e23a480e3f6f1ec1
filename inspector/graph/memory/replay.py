"""Replays a wrapper's lines: allocations, reuses, pools, frees and calls of nested graphs."""

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from inspect_compile.facts import MemoryPlan, Operation, WrapperLine
from inspect_compile.facts.nesting import enclosing, own_name
from inspect_compile.graph.memory.calls import Called, Calls, Output, is_end_of_round, turns
from inspect_compile.graph.memory.storages import Storages
from inspect_compile.graph.rows import grouped

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_ALLOCATING_EXTERN = ("ExternKernelAllocLine", "str")
"""The other extern calls write into a buffer that an earlier line allocated."""
_ELSE = "else:"
RETURN: Final = "return"
"""The step after all lines, in which the call frees what it still holds and does not return."""


class MemoryStep(msgspec.Struct, frozen=True, tag_field="fact", tag="memory_step"):
    """One line of the wrapper that changes what is live, or launches something. `show memory --json` prints these."""

    graph: str
    index: int
    """Index of the Wrapper IR line."""
    line: int | None
    """Line number in output_code.py."""
    what: str
    """The kind of the line; `return` at the end of the call."""
    buffer: str | None
    """The name that the line binds or drops; for `reuse` and `reinterpret` the new name."""
    of: str | None
    """For `reuse` and `reinterpret`, the buffer whose memory is taken."""
    kernel: str | None
    change: int
    """Change in bytes; negative if memory is freed."""
    live: int
    """Bytes live after the line."""
    share: float = 0.0
    """`live` as a share of the peak."""
    is_peak: bool = False
    """True for the first line after which the most is held."""


class Played(NamedTuple):
    """The result of one replay."""

    storages: Storages
    """The state at the end."""
    peak: int
    at: int | None
    """Index of the line at the peak."""
    ticks: dict[int, int]
    """Index of a line → the tick at which it was last played."""
    peak_tick: int
    """Tick of the peak."""
    nested: int
    """Bytes that a nested graph holds at the peak."""
    growth: tuple[int, ...]
    """See `Memory.loops`."""
    unentered: int
    """See `Memory.unentered`."""


def replays(graph: "CompiledGraph") -> "dict[str, Replay]":
    """The replays of `graph` and of each nested graph that has a wrapper."""
    lines = {graph.name: list[WrapperLine](), **grouped(graph.rows(WrapperLine), lambda row: row.graph)}
    operations = grouped(graph.rows(Operation), lambda operation: operation.graph)
    plans = {plan.graph: plan for plan in graph.rows(MemoryPlan)}
    found: dict[str, Replay] = {}
    inside: dict[str, dict[str, Replay]] = {}
    for name in sorted(lines, key=lambda name: -name.count("/")):  # nested graphs come before the graphs around them
        found[name] = Replay(lines[name], operations.get(name, []), plans.get(name), inside.get(name, {}))
        inside.setdefault(enclosing(name), {})[own_name(name)] = found[name]
    return {name: found[name] for name in lines}


class Replay:
    """One graph's lines, played as planned and as they were before memory planning."""

    def __init__(
        self, rows: list[WrapperLine], operations: list[Operation], plan: MemoryPlan | None, nested: "dict[str, Replay]"
    ) -> None:
        self.rows, self.plan = rows, plan
        self._nested = nested
        """Graphs that it calls, by name."""
        self._calls: dict[tuple[tuple[str, ...], bool], Called] = {}
        """The replayed calls, by the inputs to free and whether they were planned."""
        self._parts = _parts(operations)
        self._sizes = {name: size for whole in self._parts.values() for name, size in whole.items()}
        self._outputs = set(plan.outputs) if plan is not None else _outputs(operations)

    def play(
        self,
        graph: str,
        saved: dict[tuple[str, ...], int],
        steps: list[MemoryStep],
        *,
        is_planned: bool,
        block: int = 1,
    ) -> Played:
        """Play the lines of `graph`, which must free what was `saved`; appends what each line changes to `steps`.

        Each piece of memory is rounded up to multiples of `block` bytes, except those of nested graphs.
        """
        storages, self._became = Storages(block), dict[str, str]()
        self._of_part: dict[str, list[int]] = {}
        inputs = self.plan.inputs if self.plan is not None else {}
        self._text = Calls(storages, self._nested, inputs, self._parts, self._of_part, is_planned=is_planned)
        for names, size in saved.items():
            storages.given(list(names), size)
        peak, at, nested, peak_tick = 0, None, 0, -1
        ticks: dict[int, int] = {-1: -1}
        is_other = False
        ends: list[int] = []
        growth: list[int] = []
        unentered = 0
        for position, turn in turns(self.rows):
            row = self.rows[position]
            storages.tick += 1
            ticks[row.index] = storages.tick
            storages.now, before, extra = row.index, storages.live, 0
            if row.what in ("enter_subgraph", "exit_subgraph") and turn:
                continue
            if row.what == "enter_subgraph":
                storages.enter()
            elif row.what == "exit_subgraph":
                has_other = any(map(_is_else, self.rows[position + 1 : position + 3]))
                storages.leave(has_other=has_other, is_other=is_other)
                is_other = False
            elif row.what == "text":
                is_other = is_other or _is_else(row)
                extra = self._text.play(row.text, turn) if self._nested else 0
            elif is_planned:
                self._planned(storages, row)
            else:
                self._unplanned(storages, row)
            if turn == "no round":
                unentered = max(unentered, storages.live + extra)
                continue
            if storages.live + extra > peak:
                peak, at, nested, peak_tick = storages.live + extra, row.index, extra, storages.tick
            if is_end_of_round(row):
                ends.append(storages.live)
                growth += [ends[-1] - ends[-2]] if turn == "last round" else []
            if turn == "first round":
                continue
            if storages.live != before or row.what in ("launch", "extern", "reuse") or extra:
                new, old = (row.becomes, row.buffer) if row.becomes else (row.buffer, None)
                change = storages.live - before
                steps.append(
                    MemoryStep(graph, row.index, row.line, row.what, new, old, row.kernel, change, storages.live)
                )
        if (self._outputs or self.plan is not None) and self.rows:
            before, storages.now = storages.live, self.rows[-1].index + 1
            storages.tick += 1
            ticks[storages.now] = storages.tick
            storages.keep_only(self._outputs)
            if storages.live != before:
                change = storages.live - before
                steps.append(MemoryStep(graph, storages.now, None, RETURN, None, None, None, change, storages.live))
        return Played(storages, peak, at, ticks, peak_tick, nested, tuple(growth), unentered)

    def _planned(self, storages: Storages, row: WrapperLine) -> None:
        match row.what:
            case "reuse" if row.buffer and row.becomes:
                storages.bind(row.becomes, storages.of(row.buffer))
                if row.delete_old and row.buffer not in self._outputs:
                    storages.drop(row.buffer)
            case "free" if not row.is_reused:
                self._text.free(row.buffer)
            case "pool_allocate" if row.buffer:
                if row.pool_bytes is not None:
                    storages.bind(row.pool, [storages.new(row.pool_bytes, "pool")])
                storages.bind(row.buffer, storages.of(row.pool))
            case "pool_free":
                if row.is_last:
                    storages.drop_storage(storages.of(row.pool))
            case _:
                self._same(storages, row)

    def _unplanned(self, storages: Storages, row: WrapperLine) -> None:
        """Play a line as it was before planning: a reuse becomes a free and an allocation, and pools do not exist."""
        match row.what:
            case "reuse" if row.buffer and row.becomes and row.is_planned:
                storages.bind(row.becomes, [storages.new(row.bytes or 0, "allocated")])
            case "reuse" if row.buffer and row.becomes:
                storages.bind(row.becomes, storages.of(row.buffer))
                self._became[row.buffer] = row.becomes
                if row.buffer not in self._outputs:
                    storages.drop(row.buffer)
            case "free":
                self._text.free(row.buffer)
            case "pool_allocate" if row.buffer:
                storages.bind(row.buffer, [storages.new(row.bytes or 0, "allocated")])
            case "pool_free":
                storages.drop(self._last_name(row.buffer or ""))  # it has the original name
            case _:
                self._same(storages, row)

    def _last_name(self, name: str) -> str:
        """The name that took its place, through all those between them, which now lead there at once."""
        passed: dict[str, None] = {}
        while name in self._became and name not in passed:
            passed[name] = None
            name = self._became[name]
        self._became.update(dict.fromkeys((one for one in passed if one != name), name))
        return name

    def _same(self, storages: Storages, row: WrapperLine) -> None:
        """Play a line that planning does not change."""
        match row.what:
            case "allocate" if row.buffer:
                storages.bind(row.buffer, [storages.new(row.bytes or 0, "allocated")])
            case "reinterpret" if row.becomes:
                storages.bind(row.becomes, storages.of(row.buffer))
            case "extern" if row.torch_type in _ALLOCATING_EXTERN and row.buffer:
                self._returned(storages, row, row.buffer)
            case "multi_output" if row.buffer and self._text.part(row.buffer, row.text):
                pass
            case "multi_output" if row.buffer in self._of_part:
                storages.bind(row.buffer, self._of_part[row.buffer])
            case "multi_output" if row.buffer in self._sizes:
                storages.bind(row.buffer, [storages.new(self._sizes[row.buffer], "nested")])  # no line allocates it

    def _returned(self, storages: Storages, row: WrapperLine, buffer: str) -> None:
        parts = row.parts or self._parts.get(buffer, {})
        if row.aliases:
            held = [position for name in row.aliases for position in storages.of(name)]
            self._of_part.update({name: list(dict.fromkeys(held)) for name in parts})
            storages.bind(buffer, list(dict.fromkeys(held)))
        elif row.bytes is not None:
            storages.bind(buffer, [storages.new(row.bytes, "extern")])
        else:
            for name, size in parts.items():
                self._of_part[name] = [storages.new(size, "extern")]
            storages.bind(buffer, [one for name in parts for one in self._of_part[name]])

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(self.plan.inputs) if self.plan is not None else ()

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.inputs)}

    def call(self, own: dict[tuple[str, ...], int], is_planned: bool) -> Called:
        """Play a call that must free the inputs in `own`."""
        key = tuple(name for names in own for name in names), is_planned
        if key not in self._calls:
            played = self.play("", own, [], is_planned=is_planned)
            names = self.plan.outputs if self.plan is not None else ()
            self._calls[key] = Called(played.peak, tuple(self._output(played.storages, name) for name in names))
        return self._calls[key]

    def _output(self, storages: Storages, name: str) -> Output:
        found = storages.of(name)
        given = next((one for one in found if storages.all[one].origin == "given"), None)
        source = name if given is None else storages.all[given].names[0]
        if given is None and found:
            return Output(tuple((one, storages.all[one].bytes) for one in found), None)
        return Output((), self._positions.get(source))


def _is_else(row: WrapperLine) -> bool:
    return row.what == "text" and row.text.strip() == _ELSE


def _parts(operations: list[Operation]) -> dict[str, dict[str, int]]:
    """Buffer that is a tuple → its elements with their bytes, without elements that nothing uses."""
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
